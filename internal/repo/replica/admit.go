package replica

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/diff"
)

// Held is a change to a file that commands agents or tools which this workspace
// has not had on its disk before: somebody else made it.
type Held struct {
	Path   repo.Path
	Status string // added, modified or removed
	By     string // the author of the commit that brings it
	Diff   string
	key    string
}

// had is what a workspace has had on its disk at such paths: what it wrote
// itself, what it began with, and what was approved.
type had map[repo.Path][]string

func (h had) add(p repo.Path, key string) bool {
	if slices.Contains(h[p], key) {
		return false
	}
	h[p] = append(h[p], key)
	return true
}

func (r *Replica) hadFile(workspace string) string {
	return r.path("had-" + url.PathEscape(workspace) + ".json")
}

// keyOf names what is at a path: the ids of all its terms.
func keyOf(v repo.Merge[repo.TreeValue]) string {
	if !repo.IsPresent(v) {
		return ""
	}
	var terms []string
	for _, t := range v {
		terms = append(terms, fmt.Sprintf("%d:%s", t.Kind, hex.EncodeToString([]byte(t.ID))))
	}
	return strings.Join(terms, "/")
}

// Wrote notes what a snapshot found: what a workspace wrote itself needs no
// approval when it comes again.
func (r *Replica) Wrote(ctx context.Context, s repo.Store, workspace string, from, to repo.MergedTree) error {
	h := had{}
	if _, err := readJSON(r.hadFile(workspace), &h); err != nil {
		return err
	}
	m, _, err := r.commandingIn(ctx, s, workspace, from, to)
	if err != nil {
		return err
	}
	grown := false
	err = repo.DiffTrees(ctx, s, from, to, m, func(p repo.Path, before, after repo.Merge[repo.TreeValue]) error {
		a, b := h.add(p, keyOf(before)), h.add(p, keyOf(after))
		grown = grown || a || b
		return nil
	})
	if err != nil || !grown {
		return err
	}
	return writeJSON(r.hadFile(workspace), h)
}

// Commanding lists what a checkout would bring into a workspace that commands
// agents or tools and that it has not had. The first workspace of a copy begins
// with what the server's own folder stands on, which its owner chose; another one
// beside it has had what the first has.
func (r *Replica) Commanding(ctx context.Context, s repo.Store, workspace string, from repo.MergedTree, to *repo.Commit) ([]Held, error) {
	h := had{}
	begun, err := readJSON(r.hadFile(workspace), &h)
	if err == nil && !begun {
		begun, err = readJSON(r.hadFile(r.First), &h)
	}
	if err != nil {
		return nil, err
	}
	m, opened, err := r.commandingIn(ctx, s, workspace, from, to.Tree)
	if err != nil {
		return nil, err
	}
	var held []Held
	grown := !begun
	look := func(p repo.Path, before, after repo.Merge[repo.TreeValue]) error {
		grown = h.add(p, keyOf(before)) || grown
		key := keyOf(after)
		if !begun {
			h.add(p, key)
		}
		if slices.Contains(h[p], key) {
			return nil
		}
		x, err := hold(ctx, s, p, before, after, to)
		if err == nil {
			x.key = key
			held = append(held, x)
		}
		return err
	}
	if err := repo.DiffTrees(ctx, s, from, to.Tree, m, look); err != nil {
		return held, err
	}
	// What a new link leads to commands from now on, though nobody changed it.
	if len(opened) > 0 {
		shown := map[repo.Path]bool{}
		for _, x := range held {
			shown[x.Path] = true
		}
		err := repo.DiffTrees(ctx, s, repo.EmptyTree(), to.Tree, repo.Prefixes(opened),
			func(p repo.Path, before, after repo.Merge[repo.TreeValue]) error {
				if shown[p] {
					return nil
				}
				return look(p, before, after)
			})
		if err != nil {
			return held, err
		}
	}
	if !grown {
		return held, nil
	}
	return held, writeJSON(r.hadFile(workspace), h)
}

// maxShown is how much of a change is shown and asked for; of a longer one the
// beginning, and how much is left out.
const maxShown = 16 << 10

func hold(ctx context.Context, s repo.Store, p repo.Path, before, after repo.Merge[repo.TreeValue], to *repo.Commit) (Held, error) {
	x := Held{Path: p, Status: "modified"}
	switch {
	case !repo.IsPresent(before):
		x.Status = "added"
	case !repo.IsPresent(after):
		x.Status = "removed"
	}
	a, err := repo.Content(ctx, s, before, nil)
	if err != nil {
		return x, err
	}
	b, err := repo.Content(ctx, s, after, nil)
	if err != nil {
		return x, err
	}
	if x.Diff = diff.Unified(a, b, 3); len(x.Diff) > maxShown {
		x.Diff = fmt.Sprintf("%s\n(%d bytes more)\n", strings.ToValidUTF8(x.Diff[:maxShown], "?"), len(x.Diff)-maxShown)
	}
	x.Diff = strings.ToValidUTF8(x.Diff, "?")
	x.By, err = bringer(ctx, s, p, keyOf(after), to)
	return x, err
}

// bringer is the author of the oldest commit below to that has a path as it is
// there, as far as the first parents tell.
func bringer(ctx context.Context, s repo.Store, p repo.Path, key string, to *repo.Commit) (string, error) {
	by := to.Author.Email
	for at, n := to, 0; n < 500; n++ {
		v, err := repo.ValueAt(ctx, s, at.Tree, p)
		if err != nil || keyOf(v) != key {
			return by, err
		}
		by = at.Author.Email
		if len(at.Parents) == 0 || at.Parents[0] == repo.RootCommitID {
			return by, nil
		}
		if at, err = s.Commit(ctx, at.Parents[0]); err != nil {
			return by, err
		}
	}
	return by, nil
}

// Admit notes that changes were approved.
func (r *Replica) Admit(workspace string, held []Held) error {
	h := had{}
	if _, err := readJSON(r.hadFile(workspace), &h); err != nil {
		return err
	}
	for _, x := range held {
		h.add(x.Path, x.key)
	}
	return writeJSON(r.hadFile(workspace), h)
}

// Commands lists the files that command agents or tools which a workspace began
// with.
func (r *Replica) Commands() ([]repo.Path, error) {
	h := had{}
	if _, err := readJSON(r.hadFile(r.Workspace), &h); err != nil {
		return nil, err
	}
	maps.DeleteFunc(h, func(_ repo.Path, keys []string) bool {
		return !slices.ContainsFunc(keys, func(k string) bool { return k != "" })
	})
	return slices.Sorted(maps.Keys(h)), nil
}
