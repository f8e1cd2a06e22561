package gitstore

import (
	"bufio"
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/repo"
)

// ImportOptions are the choices of an import from git.
type ImportOptions struct {
	// Track says which new bookmarks of a remote are tracked; nil is none. The
	// repository's own branches always are.
	Track func(remote, name string) bool
	// KeepUnreachable keeps commits visible that no ref of git reaches any more.
	KeepUnreachable bool
	// Only says which refs are looked at; nil is all.
	Only func(tag bool, remote, name string) bool
	// Fetched is for what follows a fetch: it also takes the tags that came, and
	// makes no remote known that brought nothing.
	Fetched bool
	// Unlinked does not look for what new commits replace.
	Unlinked bool
}

func (o *ImportOptions) wants(sym refSymbol) bool {
	return o.Only == nil || o.Only(sym.kind == tagRef, sym.remote, sym.name)
}

// RefUpdate is a bookmark or tag that an import changed.
type RefUpdate struct {
	Tag          bool
	Remote, Name string
	Old          repo.RemoteRef
	New          repo.RefTarget
}

// ImportStats says what an import did.
type ImportStats struct {
	Updates   []RefUpdate
	Abandoned []repo.CommitID // that nothing takes the place of
	Rewritten int
}

// ImportRefs takes into a transaction what git's branches and tags have become
// since the last import or export. A ref that the view knows and git lacks was
// deleted in git. The caller holds LockGit and rebases descendants afterwards.
func (s *Store) ImportRefs(ctx context.Context, tx *repo.Tx, o ImportOptions) (*ImportStats, error) {
	if !o.Fetched {
		for _, remote := range s.remoteNames() {
			tx.View.EnsureRemote(remote)
		}
	}
	actual, err := s.gitRefs(ctx)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(actual, func(full string, _ repo.CommitID) bool {
		sym, _ := parseGitRef(full)
		return !o.wants(sym)
	})
	var remoteTags map[refSymbol]repo.CommitID
	if o.Fetched {
		if remoteTags, err = s.remoteTags(ctx); err != nil {
			return nil, err
		}
	}
	stats := &ImportStats{Updates: diffForImport(tx.View, actual, remoteTags, &o)}
	var oldHeads, newHeads []repo.CommitID
	for _, u := range stats.Updates {
		oldHeads = append(oldHeads, repo.TargetIDs(u.Old.Target)...)
		newHeads = append(newHeads, repo.TargetIDs(u.New)...)
	}
	oldVisible := tx.View.HeadIDs()
	before := repo.Pos(tx.Index.Len())
	for _, id := range newHeads {
		if !tx.Index.Has(id) {
			s.keepCommit(id)
		}
	}
	if err := tx.AddHeads(ctx, newHeads); err != nil {
		return nil, err
	}
	for name := range tx.View.GitRefs {
		sym, _ := parseGitRef(name)
		if _, ok := actual[name]; !ok && o.wants(sym) {
			tx.View.SetGitRef(name, repo.NoTarget())
		}
	}
	for name, id := range actual {
		tx.View.SetGitRef(name, repo.Target(id))
	}
	for _, u := range stats.Updates {
		if err := applyUpdate(ctx, tx, u, o); err != nil {
			return nil, err
		}
	}
	if !o.KeepUnreachable && len(oldHeads) > 0 {
		if stats.Abandoned, err = abandonUnreachable(ctx, tx, oldHeads); err != nil {
			return nil, err
		}
	}
	if len(newHeads) > 0 && !o.Unlinked {
		gone := recordImported(tx, before, oldVisible, oldHeads, newHeads, !o.KeepUnreachable)
		stats.Rewritten = len(gone)
		stats.Abandoned = slices.DeleteFunc(stats.Abandoned, func(id repo.CommitID) bool { return gone[id] })
	}
	return stats, nil
}

// remoteNames lists the remotes of git's configuration.
func (s *Store) remoteNames() []string {
	f, err := os.Open(filepath.Join(s.gitDir, "config"))
	if err != nil {
		return nil
	}
	defer f.Close()
	var out []string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		name, ok := strings.CutPrefix(strings.TrimSpace(lines.Text()), `[remote "`)
		if name, end := strings.CutSuffix(name, `"]`); ok && end && name != repo.GitRemote {
			out = append(out, name)
		}
	}
	return out
}

