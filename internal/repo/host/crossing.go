package host

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/repo"
	"tandem/internal/repo/diff"
	"tandem/internal/repo/gitstore"
)

// CrossFile is a change to a file that somebody else has leased.
type CrossFile struct {
	Path    string `json:"path"`
	Holder  string `json:"holder" jsonschema:"who has leased it"`
	Lease   string `json:"lease" jsonschema:"the lease's id"`
	Status  string `json:"status" jsonschema:"added, modified or removed"`
	Content string `json:"content" jsonschema:"the id of what the file would become; empty when it goes"`
	Diff    string `json:"diff"`

	of Lease
}

// CrossIn asks that changes to leased files may become part of the repository.
type CrossIn struct {
	Repo      string      `json:"repo" jsonschema:"the repository, by name or id"`
	Workspace string      `json:"workspace" jsonschema:"the workspace in which they were made"`
	Files     []CrossFile `json:"files" jsonschema:"the files, each with its change"`
}

// CrossOut says how many changes were let through.
type CrossOut struct {
	Files int `json:"files"`
}

type crossingKey struct{}

// fromSync says whether a call comes from a sync: what a person is shown was
// found here, and is not what somebody says of their own push.
func fromSync(ctx context.Context) bool { return ctx.Value(crossingKey{}) != nil }

// Caution is why a person decides: the files are leased.
func (in CrossIn) Caution(ctx context.Context) string {
	if !fromSync(ctx) {
		return ""
	}
	return leasedWords(in.Files)
}

// shown is the call as a person reads it: each file in words, and its change as a diff. All of it is in the input, so nothing more is
// bound.
func (in CrossIn) shown() (out []op.Bound) {
	for i, f := range in.Files {
		becomes := f.Content
		if becomes == "" {
			becomes = "nothing"
		}
		fact := op.Bound{Name: "file " + f.Path, Value: fmt.Sprintf("%s, leased by %s (%s), becomes %s", f.Status, f.Holder, f.Lease, becomes),
			Shown: true}
		if i == 0 {
			fact.Covers = []string{"files"}
		}
		out = append(out, fact)
		if f.Diff != "" {
			out = append(out, op.Bound{Name: "diff of " + f.Path, Value: f.Diff, Shown: true, Diff: true})
		}
	}
	return out
}

func leasedWords(files []CrossFile) string {
	var parts []string
	for _, f := range files {
		if word := f.Path + " is " + f.of.String(); !slices.Contains(parts, word) {
			parts = append(parts, word)
		}
	}
	if n := len(parts); n > 5 {
		parts = append(parts[:5], fmt.Sprintf("and %d more", n-5))
	}
	return strings.Join(parts, "; ")
}

// cross lets through what a person approved.
func (h *Host) cross(ctx context.Context, tx *db.Tx, in CrossIn) (CrossOut, error) {
	s, err := h.find(ctx, in.Repo)
	if err != nil {
		return CrossOut{}, err
	}
	if !fromSync(ctx) {
		return CrossOut{}, fault.New(fault.Invalid, "repo.cross", "leased files are asked for by the sync that brings them").
			WithNext("let tandem do it: it syncs by itself after each command")
	}
	for _, f := range in.Files {
		op.Row(ctx, passed{f.Lease, op.CallerFrom(ctx).Actor, f.Path, f.Content}.seal(s.id))
		if _, err := tx.Exec("INSERT INTO repo_crossing (tenant, repo, lease, actor, path, content) VALUES (?, ?, ?, ?, ?, ?) "+
			"ON CONFLICT DO NOTHING",
			identity.LocalTenant, s.id, f.Lease, op.CallerFrom(ctx).Actor, f.Path, f.Content); err != nil {
			return CrossOut{}, err
		}
	}
	return CrossOut{Files: len(in.Files)}, nil
}

// standing are the leases that a push out of a workspace meets.
func (h *Host) standing(ctx context.Context, s *served, workspace string) (out ground, err error) {
	list, err := h.leases(ctx, s)
	me := op.CallerFrom(ctx)
	for _, l := range list {
		if l.held(me, workspace) {
			out.own = append(out.own, l)
		} else {
			out.others = append(out.others, l)
		}
	}
	return out, err
}

