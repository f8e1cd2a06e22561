package render

import (
	"bytes"

	"tandem/internal/repo/diff"
)

// token is a piece of a line that is the same on both sides or not.
type token struct {
	changed bool
	data    []byte
}

func splitKeep(b []byte) [][]byte {
	var out [][]byte
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			return append(out, b)
		}
		out = append(out, b[:i+1])
		b = b[i+1:]
	}
	return out
}

// part is a stretch of a two-sided diff.
type part struct {
	same        bool
	left, right []byte
}

// parts lists the stretches of a diff with their bytes.
func parts(d *diff.Diff) []part {
	var out []part
	for _, h := range d.Hunks() {
		out = append(out, part{h.Matching, h.Contents[0], h.Contents[1]})
	}
	return out
}

func byLine(compare diff.Compare, left, right []byte) []part {
	return parts(diff.New(diff.Lines, compare, left, right))
}

func byWord(left, right []byte) []part { return parts(diff.ByWord(left, right)) }

// unzip turns a word diff into the lines of either side.
func unzip(ps []part) (left, right [][]token) {
	var l, r []token
	ends := func(b []byte) bool { return b[len(b)-1] == '\n' }
	for _, p := range ps {
		if p.same {
			for _, t := range splitKeep(p.left) {
				l, r = append(l, token{false, t}), append(r, token{false, t})
				if ends(t) {
					left, right = append(left, l), append(right, r)
					l, r = nil, nil
				}
			}
			continue
		}
		for _, t := range splitKeep(p.left) {
			if l = append(l, token{true, t}); ends(t) {
				left, l = append(left, l), nil
			}
		}
		for _, t := range splitKeep(p.right) {
			if r = append(r, token{true, t}); ends(t) {
				right, r = append(right, r), nil
			}
		}
	}
	if len(l) > 0 {
		left = append(left, l)
	}
	if len(r) > 0 {
		right = append(right, r)
	}
	return left, right
}
