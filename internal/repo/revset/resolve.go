package revset

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/dsl"
	"tandem/internal/repo/fileset"
)

// Repo is what an expression is evaluated against.
type Repo struct {
	*repo.Repo
	// Prefixes narrows where short id prefixes must be unique; may be nil.
	Prefixes *Prefixes
	// AtOp loads the repository at an operation given in words.
	AtOp func(op string) (*repo.Repo, error)
	// Changes says whether a commit changes a file of a set.
	Changes func(c *repo.Commit, set *fileset.Set) (bool, error)
	// Lines calls yield for the lines a commit removes (-1) and adds (+1) in
	// files that match accepts, until it answers false.
	Lines func(c *repo.Commit, match func(repo.Path) bool, yield func(side int, line string) bool) error
}

// The failures of looking up a name.
type (
	// NoSuchRevision is a name that stands for nothing.
	NoSuchRevision struct {
		Name       string
		Candidates []string
	}
	// NoWorkingCopy is a workspace without a working-copy commit.
	NoWorkingCopy struct{ Workspace string }
	// EmptyName is the empty string used as a revision.
	EmptyName struct{}
	// Ambiguous is an id prefix that several ids share.
	Ambiguous struct{ Kind, Prefix string }
	// Divergent is a change id that several visible commits have.
	Divergent struct {
		Symbol  string
		Offsets []int
		Targets []repo.CommitID
	}
	// Conflicted is a bookmark or tag that points to several commits.
	Conflicted struct {
		Kind, Symbol string
		Targets      []repo.CommitID
	}
)

// Error is jj's sentence.
func (e *NoSuchRevision) Error() string { return fmt.Sprintf("Revision `%s` doesn't exist", e.Name) }

// Error is jj's sentence.
func (e *NoWorkingCopy) Error() string {
	return fmt.Sprintf("Workspace `%s` doesn't have a working-copy commit", FormatSymbol(e.Workspace))
}

// Error is jj's sentence.
func (e *EmptyName) Error() string { return "An empty string is not a valid revision" }

// Error is jj's sentence.
func (e *Ambiguous) Error() string {
	return fmt.Sprintf("%s ID prefix `%s` is ambiguous", e.Kind, e.Prefix)
}

// Error is jj's sentence.
func (e *Divergent) Error() string { return fmt.Sprintf("Change ID `%s` is divergent", e.Symbol) }

// Error is jj's sentence.
func (e *Conflicted) Error() string { return fmt.Sprintf("Name `%s` is conflicted", e.Symbol) }

func (r *Repo) symbol(name string) (repo.CommitID, error) {
	if name == "" {
		return "", &EmptyName{}
	}
	for _, ref := range []struct {
		kind   string
		target repo.RefTarget
	}{{"tag", r.View.Tag(name)}, {"bookmark", r.View.Bookmark(name)}} {
		if id, err := single(ref.kind, name, ref.target); err != nil || id != "" {
			return id, err
		}
	}
	if isHex(name) {
		if id, err := r.commitPrefix(strings.ToLower(name)); err != nil || id != "" {
			return id, err
		}
	}
	if id, err := r.changeSymbol(name); err != nil || id != "" {
		return id, err
	}
	return "", r.noSuch(FormatSymbol(name))
}

func single(kind, symbol string, t repo.RefTarget) (repo.CommitID, error) {
	if len(t) > 1 {
		return "", &Conflicted{kind, symbol, repo.TargetIDs(t)}
	}
	if len(t) == 0 {
		return "", nil
	}
	return t[0], nil
}

func (r *Repo) remoteSymbol(name, remote string) (repo.CommitID, error) {
	sym := FormatRemote(name, remote)
	if id, err := single("remote_tag", sym, r.View.RemoteTag(remote, name).Target); err != nil || id != "" {
		return id, err
	}
	if id, err := single("remote_bookmark", sym, r.View.RemoteBookmark(remote, name).Target); err != nil || id != "" {
		return id, err
	}
	return "", r.noSuch(sym)
}

