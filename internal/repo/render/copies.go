package render

import (
	"bytes"
	"cmp"
	"path"
	"slices"

	"tandem/internal/repo"
)

// maxCopyPairs bounds the comparisons of contents in one diff.
const maxCopyPairs = 1_000_000

// FindCopies guesses which new files came from which old ones: first by equal
// content, then by at least half of it being the same. Like jj with git, it
// looks for sources among the files that were removed or changed.
func FindCopies(s repo.Store, from, to repo.MergedTree) (map[repo.Path]Copy, error) {
	type side struct {
		path repo.Path
		val  repo.TreeValue
	}
	var added, removed, changed []side
	err := repo.DiffTrees(s, from, to, repo.Everything{}, func(p repo.Path, before, after repo.Merge[repo.TreeValue]) error {
		b, okB := before.AsResolved()
		a, okA := after.AsResolved()
		switch {
		case !okA || !okB:
		case b.IsAbsent() && a.IsFile():
			added = append(added, side{p, a})
		case a.IsAbsent() && b.IsFile():
			removed = append(removed, side{p, b})
		case b.IsFile() && a.IsFile():
			changed = append(changed, side{p, a}) // as it is now: so does git's code in jj
		}
		return nil
	})
	if err != nil || len(added) == 0 || len(removed)+len(changed) == 0 {
		return nil, err
	}
	order := func(a, b side) int {
		return cmp.Or(cmp.Compare(a.val.ID, b.val.ID), cmp.Compare(a.path, b.path))
	}
	for _, list := range [][]side{added, removed, changed} {
		slices.SortFunc(list, order)
	}
	out := map[repo.Path]Copy{}
	taken := map[repo.Path]bool{}
	// Each new file takes the best source that is left.
	try := func(sources []side, rename bool, likeness func(r, a side) (float32, error)) error {
		for _, a := range added {
			if _, done := out[a.path]; done {
				continue
			}
			best, at := float32(0), -1
			for i, r := range sources {
				if rename && taken[r.path] {
					continue
				}
				n, err := likeness(r, a)
				if err != nil {
					return err
				}
				named := at >= 0 && n == best && base(r.path) == base(a.path) && base(sources[at].path) != base(a.path)
				if n > best || n > 0 && named {
					best, at = n, i
				}
			}
			if at >= 0 {
				r := sources[at]
				out[a.path] = Copy{r.path, rename}
				taken[r.path] = taken[r.path] || rename
			}
		}
		return nil
	}
	exact := func(r, a side) (float32, error) {
		if r.val.ID == a.val.ID && !emptyBlob(a.val) {
			return 1, nil
		}
		return 0, nil
	}
	pairs := 0
	near := func(r, a side) (float32, error) {
		if pairs++; pairs > maxCopyPairs {
			return 0, nil
		}
		x, err := s.File(r.val.FileID())
		if err != nil {
			return 0, err
		}
		y, err := s.File(a.val.FileID())
		if err != nil {
			return 0, err
		}
		return similar(x, y), nil
	}
	for _, step := range []struct {
		sources  []side
		rename   bool
		likeness func(a, b side) (float32, error)
	}{{removed, true, exact}, {removed, true, near}, {changed, false, exact}, {changed, false, near}} {
		if err := try(step.sources, step.rename, step.likeness); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// CopiesBetween looks for copies from each of some trees to each of others, as
// of merges and ranges. A file with more than one origin has none. shown is the
// tree that says whether an origin is still there. Of a tree in conflict its
// first side counts, as for git.
func CopiesBetween(s repo.Store, from, to []repo.MergedTree, shown repo.MergedTree) (map[repo.Path]Copy, error) {
	if len(from) == 1 && len(to) == 1 {
		return FindCopies(s, from[0], to[0])
	}
	first := func(t repo.MergedTree) repo.MergedTree { return repo.MergedTree{IDs: repo.Resolved(t.IDs.First())} }
	out := map[repo.Path]Copy{}
	unclear := map[repo.Path]bool{}
	for _, a := range from {
		for _, b := range to {
			found, err := FindCopies(s, first(a), first(b))
			if err != nil {
				return nil, err
			}
			for p, c := range found {
				if old, ok := out[p]; ok && old.From != c.From {
					unclear[p] = true
				}
				out[p] = c
			}
		}
	}
	for p, c := range out {
		v, err := repo.ValueAt(s, shown, c.From)
		if err != nil {
			return nil, err
		}
		there, resolved := v.AsResolved()
		c.Rename = resolved && (there.IsAbsent() || there.IsTree())
		out[p] = c
		if unclear[p] {
			delete(out, p)
		}
	}
	return out, nil
}

func base(p repo.Path) string { return path.Base(string(p)) }

const emptyBlobID = "\xe6\x9d\xe2\x9b\xb2\xd1\xd6\x43\x4b\x8b\x29\xae\x77\x5a\xd8\xc2\xe4\x8c\x53\x91"

func emptyBlob(v repo.TreeValue) bool { return v.ID == emptyBlobID }

// similar is the part of the longer text that is kept, or 0 when that is less
// than half.
func similar(x, y []byte) float32 {
	longest := max(len(x), len(y))
	if longest == 0 || bytes.IndexByte(x[:min(len(x), 8000)], 0) >= 0 || bytes.IndexByte(y[:min(len(y), 8000)], 0) >= 0 {
		return 0
	}
	if 2*min(len(x), len(y)) < longest {
		return 0
	}
	removed := 0
	for _, p := range byLine(func(t []byte) string { return string(t) }, x, y) {
		if !p.same {
			removed += len(p.left)
		}
	}
	if n := float32(len(x)-removed) / float32(longest); n >= 0.5 {
		return n
	}
	return 0
}
