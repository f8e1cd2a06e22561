package host

import (
	"context"
	"net/http"
	"slices"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/repo"
	"tandem/internal/repo/exchange"
	"tandem/internal/repo/gitstore"
)

// PullIn says whose repository is read.
type PullIn struct {
	Repo string `json:"repo" jsonschema:"the repository, by name or id"`
}

// Sync takes in what a replica has made and answers with what it lacks:
// POST /repo/{repo}/sync. The caller is let in before anything is read.
func (h *Host) Sync(w http.ResponseWriter, r *http.Request) {
	ctx, err := h.Gate().Admit(r.Context(), string(RepoPull), PullIn{Repo: r.PathValue("repo")})
	if err != nil {
		h.Fail(w, r, err)
		return
	}
	s, err := h.find(ctx, r.PathValue("repo"))
	if err != nil {
		h.Fail(w, r, err)
		return
	}
	in := exchange.NewReader(r.Body)
	var q exchange.Question
	if err := in.Head(&q); err != nil {
		h.Fail(w, r, outlived(ctx, err))
		return
	}
	if ctx, s, err = h.meant(ctx, s, r.PathValue("repo"), q); err != nil {
		h.Fail(w, r, outlived(ctx, err))
		return
	}
	if err := h.mayCopy(ctx, s); err != nil {
		h.Fail(w, r, outlived(ctx, err))
		return
	}
	have, head, version, err := h.takeIn(ctx, s, q, in)
	if err == nil { // the request may have come slowly, and something been denied meanwhile
		err = h.mayCopy(ctx, s)
	}
	if err != nil {
		h.Fail(w, r, outlived(ctx, err))
		return
	}
	if head, version, err = s.resume(ctx, q, head, version); err != nil {
		h.Fail(w, r, outlived(ctx, err))
		return
	}
	if err := h.answer(ctx, w, s, q, have, head, version); err != nil {
		h.Fail(w, r, outlived(ctx, err))
	}
}

// answer sends what a replica lacks. What goes wrong after its first byte is told in the answer itself.
func (h *Host) answer(ctx context.Context, w http.ResponseWriter, s *served, q exchange.Question, have []repo.OperationID,
	head repo.OperationID, version int64) error {
	_, done, err := h.reads.take(ctx, op.CallerFrom(ctx).Whence())
	if err != nil {
		return err
	}
	defer done()
	delta, err := s.store.Delta(ctx, have, []repo.OperationID{head})
	if err != nil {
		return err
	}
	objects := 0
	if len(have) == 0 {
		objects = s.store.CountObjects()
	}
	words, err := h.heard(ctx, s, q.Workspace, q.Heard)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", exchange.ContentType)
	out := exchange.NewWriter(w)
	if err = out.JSON(exchange.Head, exchange.Answer{Repository: s.id, Head: head.Hex(), Version: version,
		Actor: op.CallerFrom(ctx).Name, Checkpoint: h.checkpoint(), Objects: objects, Words: words,
		Receipt: h.receipt(ctx, s, q.Workspace, head, version)}); err == nil {
		err = exchange.Send(ctx, out, s.store, delta, q.Skip)
	}
	why := outlived(ctx, err)
	if err == nil || ctx.Err() != nil && why == err {
		return nil
	}
	if ctx.Err() == nil {
		h.Log.Error("answer a sync", "repo", s.name, "err", err)
	}
	_ = out.Fail(why) // or the connection is gone, and with it whom to tell
	return nil
}

// outlived is why a stream failed: when its caller was not let in any more meanwhile, that.
func outlived(ctx context.Context, err error) error {
	if ctx.Err() != nil && fault.KindOf(context.Cause(ctx)) != fault.Internal {
		return context.Cause(ctx)
	}
	return err
}

