package host

import (
	"context"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/repo"
	"tandem/internal/repo/exchange"
	"tandem/internal/repo/gitstore"
)

// PushIn says which operations are to become part of a repository. Their bytes
// come with the same request.
type PushIn struct {
	Repo      string   `json:"repo" jsonschema:"the repository, by name or id"`
	Workspace string   `json:"workspace" jsonschema:"the workspace in which the operations were made"`
	Heads     []string `json:"heads" jsonschema:"ids of the last operations"`

	brought *gitstore.Incoming // what came with the request; only the request itself has it
}

// PushOut is where the repository is now.
type PushOut struct {
	Head    string `json:"head"`
	Version int64  `json:"version"`
	Merged  bool   `json:"merged"` // others had gone on meanwhile
}

// ahead is how far a client's clock may be in the future.
const ahead = 24 * time.Hour

// push makes what a replica sent part of the repository.
func (h *Host) push(ctx context.Context, in PushIn) (PushOut, error) {
	s, err := h.find(ctx, in.Repo)
	if err != nil {
		return PushOut{}, err
	}
	if in.brought == nil {
		return PushOut{}, fault.New(fault.Invalid, "repo.push", "operations travel with POST /repo/%s/sync", s.name).
			WithNext("let tandem do it: it syncs by itself after each command")
	}
	tips, err := exchange.ParseOperations(in.Heads)
	if err != nil {
		return PushOut{}, err
	}
	for _, o := range in.brought.Operations() {
		if o.Meta.End.Millis > h.DB.Now().Add(ahead).UnixMilli() {
			return PushOut{}, fault.New(fault.Invalid, "repo.push", "operation %.12s was made in the future", o.ID.Hex()).
				WithNext("set this machine's clock")
		}
	}
	w := &waiting{ctx: ctx, in: in, quarantine: in.brought, tips: tips}
	s.queue.Lock()
	s.waiting = append(s.waiting, w)
	s.queue.Unlock()
	// Whoever gets the lock takes in all who wait, with one wait for the disk.
	s.mu.Lock()
	defer s.mu.Unlock()
	if !w.done {
		s.queue.Lock()
		batch := s.waiting
		s.waiting = nil
		s.queue.Unlock()
		h.takeBatch(context.WithoutCancel(ctx), s, batch)
	}
	if w.err != nil {
		return PushOut{}, w.err
	}
	op.Note(ctx, "operation", w.out.Head)
	return w.out, nil
}

// recoverPush tells after a crash whether a push had become part of the
// repository.
func (h *Host) recoverPush(ctx context.Context, in PushIn) (PushOut, bool, error) {
	s := h.lookup(in.Repo)
	tips, err := exchange.ParseOperations(in.Heads)
	if s == nil || err != nil {
		return PushOut{}, false, nil
	}
	head, version, _ := s.now()
	for _, tip := range tips {
		if !s.store.HasOperation(tip) {
			return PushOut{}, false, nil
		}
		left, err := repo.OperationRange(ctx, s.store, []repo.OperationID{head}, []repo.OperationID{tip})
		if err != nil || len(left) > 0 {
			return PushOut{}, false, err
		}
	}
	return PushOut{Head: head.Hex(), Version: version}, true, nil
}
