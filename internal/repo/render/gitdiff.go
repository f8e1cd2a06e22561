package render

import (
	"context"
	"fmt"

	"tandem/internal/repo/diff"
	"tandem/internal/repo/text"
)

// Git writes the diff in git's format.
func (d *Diff) Git(ctx context.Context, o *text.Text) error {
	es, err := d.Entries(ctx)
	if err != nil {
		return err
	}
	a, b := "a/", "b/"
	if d.Opts.NoPrefix {
		a, b = "", ""
	}
	for _, e := range es {
		left, err := d.read(ctx, e.Before, d.From.Labels)
		if err != nil {
			return err
		}
		right, err := d.read(ctx, e.After, d.To.Labels)
		if err != nil {
			return err
		}
		lp, rp := a+string(e.Source()), b+string(e.Path)
		o.Push("file_header")
		o.Printf("diff --git %s %s\n", lp, rp)
		gitHeader(o, e, left, right)
		o.Pop()
		if left.same(right) {
			continue
		}
		if !left.present() {
			lp = "/dev/null"
		}
		if !right.present() {
			rp = "/dev/null"
		}
		if left.binary || right.binary {
			o.Printf("Binary files %s and %s differ\n", lp, rp)
			continue
		}
		o.Label("file_header", "--- "+lp+"\n")
		o.Label("file_header", "+++ "+rp+"\n")
		Unified(o, left.data, right.data, d.Opts.Context, d.compare())
	}
	return nil
}

func gitHash(c content) string {
	if c.id == "" {
		return "0000000000"
	}
	return c.id[:10]
}

func gitHeader(o *text.Text, e Entry, left, right content) {
	lh, rh := gitHash(left), gitHash(right)
	switch {
	case !left.present():
		o.Printf("new file mode %s\nindex %s..%s\n", right.mode, lh, rh)
	case !right.present():
		o.Printf("deleted file mode %s\nindex %s..%s\n", left.mode, lh, rh)
	default:
		if e.From != "" {
			word := "copy"
			if e.Rename {
				word = "rename"
			}
			o.Printf("%s from %s\n%s to %s\n", word, e.From, word, e.Path)
		}
		switch {
		case left.mode != right.mode:
			o.Printf("old mode %s\nnew mode %s\n", left.mode, right.mode)
			if lh != rh {
				o.Printf("index %s..%s\n", lh, rh)
			}
		case lh != rh:
			o.Printf("index %s..%s %s\n", lh, rh, left.mode)
		}
	}
}

type hunkLine struct {
	kind   byte // ' ', '-' or '+'
	tokens []token
}

type hunk struct {
	left, right   int // first line, from 0
	nLeft, nRight int
	lines         []hunkLine
}

func (h *hunk) add(kind byte, tokens []token) {
	h.lines = append(h.lines, hunkLine{kind, tokens})
	if kind != '+' {
		h.nLeft++
	}
	if kind != '-' {
		h.nRight++
	}
}

// Unified writes hunks with lines of context around changes.
func Unified(o *text.Text, left, right []byte, context int, compare diff.Compare) {
	for _, h := range hunks(left, right, context, compare) {
		first := func(start, n int) int {
			if n == 0 {
				return start
			}
			return start + 1
		}
		o.Label("hunk_header", fmt.Sprintf("@@ -%d,%d +%d,%d @@\n", first(h.left, h.nLeft), h.nLeft, first(h.right, h.nRight), h.nRight))
		for _, l := range h.lines {
			label := map[byte]string{' ': "context", '-': "removed", '+': "added"}[l.kind]
			o.Push(label)
			o.Str(string(l.kind))
			o.Pop()
			o.Push(label)
			for _, t := range l.tokens {
				if t.changed {
					o.Label("token", string(t.data))
				} else {
					o.Write(t.data)
				}
			}
			o.Pop()
			if last := l.tokens[len(l.tokens)-1].data; last[len(last)-1] != '\n' {
				o.Str("\n\\ No newline at end of file\n")
			}
		}
	}
}

func hunks(left, right []byte, context int, compare diff.Compare) []hunk {
	var out []hunk
	cur := hunk{}
	ps := byLine(compare, left, right)
	for i, p := range ps {
		if !p.same {
			l, r := unzip(byWord(p.left, p.right))
			for _, t := range l {
				cur.add('-', t)
			}
			for _, t := range r {
				cur.add('+', t)
			}
			continue
		}
		lines := splitKeep(p.right)
		if len(cur.lines) > 0 {
			n := min(context, len(lines))
			for _, l := range lines[:n] {
				cur.add(' ', []token{{false, l}})
			}
			lines = lines[n:]
		}
		before := 0
		if i < len(ps)-1 {
			before = min(context, len(lines))
		}
		if skip := len(lines) - before; skip > 0 {
			next := hunk{left: cur.left + cur.nLeft + skip, right: cur.right + cur.nRight + skip}
			if len(cur.lines) > 0 {
				out = append(out, cur)
			}
			cur = next
		}
		for _, l := range lines[len(lines)-before:] {
			cur.add(' ', []token{{false, l}})
		}
	}
	if len(cur.lines) > 0 {
		out = append(out, cur)
	}
	return out
}

// UnifiedText writes the difference of two texts as hunks.
func (d *Diff) UnifiedText(o *text.Text, left, right []byte) {
	Unified(o, left, right, d.Opts.Context, d.compare())
}

// WordsText writes the difference of two texts with line numbers.
func (d *Diff) WordsText(o *text.Text, left, right []byte) {
	d.colorHunks(o, content{data: left}, content{data: right})
}
