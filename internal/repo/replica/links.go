package replica

import (
	"context"
	"encoding/hex"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"tandem/internal/repo"
)

// links are the links of a workspace in the place of files or folders that command
// agents, and where they lead. They are found in what changes; of a workspace that
// was made before they were kept, once, in all of its tree.
type links map[repo.Path]string

func (r *Replica) linksFile(workspace string) string {
	return r.path("links-" + url.PathEscape(workspace) + ".json")
}

// linkNames matches where such links may be.
type linkNames struct{}

func (linkNames) Match(p repo.Path) bool { return leadsTo(p) }
func (linkNames) Visit(repo.Path) bool   { return true }

// note takes down what became of the links between two trees.
func (l links) note(ctx context.Context, s repo.Store, from, to repo.MergedTree) error {
	return repo.DiffTrees(ctx, s, from, to, linkNames{}, func(p repo.Path, _, after repo.Merge[repo.TreeValue]) error {
		delete(l, p)
		for _, v := range after { // of a conflict, every side
			if v.Kind != repo.Symlink {
				continue
			}
			target, err := s.File(ctx, v.FileID())
			if err != nil {
				return err
			}
			l[p] = string(target)
		}
		return nil
	})
}

// behind is where the links lead inside a tree, also by way of other links. Where
// one leads out of it, there is nothing that a commit could change.
func (l links) behind(ctx context.Context, s repo.Store, t repo.MergedTree) ([]repo.Path, error) {
	out := map[repo.Path]bool{}
	for p, target := range l {
		at, inside := lead(p, target)
		for range mostLinks {
			if !inside || out[at] {
				break
			}
			out[at] = true
			next, linked, err := through(ctx, s, t, at)
			if err != nil {
				return nil, err
			}
			at, inside = next, linked
		}
	}
	return slices.Sorted(maps.Keys(out)), nil
}

// mostLinks is how many links in a row are followed; systems follow no more.
const mostLinks = 40

// lead is where a link leads inside the tree.
func lead(p repo.Path, target string) (at repo.Path, inside bool) {
	target = strings.ReplaceAll(target, "\\", "/")
	dir, _ := p.Split()
	to := path.Join(string(dir), target)
	if path.IsAbs(target) || to == "." || to == ".." || strings.HasPrefix(to, "../") {
		return "", false
	}
	return repo.Path(to), true
}

// through follows the first link on a path, if one is there.
func through(ctx context.Context, s repo.Store, t repo.MergedTree, p repo.Path) (next repo.Path, linked bool, err error) {
	names := p.Components()
	for i := range names {
		at := repo.Path(strings.Join(names[:i+1], "/"))
		v, err := repo.ValueAt(ctx, s, t, at)
		if err != nil {
			return "", false, err
		}
		for _, term := range v {
			if term.Kind != repo.Symlink {
				continue
			}
			target, err := s.File(ctx, term.FileID())
			if err != nil {
				return "", false, err
			}
			to, inside := lead(at, string(target))
			return repo.Path(path.Join(append([]string{string(to)}, names[i+1:]...)...)), inside, nil
		}
	}
	return "", false, nil
}

// linked are the links of one tree. They are kept so that the next tree's are found
// in what differs.
type linked struct {
	Tree  []string `json:"tree"` // the ids of its terms
	Links links    `json:"links"`
}

// linksAt are the links of a tree that a workspace has.
func (r *Replica) linksAt(ctx context.Context, s repo.Store, workspace string, t repo.MergedTree) (links, error) {
	kept, err := readHint[linked](r.linksFile(workspace))
	if err != nil {
		return nil, err
	}
	was := repo.MergedTree{}
	for _, x := range kept.Tree {
		id, err := hex.DecodeString(x)
		if err != nil || len(id) != repo.CommitIDLen {
			kept = linked{}
			break
		}
		was.IDs = append(was.IDs, repo.TreeID(id))
	}
	if len(kept.Tree) == 0 || kept.Links == nil {
		was, kept.Links = repo.EmptyTree(), links{}
	}
	if was.SameIDs(t) {
		return kept.Links, nil
	}
	if err := kept.Links.note(ctx, s, was, t); err != nil {
		if len(kept.Tree) == 0 {
			return nil, err
		}
		kept.Links = links{} // that tree may be gone: look at all of this one
		if err := kept.Links.note(ctx, s, repo.EmptyTree(), t); err != nil {
			return nil, err
		}
	}
	kept.Tree = nil
	for _, id := range t.IDs {
		kept.Tree = append(kept.Tree, hex.EncodeToString([]byte(id)))
	}
	return kept.Links, writeHint(r.linksFile(workspace), kept)
}

// commandingIn matches what commands agents in a workspace on its way from one tree
// to another, and says where links lead then that lead nowhere now.
func (r *Replica) commandingIn(ctx context.Context, s repo.Store, workspace string, from, to repo.MergedTree) (m commanding,
	opened []repo.Path, err error) {
	l, err := r.linksAt(ctx, s, workspace, from)
	if err != nil {
		return m, nil, err
	}
	if m.behind, err = l.behind(ctx, s, from); err != nil {
		return m, nil, err
	}
	l = maps.Clone(l)
	if err := l.note(ctx, s, from, to); err != nil {
		return m, nil, err
	}
	then, err := l.behind(ctx, s, to)
	if err != nil {
		return m, nil, err
	}
	for _, p := range then {
		if !slices.Contains(m.behind, p) {
			opened = append(opened, p)
		}
	}
	m.behind = append(m.behind, opened...)
	return m, opened, nil
}
