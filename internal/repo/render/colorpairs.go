package render

import (
	"bytes"
	"fmt"
	"slices"

	"tandem/internal/repo"
	"tandem/internal/repo/diff"
)

// pairs writes a file of which a side is in conflict: where the sides differ,
// term by term instead of with markers.
func (w *words) pairs(left, right content) {
	lefts, rights := left.merged(), right.merged()
	var same part // stretches that did not change follow each other
	pending, emitted := false, false
	flush := func(before int) {
		after := 0
		if emitted {
			after = w.d.Opts.Context
		}
		if pending {
			w.context(&same, after, before)
		}
		same, pending = part{}, false
	}
	for _, h := range diff.New(diff.Lines, w.d.compare(), append(slices.Clone(lefts), rights...)...).Hunks() {
		l, r := terms(h.Contents[:len(lefts)]), terms(h.Contents[len(lefts):])
		if h.Matching || len(lefts)+len(rights) > 2 && slices.EqualFunc(l, r, bytes.Equal) {
			same.left, same.right = append(same.left, l[0]...), append(same.right, r[0]...)
			pending = true
			continue
		}
		flush(w.d.Opts.Context)
		emitted = true
		if len(l) == 1 && len(r) == 1 {
			w.lines(l[0], r[0])
		} else {
			w.termByTerm(l, r)
		}
	}
	flush(0)
}

// merged is a content as terms, those of a conflict merged where they can be.
func (c content) merged() [][]byte {
	if len(c.terms) == 0 {
		return [][]byte{c.data}
	}
	hunks := repo.MergeFiles(c.terms)
	if data, ok := hunks.Resolved(); ok {
		return [][]byte{data}
	}
	out := make([][]byte, len(c.terms))
	for _, h := range hunks {
		for i := range out {
			if h.IsResolved() {
				out[i] = append(out[i], h[0]...)
			} else {
				out[i] = append(out[i], h[i]...)
			}
		}
	}
	return out
}

// terms is one content where all are the same.
func terms(all [][]byte) [][]byte {
	for _, t := range all[1:] {
		if !bytes.Equal(t, all[0]) {
			return all
		}
	}
	return all[:1]
}

func (w *words) termByTerm(l, r [][]byte) {
	what := "Modified conflict"
	if len(l) == 1 {
		what = "Created conflict"
	} else if len(r) == 1 {
		what = "Resolved conflict"
	}
	w.o.Label("hunk_header", "<<<<<<< "+what+"\n")
	at := func(list [][]byte, i int) (string, []byte) {
		if i >= len(list) {
			i = 0
		}
		name := "side"
		if i%2 == 1 {
			name = "base"
		}
		return fmt.Sprintf("%s #%d", name, i/2+1), list[i]
	}
	left, right := w.left, w.right
	endLeft, endRight := left, right
	for i := range max(len(l), len(r)) {
		ln, lc := at(l, i)
		rn, rc := at(r, i)
		mark := "+++++++"
		if i%2 == 1 {
			mark = "-------"
			w.minus, w.plus = w.plus, w.minus
		}
		w.o.Label("hunk_header", fmt.Sprintf("%s left %s to right %s\n", mark, ln, rn))
		w.left, w.right = left, right
		w.resolved(lc, rc)
		endLeft, endRight = max(endLeft, w.left), max(endRight, w.right)
		if i%2 == 1 {
			w.minus, w.plus = w.plus, w.minus
		}
	}
	w.left, w.right = endLeft, endRight
	w.o.Label("hunk_header", ">>>>>>> Conflict ends\n")
}