// resume is the head that a fetch which was broken off was about, when it is
// still part of the history; its version is not told, so that whoever has it
// asks again.
func (s *served) resume(ctx context.Context, q exchange.Question, head repo.OperationID, version int64) (repo.OperationID, int64, error) {
	want, ok := repo.ParseOperationID(q.Want)
	if !ok || want == head || len(q.Heads) > 0 {
		return head, version, nil
	}
	if known, err := s.contains(ctx, head, []repo.OperationID{want}); err != nil || !known {
		return head, version, err
	}
	return want, 0, nil
}

// meant is the repository whose history a replica has that knows it by name
// only, from before repositories had ids: a name can have become another's.
func (h *Host) meant(ctx context.Context, s *served, ref string, q exchange.Question) (context.Context, *served, error) {
	have, err := exchange.ParseOperations(q.Have)
	if err != nil || ref == s.id || len(have) == 0 || s.store.HasOperation(have[0]) {
		return ctx, s, err
	}
	for _, other := range h.served {
		if other.store.HasOperation(have[0]) {
			ctx, err = h.Gate().Admit(ctx, string(RepoPull), PullIn{Repo: other.id})
			return ctx, other, err
		}
	}
	return ctx, s, nil
}

// takeIn reads a request and pushes what it brings. It gives the operations the
// replica has now, and the head.
func (h *Host) takeIn(ctx context.Context, s *served, q exchange.Question, in *exchange.Reader) (have []repo.OperationID,
	head repo.OperationID, version int64, err error) {
	if have, err = exchange.ParseOperations(q.Have); err != nil {
		return nil, "", 0, err
	}
	tips, err := exchange.ParseOperations(q.Heads)
	if err != nil {
		return nil, "", 0, err
	}
	if err := s.knows(ctx, have); err != nil {
		return nil, "", 0, err
	}
	if len(tips) > 0 && !op.May(ctx, "workspace.write", workspaceAt(s.name, q.Workspace)) {
		return nil, "", 0, denied("you may not write the workspace %q", clip(q.Workspace))
	}
	quarantine := s.store.Receive(gitstore.DefaultLimits)
	if len(tips) > 0 {
		mine, done, err := h.pushes.take(ctx, op.CallerFrom(ctx).Whence())
		if err != nil {
			return nil, "", 0, err
		}
		defer done()
		quarantine.Share = &mine.share
	}
	defer quarantine.Close()
	if len(tips) == 0 {
		err = in.Ended() // who only reads has not been asked for a right to write
	} else {
		err = exchange.Take(ctx, in, quarantine)
	}
	if err != nil {
		return nil, "", 0, stored(err)
	}
	if len(quarantine.Operations()) == 0 {
		// What the replica names is here already, or it only reads.
		if err := h.look(ctx, s); err != nil {
			return nil, "", 0, err
		}
		head, version, _ = s.now()
		if known, err := s.contains(ctx, head, tips); err != nil || known {
			return slices.Concat(have, tips), head, version, err
		}
	}
	if q.Back && len(tips) == 1 {
		if back, err := h.offered(ctx, s, q, quarantine, tips[0]); back || err != nil {
			head, version, _ = s.now()
			return slices.Concat(have, tips), head, version, err
		}
	}
	crossed, err := h.askToCross(ctx, s, q.Workspace, quarantine, tips)
	if err != nil {
		return nil, "", 0, err
	}
	done, err := op.Do(ctx, h.Gate(), RepoPush, PushIn{Repo: s.name, Workspace: q.Workspace, Heads: q.Heads, brought: quarantine})
	if err != nil {
		return nil, "", 0, err
	}
	h.tellHolders(ctx, s, crossed, q.Workspace, "changed")
	head, _ = repo.ParseOperationID(done.Head)
	return slices.Concat(have, tips), head, done.Version, nil
}

// contains says whether operations are part of the history of a head.
func (s *served) contains(ctx context.Context, head repo.OperationID, tips []repo.OperationID) (bool, error) {
	for _, tip := range tips {
		if !s.store.HasOperation(tip) {
			return false, nil
		}
	}
	left, err := repo.OperationRange(ctx, s.store, []repo.OperationID{head}, tips)
	return len(left) == 0, err
}
