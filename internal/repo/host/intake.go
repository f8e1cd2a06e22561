package host

import (
	"context"
	"maps"
	"slices"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/repo"
	"tandem/internal/repo/gitstore"
)

// waiting is a push on its way into the repository. Whoever takes it in sets
// the rest; its own request waits for the repository's lock.
type waiting struct {
	ctx        context.Context
	in         PushIn
	quarantine *gitstore.Incoming
	tips       []repo.OperationID

	loaded map[repo.OperationID]*repo.Repo // at the tips, when it was judged
	was    *repo.View                      // at the operation both sides knew
	out    PushOut
	err    error
	done   bool
}

// takeBatch makes pushes part of the repository: each is judged by itself, those
// that pass are stored together and merged at once. The caller holds mu.
func (h *Host) takeBatch(ctx context.Context, s *served, batch []*waiting) {
	defer func() {
		for _, w := range batch {
			w.done = true
		}
	}()
	fail := func(ws []*waiting, err error) {
		for _, w := range ws {
			if w.err == nil {
				w.err = err
			}
		}
	}
	current, err := h.refresh(ctx, s)
	if err != nil {
		fail(batch, err)
		return
	}
	good, err := h.judgeAll(ctx, s, current, batch)
	if err != nil {
		fail(batch, err)
		return
	}
	if len(good) == 0 {
		return
	}
	// Whose a change is must be known before it can be seen.
	if err := h.keepAuthors(ctx, s, current, good); err != nil {
		fail(good, err)
		return
	}
	quarantines := make([]*gitstore.Incoming, len(good))
	for i, w := range good {
		quarantines[i] = w.quarantine
	}
	if err := gitstore.AcceptAll(ctx, quarantines...); err != nil {
		fail(good, stored(err))
		return
	}
	defer func() {
		if err := s.store.Tidy(ctx); err != nil {
			h.Log.Warn("tidy a repository", "repo", s.name, "err", err)
		}
	}()
	if err := h.mergeIn(ctx, s, good); err == nil || len(good) == 1 {
		fail(good, err)
		return
	}
	// One that cannot be merged must not take the others with it.
	for _, w := range good {
		w.err = h.mergeIn(ctx, s, []*waiting{w})
	}
}

// stored says what a person can do when the disk did not take something.
func stored(err error) error {
	if full(err) {
		return fault.New(fault.Unavailable, "repo.push", "the server's disk is full or read-only: %w", err).
			WithNext("nothing was taken in and nothing is lost: it waits in your workspace until there is room at the server")
	}
	return err
}

// mergeIn merges stored operations with the head and names them in it.
func (h *Host) mergeIn(ctx context.Context, s *served, good []*waiting) error {
	before, _, _ := s.now()
	loaded := map[repo.OperationID]*repo.Repo{}
	var tips []repo.OperationID
	for _, w := range good {
		for _, tip := range w.tips {
			if r := w.loaded[tip]; r != nil {
				at := *r
				at.Store = s.store
				loaded[tip] = &at
			}
			tips = append(tips, tip)
		}
	}
	merged, err := s.store.Integrate(ctx, s.who, tips, repo.MergeOptions{OwnerWins: true, Attributes: h.attributes(good)}, loaded)
	if err != nil {
		return stored(err)
	}
	joined := !slices.Contains(tips, merged.Operation.ID) && merged.Operation.ID != before
	if merged, err = s.exportGit(ctx, merged); err != nil {
		return stored(err)
	}
	if err := h.keepOwners(ctx, s, good, merged.View); err != nil {
		return err
	}
	if err := h.keepRefs(ctx, s, good, merged.View); err != nil {
		return err
	}
	s.remember(merged.Operation.ID)
	_, version, _ := s.now()
	for _, w := range good {
		w.out = PushOut{Head: merged.Operation.ID.Hex(), Version: version, Merged: joined}
	}
	return nil
}

// attributes name who is behind a merge: actors, their workspaces and sessions,
// and the last checkpoint of the journal, so that each history names the other.
func (h *Host) attributes(good []*waiting) map[string]string {
	lists := map[string]map[string]struct{}{}
	add := func(key, value string) {
		if value == "" {
			return
		}
		if lists[key] == nil {
			lists[key] = map[string]struct{}{}
		}
		lists[key][value] = struct{}{}
	}
	for _, w := range good {
		me := op.CallerFrom(w.ctx)
		add("tandem.actor", me.Name)
		add("tandem.session", me.Session)
		add("tandem.workspace", w.in.Workspace)
	}
	add("tandem.checkpoint", h.checkpoint())
	out := map[string]string{}
	for key, values := range lists {
		out[key] = strings.Join(slices.Sorted(maps.Keys(values)), ",")
	}
	return out
}

// checkpoint is the newest signed state of the journal, "" when there is none
// yet.
func (h *Host) checkpoint() string {
	if h.Journal == nil {
		return ""
	}
	return h.Journal.Signed()
}
