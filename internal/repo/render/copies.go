package render

import (
	"bytes"

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
			changed = append(changed, side{p, b})
		}
		return nil
	})
	if err != nil || len(added) == 0 || len(removed)+len(changed) == 0 {
		return nil, err
	}
	out := map[repo.Path]Copy{}
	taken := map[repo.Path]bool{}
	try := func(sources []side, rename bool, same func(a, b side) (bool, error)) error {
		for _, a := range added {
			if _, done := out[a.path]; done {
				continue
			}
			for _, r := range sources {
				if rename && taken[r.path] {
					continue
				}
				ok, err := same(r, a)
				if err != nil {
					return err
				}
				if ok {
					out[a.path] = Copy{r.path, rename}
					taken[r.path] = taken[r.path] || rename
					break
				}
			}
		}
		return nil
	}
	exact := func(r, a side) (bool, error) { return r.val.ID == a.val.ID && !emptyBlob(a.val), nil }
	pairs := 0
	near := func(r, a side) (bool, error) {
		if pairs++; pairs > maxCopyPairs {
			return false, nil
		}
		x, err := s.File(r.val.FileID())
		if err != nil {
			return false, err
		}
		y, err := s.File(a.val.FileID())
		if err != nil {
			return false, err
		}
		return similar(x, y), nil
	}
	for _, step := range []struct {
		sources []side
		rename  bool
		same    func(a, b side) (bool, error)
	}{{removed, true, exact}, {removed, true, near}, {changed, false, exact}, {changed, false, near}} {
		if err := try(step.sources, step.rename, step.same); err != nil {
			return nil, err
		}
	}
	return out, nil
}

const emptyBlobID = "\xe6\x9d\xe2\x9b\xb2\xd1\xd6\x43\x4b\x8b\x29\xae\x77\x5a\xd8\xc2\xe4\x8c\x53\x91"

func emptyBlob(v repo.TreeValue) bool { return v.ID == emptyBlobID }

// similar says whether at least half of the longer text is kept.
func similar(x, y []byte) bool {
	longest := max(len(x), len(y))
	if longest == 0 || bytes.IndexByte(x[:min(len(x), 8000)], 0) >= 0 || bytes.IndexByte(y[:min(len(y), 8000)], 0) >= 0 {
		return false
	}
	if 2*min(len(x), len(y)) < longest {
		return false
	}
	removed := 0
	for _, p := range byLine(func(t []byte) string { return string(t) }, x, y) {
		if !p.same {
			removed += len(p.left)
		}
	}
	return 2*(len(x)-removed) >= longest
}