// askToCross finds what a push changes of files that others have leased and asks
// a person for it. It gives what it crosses, for the holders to hear.
func (h *Host) askToCross(ctx context.Context, s *served, workspace string, quarantine *gitstore.Incoming,
	tips []repo.OperationID) ([]CrossFile, error) {
	leases, err := h.standing(ctx, s, workspace)
	if err != nil || len(leases.others) == 0 {
		return nil, err
	}
	head, _, _ := s.now()
	var files []CrossFile
	for _, tip := range tips {
		if !quarantine.HasOperation(tip) {
			continue // it is refused for that, with the rest
		}
		bases, err := repo.ClosestCommonOperations(ctx, quarantine.Store(), []repo.OperationID{head}, []repo.OperationID{tip})
		if err != nil || len(bases) == 0 || bases[0].ID == tip {
			continue
		}
		was, err := s.store.View(ctx, bases[0].View)
		if err != nil {
			return nil, err
		}
		r, err := quarantine.At(ctx, tip)
		if err != nil {
			return nil, fault.New(fault.Invalid, "repo.push", "operation %.12s cannot be read: %w", tip.Hex(), err)
		}
		j := &judgement{ctx: ctx, s: s, was: was, r: r}
		j.findRewrites()
		found, err := j.crossed(ctx, leases)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	ask, err := h.unlet(ctx, s, files)
	if err != nil || len(ask) == 0 {
		return files, err
	}
	_, err = op.Do(context.WithValue(ctx, crossingKey{}, true), h.Gate(), RepoCross, CrossIn{Repo: s.name, Workspace: workspace, Files: ask})
	if fault.Is(err, fault.Pending) {
		h.tellHolders(ctx, s, ask, workspace, "asked")
		pending := fault.Public(err)
		err = pending.WithNext("a person answers it on the server, in its panel or there with: tandem approvals approve %s; "+
			"then repeat the same call", pending.Data["approval"])
	}
	if fault.Is(err, fault.Denied) {
		err = fault.New(fault.Denied, "repo.cross", "%s, and %s", leasedWords(ask), fault.Public(err).Msg).
			WithNext("take your change back: tandem restore --from @- %s; or wait until the lease ends: tandem repo lease", ask[0].Path)
	}
	return files, err
}

// unlet are those changes that nobody has let through yet.
func (h *Host) unlet(ctx context.Context, s *served, files []CrossFile) ([]CrossFile, error) {
	if len(files) == 0 {
		return nil, nil
	}
	var let []passed
	of := func(f CrossFile) passed { return passed{f.Lease, op.CallerFrom(ctx).Actor, f.Path, f.Content} }
	err := h.view(ctx, func(tx *db.Tx) (err error) {
		let = nil
		for _, f := range files {
			var n int
			p := of(f)
			err := tx.QueryRow("SELECT count(*) FROM repo_crossing "+
				"WHERE tenant = ? AND repo = ? AND lease = ? AND actor = ? AND path = ? AND content = ?",
				identity.LocalTenant, s.id, p.lease, p.actor, p.path, p.content).Scan(&n)
			if err != nil {
				return err
			}
			if n > 0 {
				let = append(let, p)
			}
		}
		let, err = kept(h, tx, let, func(p passed) op.Sealed { return p.seal(s.id) })
		return err
	})
	return slices.DeleteFunc(slices.Clone(files), func(f CrossFile) bool { return slices.Contains(let, of(f)) }), err
}

// leased: what others have leased comes in only when a person let it, and was
// asked for before; here it is held against what is leased now.
func (h *Host) leased(ctx context.Context, j *judgement, workspace string) error {
	leases, err := h.standing(j.ctx, j.s, workspace)
	if err != nil || len(leases.others) == 0 {
		return err
	}
	files, err := j.crossed(ctx, leases)
	if err != nil {
		return err
	}
	if files, err = h.unlet(j.ctx, j.s, files); err != nil || len(files) == 0 {
		return err
	}
	return fault.New(fault.Conflict, "repo.push", "%s", leasedWords(files)).
		WithNext("ask %s to release it, or run the command again: a person is asked then", files[0].Holder)
}

// crossed are the changes of a push to leased files: what is different from what
// a commit stands on, and from what its change was before. Work that was there
// already and is only described, moved or put together anew crosses nothing.
func (j *judgement) crossed(ctx context.Context, leases ground) ([]CrossFile, error) {
	var out []CrossFile
	for change, ids := range j.became {
		for _, id := range ids {
			if j.s.store.Has(string(id)) {
				continue // it was here before and is shown again
			}
			found, err := j.crossedBy(ctx, id, change, leases)
			if err != nil {
				return nil, err
			}
			out = append(out, found...)
		}
	}
	slices.SortFunc(out, func(a, b CrossFile) int {
		return strings.Compare(a.Path+"\x00"+a.Content+"\x00"+a.Lease, b.Path+"\x00"+b.Content+"\x00"+b.Lease)
	})
	return slices.CompactFunc(out, func(a, b CrossFile) bool { return a.Path == b.Path && a.Content == b.Content && a.Lease == b.Lease }), nil
}

func (j *judgement) crossedBy(ctx context.Context, id repo.CommitID, change repo.ChangeID, leases ground) ([]CrossFile, error) {
	c, err := j.r.Store.Commit(ctx, id)
	if err != nil {
		return nil, err
	}
	base, err := repo.ParentTree(ctx, j.r.Store, j.r.Index, c)
	if err != nil {
		return nil, err
	}
	var out []CrossFile
	err = repo.DiffTrees(ctx, j.r.Store, base, c.Tree, leases, func(p repo.Path, before, after repo.Merge[repo.TreeValue]) error {
		if old, err := j.oldWork(ctx, p, after, c, change); err != nil || old {
			return err
		}
		f, err := j.crossFile(ctx, p, before, after)
		for _, l := range leases.crossed(p) {
			f.Holder, f.Lease, f.of = l.Holder, l.ID, l
			out = append(out, f)
		}
		return err
	})
	return out, err
}

// oldWork says whether a file is as some commit made it that this push replaces,
// or as its change is when it is put where it stands now.
func (j *judgement) oldWork(ctx context.Context, p repo.Path, value repo.Merge[repo.TreeValue], c *repo.Commit,
	change repo.ChangeID) (bool, error) {
	for id := range j.gone {
		old, err := j.r.Store.Commit(ctx, id)
		if err != nil {
			return false, err
		}
		made, err := repo.ValueAt(ctx, j.r.Store, old.Tree, p)
		if err != nil {
			return false, err
		}
		below, err := repo.ParentTree(ctx, j.r.Store, j.r.Index, old)
		if err != nil {
			return false, err
		}
		stood, err := repo.ValueAt(ctx, j.r.Store, below, p)
		if err != nil || stood.Equal(made) {
			if err != nil {
				return false, err
			}
			continue
		}
		if made.Equal(value) {
			return true, nil
		}
		if old.ChangeID != change {
			continue
		}
		try := *j.r
		try.Store = repo.NewOverlay(j.r.Store)
		d, err := try.Begin(j.s.who).NewMove(old, c.Parents).RebaseDraft(ctx, repo.RebaseOptions{})
		if err != nil {
			return false, err
		}
		if moved, err := repo.ValueAt(ctx, try.Store, d.Tree, p); err != nil || moved.Equal(value) {
			return err == nil, err
		}
	}
	return false, nil
}

// maxCrossDiff is how much of a change is shown; of a longer one the beginning.
const maxCrossDiff = 16 << 10

func (j *judgement) crossFile(ctx context.Context, p repo.Path, before, after repo.Merge[repo.TreeValue]) (CrossFile, error) {
	f := CrossFile{Path: string(p), Status: "modified"}
	switch {
	case !repo.IsPresent(before):
		f.Status = "added"
	case !repo.IsPresent(after):
		f.Status = "removed"
	}
	if repo.IsPresent(after) {
		var terms []string
		for _, t := range after {
			terms = append(terms, fmt.Sprintf("%d:%s", t.Kind, hex.EncodeToString([]byte(t.ID))))
		}
		f.Content = strings.Join(terms, "/")
	}
	a, err := repo.Content(ctx, j.r.Store, before, nil)
	if err != nil {
		return f, err
	}
	b, err := repo.Content(ctx, j.r.Store, after, nil)
	if err != nil {
		return f, err
	}
	if !readable(a) || !readable(b) {
		f.Diff = fmt.Sprintf("(not text: %d bytes become %d)\n", len(a), len(b))
		return f, nil
	}
	if f.Diff = diff.Unified(a, b, 3); len(f.Diff) > maxCrossDiff {
		f.Diff = fmt.Sprintf("%s\n(%d bytes more)\n", strings.ToValidUTF8(f.Diff[:maxCrossDiff], "?"), len(f.Diff)-maxCrossDiff)
	}
	return f, nil
}
