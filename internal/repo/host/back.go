package host

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/repo"
	"tandem/internal/repo/exchange"
	"tandem/internal/repo/gitstore"
)

// ReturnIn lists what a replica brings back to a server that has become older than
// what it acknowledged. It is recorded before anything comes back. The bytes come
// with the same request.
type ReturnIn struct {
	Repo       string `json:"repo" jsonschema:"the repository, by name or id"`
	Workspace  string `json:"workspace" jsonschema:"the workspace that brings it"`
	Head       string `json:"head" jsonschema:"the operation that was the server's head"`
	Version    int64  `json:"version,omitempty" jsonschema:"the version that head had"`
	Operations int    `json:"operations" jsonschema:"how many operations come back"`
	Did        []Did  `json:"did" jsonschema:"the newest of them, each under its own author"`

	brought *gitstore.Incoming // what came with the request; only the request itself has it
}

// ReturnOut is what came back.
type ReturnOut struct {
	PushOut
	Operations int            `json:"operations"`
	Of         map[string]int `json:"of"`   // how many by whom
	Kept       []string       `json:"kept"` // bookmarks and tags that stay where the older state has them
}

// maxReturned is how many operations are told one by one.
const maxReturned = 50

// returning lists what would come back up to an operation, and says whether all
// of it is the caller's own.
func (s *served) returning(ctx context.Context, q exchange.Question, in *gitstore.Incoming,
	tip repo.OperationID) (r ReturnIn, own bool, err error) {
	if !in.HasOperation(tip) {
		return r, false, fault.New(fault.Invalid, "repo.return", "operation %.12s is missing", tip.Hex())
	}
	head, _, _ := s.now()
	if _, err := s.common(ctx, in.Store(), head, tip); err != nil {
		return r, false, err
	}
	ops, err := repo.OperationRange(ctx, in.Store(), []repo.OperationID{head}, []repo.OperationID{tip})
	if err != nil {
		return r, false, err
	}
	r = ReturnIn{Repo: s.name, Workspace: q.Workspace, Head: tip.Hex(), Version: q.Receipt.Version, Operations: len(ops), Did: []Did{}}
	own = true
	me := op.CallerFrom(ctx).Name
	for _, o := range ops {
		own = own && o.Meta.Attributes["tandem.actor"] == me
		if len(r.Did) < maxReturned && o.Meta.Username != serverUser {
			r.Did = append(r.Did, Did{Operation: o.ID.Hex(), Actor: o.Meta.Attributes["tandem.actor"], Workspace: o.Meta.Workspace,
				Description: clip(o.Meta.Description), Time: time.UnixMilli(o.Meta.End.Millis).UTC().Format(time.RFC3339)})
		}
	}
	return r, own, nil
}

