package repo

import (
	"bytes"

	"tandem/internal/repo/diff"
)

// FileMerge is what came of merging files: stretches in order, resolved ones
// of a single term and conflicts with as many terms as there were files.
type FileMerge []FileHunk

// FileHunk is one stretch of merged files, terms as in a Merge.
type FileHunk [][]byte

// IsResolved says whether the stretch has no conflict.
func (h FileHunk) IsResolved() bool { return len(h) == 1 }

// MergeFiles merges the terms of a conflict line by line: a stretch in which
// all sides that changed it agree is resolved. Adjacent resolved stretches are
// one.
func MergeFiles(terms [][]byte) FileMerge {
	var out FileMerge
	ours := false // the last stretch is a copy, not a part of a file
	eachMergedHunk(terms, func(h FileHunk) bool {
		if h.IsResolved() && len(out) > 0 && out[len(out)-1].IsResolved() {
			last := out[len(out)-1]
			if !ours {
				last[0], ours = bytes.Clone(last[0]), true
			}
			last[0] = append(last[0], h[0]...)
			return true
		}
		ours = false
		if h.IsResolved() && len(h[0]) == 0 {
			return true
		}
		out = append(out, h)
		return true
	})
	return out
}

// Resolved is the merged content, if there is no conflict in it.
func (m FileMerge) Resolved() ([]byte, bool) {
	if len(m) == 0 {
		return nil, true
	}
	if len(m) == 1 && m[0].IsResolved() {
		return m[0][0], true
	}
	return nil, false
}

// tryMergeFiles merges completely or not at all.
func tryMergeFiles(terms [][]byte) ([]byte, bool) {
	merged := []byte{}
	whole := true
	eachMergedHunk(terms, func(h FileHunk) bool {
		if whole = h.IsResolved(); whole {
			merged = append(merged, h[0]...)
		}
		return whole
	})
	return merged, whole
}

func eachMergedHunk(terms [][]byte, yield func(FileHunk) bool) {
	var removes, adds [][]byte
	for i, t := range terms {
		if i%2 == 1 {
			removes = append(removes, t)
		} else {
			adds = append(adds, t)
		}
	}
	for _, h := range diff.ByLine(append(removes, adds...)...).Hunks() {
		if h.Matching {
			if !yield(FileHunk{h.Contents[0]}) {
				return
			}
			continue
		}
		hunk := make(FileHunk, len(terms))
		for i := range hunk {
			if i%2 == 1 {
				hunk[i] = h.Contents[i/2]
			} else {
				hunk[i] = h.Contents[len(terms)/2+i/2]
			}
		}
		if t, ok := trivialHunk(hunk); ok {
			hunk = FileHunk{t}
		}
		if !yield(hunk) {
			return
		}
	}
}

// trivialHunk resolves a stretch without looking inside it.
func trivialHunk(h FileHunk) ([]byte, bool) {
	if len(h) == 3 {
		switch {
		case bytes.Equal(h[0], h[2]), bytes.Equal(h[2], h[1]):
			return h[0], true
		case bytes.Equal(h[0], h[1]):
			return h[2], true
		}
		return nil, false
	}
	m := make(Merge[string], len(h))
	for i, t := range h {
		m[i] = string(t)
	}
	s, ok := m.Trivial()
	return []byte(s), ok
}
