package host

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/repo"
)

func denied(format string, args ...any) error {
	return fault.New(fault.Denied, "repo.push", format, args...).WithNext("take it back: tandem undo; or ask the server's owner for the right")
}

// judgeAll judges pushes one by one and gives those that pass; the others have
// their reason.
func (h *Host) judgeAll(ctx context.Context, s *served, current *repo.Repo, batch []*waiting) (good []*waiting, err error) {
	if err := h.loadAuthors(ctx, s); err != nil {
		return nil, err
	}
	owners, err := h.owners(ctx, s)
	if err != nil {
		return nil, err
	}
	refsOf := sync.OnceValues(func() (map[refKey]author, error) { return h.refOwners(ctx, s) }) // most pushes move none
	for _, w := range batch {
		if w.err = h.judge(w.ctx, s, current, owners, refsOf, w); w.err == nil {
			good = append(good, w)
		}
	}
	return good, nil
}

// judge says whether a caller may do what a push changes as a whole, since the
// last operation that is known here too. Nothing of it is stored yet.
func (h *Host) judge(ctx context.Context, s *served, current *repo.Repo, owners map[string]owner,
	refsOf func() (map[refKey]author, error), w *waiting) error {
	me := op.CallerFrom(w.ctx)
	for _, o := range w.quarantine.Operations() {
		if name, said := o.Meta.Attributes["tandem.actor"]; said && name != me.Name {
			return denied("operation %.12s says that it is %s's, and you are %s", o.ID.Hex(), clip(name), me.Name)
		}
	}
	w.loaded = map[repo.OperationID]*repo.Repo{}
	w.was = current.View
	for _, tip := range w.tips {
		if !w.quarantine.HasOperation(tip) {
			return fault.New(fault.Invalid, "repo.push", "operation %.12s is missing", tip.Hex())
		}
		bases, err := s.common(ctx, w.quarantine.Store(), current.Operation.ID, tip)
		if err != nil {
			return err
		}
		if bases[0].ID == tip {
			continue // it is known
		}
		if w.was, err = s.store.View(ctx, bases[0].View); err != nil {
			return err
		}
		r, err := w.quarantine.At(ctx, tip)
		if err != nil {
			return fault.New(fault.Invalid, "repo.push", "operation %.12s cannot be read: %w", tip.Hex(), err)
		}
		j := &judgement{ctx: w.ctx, s: s, was: w.was, r: r, admin: op.May(w.ctx, "repo.admin", repoAt(s.name)), owners: owners,
			refsOf: refsOf, says: h.says}
		j.findRewrites()
		for _, rule := range []func(context.Context) error{j.workspaces, j.commits, j.refs, j.gitsOwn} {
			if err := rule(ctx); err != nil {
				return err
			}
		}
		if err := h.leased(ctx, j, w.in.Workspace); err != nil {
			return err
		}
		w.loaded[tip] = r
	}
	for name := range createdBy(w) {
		owners[name] = owner{workspace: name, actor: me.Actor, name: me.Name}
	}
	return nil
}

// createdBy names the workspaces that a push brings into being.
func createdBy(w *waiting) map[string]struct{} {
	out := map[string]struct{}{}
	for _, r := range w.loaded {
		for name := range r.View.Workspaces {
			if _, before := w.was.Workspaces[name]; !before {
				out[name] = struct{}{}
			}
		}
	}
	return out
}

// judgement is one push under review.
type judgement struct {
	ctx    context.Context
	s      *served
	was    *repo.View
	r      *repo.Repo
	owners map[string]owner
	refsOf func() (map[refKey]author, error)
	says   op.Vouch
	admin  bool

	gone   map[repo.CommitID]struct{}        // commits that are not visible any more
	became map[repo.ChangeID][]repo.CommitID // commits that are visible now and were not
}

// workspaces: one's own may go anywhere, others' only along with a rebase.
func (j *judgement) workspaces(ctx context.Context) error {
	me := op.CallerFrom(j.ctx)
	for _, name := range union(j.was.Workspaces, j.r.View.Workspaces) {
		old, now := j.was.Workspaces[name], j.r.View.Workspaces[name]
		o, owned := j.ownerOf(name)
		if old == now || j.admin || owned && o.actor == me.Actor && !o.forged || old == "" && !owned {
			if old != now && !op.May(j.ctx, "workspace.write", workspaceAt(j.s.name, name)) {
				return denied("you may not write the workspace %q", name)
			}
			continue
		}
		whose := "the server's own"
		if o.forged {
			whose = forged
		} else if owned {
			whose = o.name + "'s"
		}
		if old == "" || now == "" {
			return denied("the workspace %q is %s", name, whose)
		}
		follows, err := j.follows(ctx, old, now)
		if err != nil {
			return err
		}
		if !follows {
			return denied("the workspace %q is %s, and its working copy was changed by more than a rebase", name, whose)
		}
	}
	return nil
}

