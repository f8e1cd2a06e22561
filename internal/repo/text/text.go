package text

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Text is output with labels: what templates and diffs are written to before
// colours are known.
type Text struct {
	data []byte
	ops  []mark
	// Colour says whether the output will be coloured: labels are kept only then,
	// and hyperlinks ask.
	Colour bool
	// Strict makes Fail return the error instead of printing it in place.
	Strict bool
}

// mark is a change of labels before the byte at pos: a push, a pop (empty
// label) or, when raw is set, bytes that belong to no label.
type mark struct {
	pos   int
	label string
	raw   bool
}

// Sub makes an empty text that inherits how t treats colours and errors.
func (t *Text) Sub() *Text { return &Text{Colour: t.Colour, Strict: t.Strict} }

// Attempt lets f write, and takes back what it wrote when that is no text. It
// reports whether there was any.
func (t *Text) Attempt(f func(*Text) error) (wrote bool, err error) {
	data, ops := len(t.data), len(t.ops)
	if err := f(t); err != nil {
		return false, err
	}
	if len(t.data) > data {
		return true, nil
	}
	t.ops = t.ops[:ops]
	return false, nil
}

// Reset empties the text, to be written again.
func (t *Text) Reset() { t.data, t.ops = t.data[:0], t.ops[:0] }

// Write appends bytes.
func (t *Text) Write(b []byte) (int, error) {
	t.data = append(t.data, b...)
	return len(b), nil
}

// Str appends a string.
func (t *Text) Str(s string) { t.data = append(t.data, s...) }

// Printf appends formatted text.
func (t *Text) Printf(format string, args ...any) { fmt.Fprintf(t, format, args...) }

// Push starts a label.
func (t *Text) Push(label string) {
	if t.Colour {
		t.ops = append(t.ops, mark{pos: len(t.data), label: label})
	}
}

// Pop ends the innermost label.
func (t *Text) Pop() {
	if t.Colour {
		t.ops = append(t.ops, mark{pos: len(t.data)})
	}
}

// Raw appends bytes that must not be cut or coloured, such as escapes.
func (t *Text) Raw(s string) {
	t.ops = append(t.ops, mark{pos: len(t.data), label: s, raw: true})
}

// Label appends s inside labels separated by spaces.
func (t *Text) Label(labels, s string) {
	n := t.PushAll(labels)
	t.Str(s)
	t.PopN(n)
}

// PushAll starts every label of a space-separated list and returns how many.
func (t *Text) PushAll(labels string) int {
	if !t.Colour {
		return 0
	}
	fs := strings.Fields(labels)
	for _, f := range fs {
		t.Push(f)
	}
	return len(fs)
}

// PopN ends n labels.
func (t *Text) PopN(n int) {
	if !t.Colour {
		return
	}
	for range n {
		t.Pop()
	}
}

// Len is the number of bytes of text.
func (t *Text) Len() int { return len(t.data) }

// Bytes is the text without labels.
func (t *Text) Bytes() []byte { return t.data }

// String is the text without labels.
func (t *Text) String() string { return string(t.data) }

// Append adds another text with its labels.
func (t *Text) Append(o *Text) {
	base := len(t.data)
	t.data = append(t.data, o.data...)
	for _, m := range o.ops {
		m.pos += base
		t.ops = append(t.ops, m)
	}
}

// Pieces calls f for each run of bytes between label changes, after applying
// those changes to dst.
func (t *Text) Pieces(dst *Text, f func(from, to int)) {
	from := 0
	for _, m := range t.ops {
		if m.pos > from {
			f(from, m.pos)
			from = m.pos
		}
		switch {
		case m.raw:
			dst.Raw(m.label)
		case m.label != "":
			dst.Push(m.label)
		default:
			dst.Pop()
		}
	}
	if from < len(t.data) {
		f(from, len(t.data))
	}
}

// Fail prints an evaluation error in place, or returns it when strict.
func (t *Text) Fail(err error) error {
	if t.Strict {
		return err
	}
	t.Push("error")
	t.Str("<")
	t.Label("heading", "Error: ")
	t.Str(err.Error())
	t.Str(">")
	t.Pop()
	return nil
}