// diffForImport lists bookmarks and tags that are elsewhere now.
func diffForImport(v *repo.View, actual map[string]repo.CommitID, remoteTags map[refSymbol]repo.CommitID, o *ImportOptions) []RefUpdate {
	known := map[refSymbol]repo.RemoteRef{}
	for remote, rv := range v.Remotes {
		for name, ref := range rv.Bookmarks {
			known[refSymbol{bookmarkRef, remote, name}] = ref
		}
		if !o.Fetched && remote != repo.GitRemote {
			continue
		}
		for name, ref := range rv.Tags {
			known[refSymbol{tagRef, remote, name}] = ref
		}
	}
	maps.DeleteFunc(known, func(sym refSymbol, _ repo.RemoteRef) bool { return !o.wants(sym) })
	var out []RefUpdate
	add := func(sym refSymbol, old repo.RemoteRef, now repo.RefTarget) {
		out = append(out, RefUpdate{sym.kind == tagRef, sym.remote, sym.name, old, now})
	}
	compare := func(sym refSymbol, id repo.CommitID) {
		old := known[sym]
		delete(known, sym)
		if now := repo.Target(id); !now.Equal(old.Target) {
			add(sym, old, now)
		}
	}
	for full, id := range actual {
		sym, _ := parseGitRef(full)
		compare(sym, id)
	}
	for sym, id := range remoteTags {
		if o.wants(sym) {
			compare(sym, id)
		}
	}
	for sym, old := range known {
		if !repo.IsAbsentTarget(old.Target) {
			add(sym, old, repo.NoTarget())
		}
	}
	slices.SortFunc(out, func(a, b RefUpdate) int {
		kind := func(u RefUpdate) int {
			if u.Tag {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(kind(a), kind(b)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Remote, b.Remote))
	})
	return out
}

func applyUpdate(ctx context.Context, tx *repo.Tx, u RefUpdate, o ImportOptions) error {
	base := repo.NoTarget()
	if u.Old.Tracked && len(u.Old.Target) > 0 {
		base = u.Old.Target
	}
	ref := repo.RemoteRef{Target: u.New, Tracked: u.Old.Tracked}
	if len(u.Old.Target) == 0 { // not known before
		ref.Tracked = u.Tag || u.Remote == repo.GitRemote || o.Track != nil && o.Track(u.Remote, u.Name)
	}
	if u.Tag {
		if ref.Tracked {
			tx.MergeTag(u.Name, base, u.New)
		}
		tx.View.SetRemoteTag(u.Remote, u.Name, ref)
		return nil
	}
	if ref.Tracked {
		if err := tx.MergeBookmark(ctx, u.Name, base, u.New); err != nil {
			return err
		}
	}
	tx.View.SetRemoteBookmark(u.Remote, u.Name, ref)
	return nil
}

// abandonUnreachable abandons visible commits that refs of git used to reach
// and nothing reaches now.
func abandonUnreachable(ctx context.Context, tx *repo.Tx, oldHeads []repo.CommitID) ([]repo.CommitID, error) {
	visible := tx.Visible()
	ix := tx.Index
	pinned := []repo.Pos{0}
	pin := func(t repo.RefTarget, mustBeVisible bool) {
		for _, id := range repo.TargetIDs(t) {
			if p, ok := ix.Pos(id); ok && (!mustBeVisible || visible.Has(p)) {
				pinned = append(pinned, p)
			}
		}
	}
	for _, refs := range []map[string]repo.RefTarget{tx.View.Bookmarks, tx.View.Tags} {
		for _, t := range refs {
			pin(t, false)
		}
	}
	for _, rv := range tx.View.Remotes {
		for _, refs := range []map[string]repo.RemoteRef{rv.Bookmarks, rv.Tags} {
			for _, r := range refs {
				if !r.Tracked {
					pin(r.Target, true)
				}
			}
		}
	}
	var out []repo.CommitID
	for _, p := range ix.Range(pinned, ix.Positions(oldHeads)) {
		if !visible.Has(p) {
			continue
		}
		c, err := tx.Store.Commit(ctx, ix.ID(p))
		if err != nil {
			return nil, err
		}
		tx.Abandon(c)
		out = append(out, c.ID)
	}
	return out, nil
}

// recordImported finds by change id which commits that git brought replace
// commits that git had before, and says which were replaced.
func recordImported(tx *repo.Tx, before repo.Pos, oldVisible, oldHeads, newHeads []repo.CommitID, rewrite bool) map[repo.CommitID]bool {
	gone := map[repo.CommitID]bool{}
	ix := tx.Index
	byChange := func(positions []repo.Pos) map[repo.ChangeID][]repo.CommitID {
		out := map[repo.ChangeID][]repo.CommitID{}
		for _, p := range positions {
			out[ix.ChangeID(p)] = append(out[ix.ChangeID(p)], ix.ID(p))
		}
		return out
	}
	visible := ix.Ancestors(ix.Positions(oldVisible))
	went := byChange(ix.Range(ix.Positions(newHeads), ix.Positions(oldHeads)))
	come := byChange(ix.Range(ix.Positions(oldVisible), ix.Positions(newHeads)))
	for _, change := range slices.Sorted(maps.Keys(come)) {
		now, was := come[change], went[change]
		for _, id := range now {
			if p, _ := ix.Pos(id); p >= before {
				tx.SetPredecessors(id, was[:min(1, len(was))])
			}
		}
		for _, old := range was {
			p, _ := ix.Pos(old)
			if !rewrite || !visible.Has(p) {
				continue
			}
			gone[old] = true
			if len(now) == 1 {
				tx.SetRewritten(old, now[0])
			} else {
				tx.SetDivergent(old, now)
			}
		}
	}
	return gone
}