// ownerOf is whose a workspace is, if it is anybody's. One whose row is gone is somebody's all the same.
func (j *judgement) ownerOf(name string) (owner, bool) {
	o, owned := j.owners[name]
	if !owned && j.says.Knows(identity.LocalTenant, (owner{workspace: name}).seal(j.s.id).Subject) {
		return owner{workspace: name, forged: true}, true
	}
	return o, owned
}

// refs: one's own bookmarks and tags, and new ones, go where somebody with the
// right to write them says; another's along with a commit that was rewritten, or
// where somebody says who may run on NAME/bookmark/X.
func (j *judgement) refs(ctx context.Context) error {
	for _, kind := range []struct {
		word     string
		was, now map[string]repo.RefTarget
	}{{"bookmark", j.was.Bookmarks, j.r.View.Bookmarks}, {"tag", j.was.Tags, j.r.View.Tags}} {
		for _, name := range union(kind.was, kind.now) {
			old, now := kind.was[name], kind.now[name]
			if old.Equal(now) {
				continue
			}
			at := repoAt(j.s.name, kind.word, name)
			of, known, err := j.refOwner(refKey{kind.word, name}, old)
			if err != nil {
				return err
			}
			own := repo.IsAbsentTarget(old) || j.mine(of, known)
			if own && op.Allowed(j.ctx, "repo.write", at) || j.admin || op.Allowed(j.ctx, "repo.run", at) {
				continue
			}
			if len(old) == 1 && len(now) == 1 {
				follows, err := j.follows(ctx, old[0], now[0])
				if err != nil {
					return err
				}
				if follows {
					continue
				}
			}
			if own {
				return denied("you may not move the %s %q", kind.word, name)
			}
			return j.needsRight(at, "the %s %q is %s", kind.word, name, whose(of, known))
		}
	}
	return nil
}

// needsRight refuses what is another's, and says how a person gives the right.
func (j *judgement) needsRight(at op.Resource, format string, args ...any) error {
	me := op.CallerFrom(j.ctx)
	next := fmt.Sprintf("take it back: tandem undo; or a person gives the right: tandem grant add %s:%s %s --can execute", me.Kind, me.Name,
		at)
	for _, other := range me.For { // nobody does more than whom they act for may do
		if !strings.HasPrefix(other, string(op.Person)+":") {
			next += fmt.Sprintf(", and tandem grant add %s %s --can execute", other, at)
		}
	}
	return fault.New(fault.Denied, "repo.push", format, args...).WithNext("%s", next)
}

// gitsOwn: what git's refs are, and what remotes have, only the server knows.
func (j *judgement) gitsOwn(ctx context.Context) error {
	now := j.r.View
	same := func(a, b repo.RefTarget) bool { return a.Equal(b) }
	if !maps.EqualFunc(j.was.GitRefs, now.GitRefs, same) || !maps.EqualFunc(j.was.GitHeads, now.GitHeads, same) {
		return denied("git's own refs are the server's to change")
	}
	for _, remote := range union(j.was.Remotes, now.Remotes) {
		for _, refs := range [][2]map[string]repo.RemoteRef{
			{j.was.Remotes[remote].Bookmarks, now.Remotes[remote].Bookmarks}, {j.was.Remotes[remote].Tags, now.Remotes[remote].Tags},
		} {
			for _, name := range union(refs[0], refs[1]) {
				a, b := refs[0][name], refs[1][name]
				if !sameTarget(a.Target, b.Target) {
					return denied("where %s is on the remote %q is the server's to say", name, remote)
				}
				if a.Tracked != b.Tracked && !op.Allowed(j.ctx, "repo.write", repoAt(j.s.name, "bookmark", name)) {
					return denied("you may not track the bookmark %q", name)
				}
			}
		}
	}
	return nil
}

func sameTarget(a, b repo.RefTarget) bool {
	return a.Equal(b) || repo.IsAbsentTarget(a) && repo.IsAbsentTarget(b)
}

func union[V any](a, b map[string]V) []string {
	names := slices.Collect(maps.Keys(a))
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// common are the operations where what is brought and what is served part. What has
// nothing in common but the beginning that all repositories have is another's work.
func (s *served) common(ctx context.Context, store repo.Store, head, tip repo.OperationID) ([]*repo.Operation, error) {
	bases, err := repo.ClosestCommonOperations(ctx, store, []repo.OperationID{head}, []repo.OperationID{tip})
	if err != nil {
		return nil, err
	}
	if len(bases) == 0 || bases[0].ID == repo.RootOperationID {
		return nil, fault.New(fault.Conflict, "repo.push",
			"what is here up to operation %.12s has no history in common with the repository %s (%s) that is served there", tip.Hex(), s.name, s.id).
			WithNext("nothing was taken in; serve the repository that this is a copy of, or make a workspace of that one: tandem init")
	}
	return bases, nil
}