// Width is how many columns a string takes on a terminal.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	if r < 0x20 || r == 0x7f {
		return 0
	}
	if r < 0x300 {
		return 1
	}
	switch {
	case r >= 0x300 && r <= 0x36f, r >= 0x200b && r <= 0x200f, r >= 0xfe00 && r <= 0xfe0f, r >= 0x20d0 && r <= 0x20ff:
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Indent writes t into dst with a prefix before each line that is not empty.
func (t *Text) Indent(dst *Text, prefix func(*Text) error) error {
	fresh := true
	var failed error
	t.Pieces(dst, func(from, to int) {
		for from < to {
			end := to
			if i := bytes.IndexByte(t.data[from:to], '\n'); i >= 0 {
				end = from + i + 1
			}
			line := t.data[from:end]
			if fresh && !(len(line) == 1 && line[0] == '\n') {
				if err := prefix(dst); err != nil && failed == nil {
					failed = err
				}
			}
			dst.Write(line)
			fresh = line[len(line)-1] == '\n'
			from = end
		}
	})
	return failed
}

// cutEnd returns how many bytes of s fit into w columns, and their width.
func cutEnd(s string, w int) (int, int) {
	acc := 0
	for i, r := range s {
		n := acc + runeWidth(r)
		if n > w {
			return i, acc
		}
		acc = n
	}
	return len(s), acc
}

// cutStart returns where the longest tail of s within w columns begins.
func cutStart(s string, w int) (int, int) {
	acc := 0
	for i := len(s); i > 0; {
		r, n := utf8.DecodeLastRuneInString(s[:i])
		next := acc + runeWidth(r)
		if next > w {
			return i, acc
		}
		acc = next
		i -= n
	}
	return 0, acc
}

func skipZero(s string) int {
	for i, r := range s {
		if runeWidth(r) != 0 {
			return i
		}
	}
	return len(s)
}

// Slice writes the bytes from..to of t with their labels.
func (t *Text) Slice(dst *Text, lo, hi int) {
	t.Pieces(dst, func(from, to int) {
		from, to = max(from, lo), min(to, hi)
		if from < to {
			dst.Write(t.data[from:to])
		}
	})
}

// TruncateEnd writes at most w columns of t, ending in the ellipsis when cut.
func (t *Text) TruncateEnd(dst, ellipsis *Text, w int) {
	s := t.String()
	if Width(s) <= w {
		dst.Append(t)
		return
	}
	end, _ := cutEnd(s, max(0, w-Width(ellipsis.String())))
	t.Slice(dst, 0, end)
	e, _ := cutEnd(ellipsis.String(), w)
	ellipsis.Slice(dst, 0, e)
}

// TruncateStart writes at most the last w columns of t after the ellipsis.
func (t *Text) TruncateStart(dst, ellipsis *Text, w int) {
	s := t.String()
	if Width(s) <= w {
		dst.Append(t)
		return
	}
	start, _ := cutStart(s, max(0, w-Width(ellipsis.String())))
	es := ellipsis.String()
	e, _ := cutStart(es, w)
	ellipsis.Slice(dst, e+skipZero(es[e:]), len(es))
	t.Slice(dst, start+skipZero(s[start:]), len(s))
}

// Pad writes t with fill before and after so that it is w columns wide; left
// and right say which side takes the padding (both: centred).
func (t *Text) Pad(dst, fill *Text, w int, left, right bool) {
	n := max(0, w-Width(t.String()))
	before, after := 0, 0
	switch {
	case left && right:
		before = n / 2
		after = n - before
	case left:
		before = n
	default:
		after = n
	}
	put := func(n int) {
		if n > 0 {
			fill.Pieces(dst, func(from, to int) { dst.Write(bytes.Repeat(fill.data[from:to], n)) })
		}
	}
	put(before)
	dst.Append(t)
	put(after)
}

// Elide cuts a string from the start to w columns with an ellipsis.
func Elide(s, ellipsis string, w int) (string, int) {
	start, got := cutStart(s, w)
	if start == 0 {
		return s, got
	}
	ew := Width(ellipsis)
	if es, n := cutStart(ellipsis, w); es != 0 {
		return ellipsis[es+skipZero(ellipsis[es:]):], n
	}
	s = s[start:]
	over := max(0, got-(w-ew))
	skip, skipped := len(s), 0
	acc := 0
	for i, r := range s {
		if acc >= over {
			skip, skipped = i, acc
			break
		}
		acc += runeWidth(r)
		skipped = acc
	}
	s = s[skip:]
	s = s[skipZero(s):]
	return ellipsis + s, ew + got - skipped
}