// takeBack makes what was acknowledged once part of the repository again: each
// change under its own author, no bookmark that is a person's to move.
func (h *Host) takeBack(ctx context.Context, in ReturnIn) (out ReturnOut, err error) {
	out = ReturnOut{Of: map[string]int{}, Kept: []string{}}
	s, err := h.find(ctx, in.Repo)
	if err != nil {
		return out, err
	}
	quarantine := in.brought
	tip, ok := repo.ParseOperationID(in.Head)
	if quarantine == nil || !ok {
		return out, fault.New(fault.Invalid, "repo.return", "what comes back travels with POST /repo/%s/sync", s.name).
			WithNext("let tandem do it: any command in a workspace brings it")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	current, err := h.refresh(ctx, s)
	if err != nil {
		return out, err
	}
	b := &returned{h: h, s: s, current: current, in: quarantine, out: &out}
	if err := b.load(ctx, tip); err != nil || len(b.ops) == 0 {
		out.Head, out.Version = current.Operation.ID.Hex(), 0
		return out, err
	}
	if err := b.credit(ctx); err != nil { // whose a change is must be known before it can be seen
		return out, err
	}
	if err := gitstore.AcceptAll(ctx, quarantine); err != nil {
		return out, stored(err)
	}
	merged, err := b.merge(ctx)
	if err != nil {
		return out, stored(err)
	}
	if merged, err = s.exportGit(ctx, merged); err != nil {
		return out, stored(err)
	}
	if err := b.keepRefs(ctx, merged.View); err != nil {
		return out, err
	}
	s.remember(merged.Operation.ID)
	s.behind(in.Version) // whoever heard of the newer head hears of this one
	_, version, _ := s.now()
	out.PushOut = PushOut{Head: merged.Operation.ID.Hex(), Version: version}
	h.Log.Info("took back what was acknowledged before", "repo", s.name, "operations", out.Operations, "of", out.Of, "kept", out.Kept)
	op.Note(ctx, "operation", out.Head)
	op.Note(ctx, "returned", out.Operations)
	op.Note(ctx, "of", out.Of)
	op.Note(ctx, "kept", out.Kept)
	op.Note(ctx, "older", current.Operation.ID.Hex())
	return out, nil
}

// recoverReturn tells after a crash whether it had come back.
func (h *Host) recoverReturn(ctx context.Context, in ReturnIn) (ReturnOut, bool, error) {
	out, done, err := h.recoverPush(ctx, PushIn{Repo: in.Repo, Workspace: in.Workspace, Heads: []string{in.Head}})
	return ReturnOut{PushOut: out, Operations: in.Operations, Of: map[string]int{}, Kept: []string{}}, done, err
}

// returned is what comes back, on its way.
type returned struct {
	h       *Host
	s       *served
	current *repo.Repo // the older state
	in      *gitstore.Incoming
	out     *ReturnOut

	r      *repo.Repo        // as it was acknowledged
	ops    []*repo.Operation // oldest first
	owners map[string]owner
	by     map[string]author // actors by name
	places map[string]author // whose the workspaces are that come back
}

func (b *returned) load(ctx context.Context, tip repo.OperationID) (err error) {
	if b.ops, err = repo.OperationRange(ctx, b.in.Store(), []repo.OperationID{b.current.Operation.ID}, []repo.OperationID{tip}); err != nil {
		return err
	}
	slices.Reverse(b.ops)
	if b.r, err = b.in.At(ctx, tip); err != nil {
		return fault.New(fault.Invalid, "repo.return", "operation %.12s cannot be read: %w", tip.Hex(), err)
	}
	b.by, b.places = map[string]author{}, map[string]author{}
	b.owners, err = b.h.owners(ctx, b.s)
	return err
}

// merge makes the operation that brings everything back, and only then names it in
// the head: no bookmark that stays is elsewhere for a moment. Git's refs are as the
// folder has them, which was put back with the rest.
func (b *returned) merge(ctx context.Context) (*repo.Repo, error) {
	at := *b.r
	at.Store = b.s.store
	tx := at.Begin(b.s.who)
	if err := b.stay(ctx, tx.View); err != nil {
		return nil, err
	}
	was := b.current.View.Clone()
	tx.View.GitRefs, tx.View.GitHeads, tx.View.Remotes = was.GitRefs, was.GitHeads, was.Remotes
	done, err := tx.Finish(ctx, "take back what was acknowledged before this server was put back")
	if err != nil {
		return nil, err
	}
	if err := b.s.store.SaveIndex(done.Operation.ID, done.Index); err != nil {
		return nil, err
	}
	return b.s.store.Integrate(ctx, b.s.who, []repo.OperationID{done.Operation.ID}, repo.MergeOptions{OwnerWins: true},
		map[repo.OperationID]*repo.Repo{done.Operation.ID: done})
}

// stay leaves in place the bookmarks and tags that are a person's to move: the
// server's own, and those that the caller may not write.
func (b *returned) stay(ctx context.Context, v *repo.View) error {
	rows, err := b.h.refOwners(ctx, b.s)
	if err != nil {
		return err
	}
	j := &judgement{ctx: ctx, s: b.s, r: b.r, says: b.h.says, refsOf: func() (map[refKey]author, error) { return rows, nil }}
	older, newer := refKinds(b.current.View), refKinds(v)
	for _, word := range slices.Sorted(maps.Keys(older)) {
		for _, name := range union(older[word], newer[word]) {
			was, now := older[word][name], newer[word][name]
			if was.Equal(now) {
				continue
			}
			of, owned, err := j.refOwner(refKey{word, name}, was)
			if err != nil {
				return err
			}
			if (owned && !of.forged || repo.IsAbsentTarget(was)) && op.Allowed(ctx, "repo.write", repoAt(b.s.name, word, name)) {
				continue
			}
			if word == "tag" {
				v.SetTag(name, was)
			} else {
				v.SetBookmark(name, was)
			}
			b.out.Kept = append(b.out.Kept, word+" "+name+": "+short(was)+" stays, it was at "+short(now))
		}
	}
	return nil
}

func short(t repo.RefTarget) string {
	var ids []string
	for _, id := range t {
		if id != "" {
			ids = append(ids, id.Hex()[:12])
		}
	}
	if len(ids) == 0 {
		return "nothing"
	}
	return strings.Join(ids, "/")
}