func (r *Repo) commitPrefix(hex string) (repo.CommitID, error) {
	ids := r.Prefixes.commits(hex)
	if len(ids) == 0 {
		ids = r.Index.CommitsWithPrefix(hex, 2)
	}
	switch len(ids) {
	case 0:
		return "", nil
	case 1:
		return ids[0], nil
	}
	return "", &Ambiguous{"Commit", hex}
}

// ChangeTargets lists the commits of a change as jj numbers them: latest
// first, hidden ones included.
func (r *Repo) ChangeTargets(id repo.ChangeID) (ids []repo.CommitID, visible []bool) {
	ps := slices.Clone(r.Index.ChangePositions(id))
	slices.Sort(ps)
	slices.Reverse(ps)
	for _, p := range ps {
		c := r.Index.ID(p)
		ids = append(ids, c)
		visible = append(visible, r.IsVisible(c))
	}
	return ids, visible
}

func (r *Repo) changePrefix(hex string) (repo.ChangeID, error) {
	ids := r.Prefixes.changes(hex)
	if len(ids) == 0 {
		ids = r.Index.ChangesWithPrefix(hex, 2)
	}
	switch len(ids) {
	case 0:
		return "", nil
	case 1:
		return ids[0], nil
	}
	return "", &Ambiguous{"Change", repo.ReverseHex(hex)}
}

func (r *Repo) changeSymbol(name string) (repo.CommitID, error) {
	change, suffix, numbered := strings.Cut(name, "/")
	offset := 0
	if numbered {
		n, err := strconv.ParseUint(suffix, 10, 31)
		if change == "" || err != nil {
			return "", nil
		}
		offset = int(n)
	}
	hex, ok := repo.ForwardHex(change)
	if !ok {
		return "", nil
	}
	id, err := r.changePrefix(hex)
	if err != nil || id == "" {
		return "", err
	}
	ids, visible := r.ChangeTargets(id)
	if numbered {
		if offset < len(ids) {
			return ids[offset], nil
		}
		return "", nil
	}
	div := &Divergent{Symbol: change}
	for i, c := range ids {
		if visible[i] {
			div.Offsets = append(div.Offsets, i)
			div.Targets = append(div.Targets, c)
		}
	}
	switch len(div.Targets) {
	case 0:
		return "", nil
	case 1:
		return div.Targets[0], nil
	}
	return "", div
}

func (r *Repo) noSuch(name string) error {
	synced := strings.Contains(name, "@")
	var names []string
	add := func(local map[string]repo.RefTarget, pick func(repo.RemoteView) map[string]repo.RemoteRef) {
		for n := range local {
			names = append(names, FormatSymbol(n))
		}
		for _, remote := range slices.Sorted(maps.Keys(r.View.Remotes)) {
			for n, ref := range pick(r.View.Remotes[remote]) {
				if synced || !ref.Tracked || !ref.Target.Equal(local[n]) {
					names = append(names, FormatRemote(n, remote))
				}
			}
		}
	}
	add(r.View.Tags, func(v repo.RemoteView) map[string]repo.RemoteRef { return v.Tags })
	add(r.View.Bookmarks, func(v repo.RemoteView) map[string]repo.RemoteRef { return v.Bookmarks })
	return &NoSuchRevision{name, dsl.Similar(name, names)}
}

func (r *Repo) refs(p *refPattern) []repo.CommitID {
	var out []repo.CommitID
	if p.local {
		m := r.View.Bookmarks
		if p.tags {
			m = r.View.Tags
		}
		for name, t := range m {
			if p.name.Match(name) {
				out = append(out, repo.TargetIDs(t)...)
			}
		}
		return out
	}
	for remote, v := range r.View.Remotes {
		if !p.remote.Match(remote) {
			continue
		}
		m := v.Bookmarks
		if p.tags {
			m = v.Tags
		}
		for name, ref := range m {
			if p.name.Match(name) && (p.tracked == nil || *p.tracked == ref.Tracked) {
				out = append(out, repo.TargetIDs(ref.Target)...)
			}
		}
	}
	return out
}
