package render

import (
	"bytes"
	"context"
	"strings"

	"tandem/internal/repo/text"
)

// ColorWords writes both sides with line numbers; changed words are marked by
// colour when there is colour.
func (d *Diff) ColorWords(ctx context.Context, o *text.Text) error {
	es, err := d.Entries(ctx)
	if err != nil {
		return err
	}
	for _, e := range es {
		if err := d.colorEntry(ctx, o, e); err != nil {
			return err
		}
	}
	return nil
}

func (c content) typeName() string {
	if c.conflict {
		return "conflict"
	}
	return c.kind
}

func (d *Diff) colorEntry(ctx context.Context, o *text.Text, e Entry) error {
	left, err := d.read(ctx, e.Before, d.From.Labels)
	if err != nil {
		return err
	}
	right, err := d.read(ctx, e.After, d.To.Labels)
	if err != nil {
		return err
	}
	shown := d.Paths.Format(e.Path)
	switch {
	case !left.present():
		o.Label("header", "Added "+right.typeName()+" "+shown+":\n")
		d.oneSided(o, right, content{}, right)
	case !right.present():
		o.Label("header", "Removed "+left.typeName()+" "+shown+":\n")
		d.oneSided(o, left, left, content{})
	default:
		title := describeChange(left, right) + " " + shown
		if e.From != "" {
			title += " (" + d.Paths.Format(e.From) + " => " + shown + ")"
		}
		o.Label("header", title+":\n")
		if left.binary || right.binary {
			o.Label("binary", "    (binary)\n")
		} else if !left.same(right) {
			d.colorHunks(o, left, right)
		}
	}
	return nil
}

func (d *Diff) oneSided(o *text.Text, c, left, right content) {
	switch {
	case len(c.data) == 0:
		o.Label("empty", "    (empty)\n")
	case c.binary:
		o.Label("binary", "    (binary)\n")
	default:
		d.colorHunks(o, left, right)
	}
}

func describeChange(l, r content) string {
	file := func(c content) bool { return c.kind == "regular file" || c.kind == "executable file" }
	switch {
	case l.conflict && r.conflict:
		return "Modified conflict in"
	case l.conflict:
		return "Resolved conflict in"
	case r.conflict:
		return "Created conflict in"
	case file(l) && file(r):
		switch lx, rx := l.mode == "100755", r.mode == "100755"; {
		case lx && rx:
			return "Modified executable file"
		case lx:
			return "Executable file became non-executable at"
		case rx:
			return "Non-executable file became executable at"
		}
		return "Modified regular file"
	case l.kind == "symlink" && r.kind == "symlink":
		return "Symlink target changed at"
	}
	return strings.ToUpper(l.kind[:1]) + l.kind[1:] + " became " + r.kind + " at"
}

// words writes the hunks of one file.
type words struct {
	d           *Diff
	o           *text.Text
	left, right int // next line numbers
	minus, plus string
}

func (d *Diff) colorHunks(o *text.Text, left, right content) {
	w := &words{d: d, o: o, left: 1, right: 1, minus: "removed", plus: "added"}
	if d.Opts.Pairs && (len(left.terms) > 0 || len(right.terms) > 0) {
		w.pairs(left, right)
		return
	}
	w.resolved(left.data, right.data)
}

func (w *words) resolved(left, right []byte) {
	var context *part
	emitted := false
	after := func() int {
		if emitted {
			return w.d.Opts.Context
		}
		return 0
	}
	for _, p := range byLine(w.d.compare(), left, right) {
		if p.same {
			context = &p
			continue
		}
		w.context(context, after(), w.d.Opts.Context)
		context, emitted = nil, true
		w.lines(p.left, p.right)
	}
	w.context(context, after(), 0)
}

// context writes the first and last lines of a stretch that did not change.
func (w *words) context(p *part, after, before int) {
	if p == nil {
		return
	}
	l, r := splitKeep(p.left), splitKeep(p.right)
	cut := func(lines [][]byte) (head, tail [][]byte, skipped int) {
		n := min(after, len(lines))
		head, lines = lines[:n], lines[n:]
		m := min(before+1, len(lines))
		return head, lines[len(lines)-m:], len(lines) - m
	}
	lh, lt, ls := cut(l)
	rh, rt, rs := cut(r)
	w.o.Push("context")
	w.both(lh, rh)
	w.o.Pop()
	if ls > 0 || rs > 0 {
		w.o.Str("    ...\n")
		w.left, w.right = w.left+ls, w.right+rs
		if len(lt) > before {
			lt = lt[1:]
			w.left++
		}
		if len(rt) > before {
			rt = rt[1:]
			w.right++
		}
	}
	w.o.Push("context")
	w.both(lt, rt)
	w.o.Pop()
}

func (w *words) both(l, r [][]byte) {
	if !equalLines(l, r) {
		w.lines(bytes.Join(l, nil), bytes.Join(r, nil))
		return
	}
	for _, line := range l {
		w.number(w.left, w.right)
		w.o.Write(line)
		w.finish(line)
		w.left, w.right = w.left+1, w.right+1
	}
}

func equalLines(a, b [][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func (w *words) finish(data []byte) {
	if len(data) == 0 || data[len(data)-1] != '\n' {
		w.o.Str("\n")
	}
}

// number writes the gutter; 0 leaves a side blank.
func (w *words) number(left, right int) {
	if left > 0 {
		w.o.Push(w.minus)
		w.o.Push("line_number")
		w.o.Printf("%4d", left)
		w.o.PopN(2)
		w.o.Str(" ")
	} else {
		w.o.Str("     ")
	}
	if right > 0 {
		w.o.Push(w.plus)
		w.o.Push("line_number")
		w.o.Printf("%4d", right)
		w.o.PopN(2)
		w.o.Str(": ")
	} else {
		w.o.Str("    : ")
	}
}

// lines writes a stretch that changed: in place when there is colour and the
// words do not alternate too often, else one side after the other.
func (w *words) lines(left, right []byte) {
	ps := byWord(left, right)
	limit := w.d.Opts.MaxAlternation
	if w.o.Colour && limit != 0 && (limit < 0 || alternation(ps) <= limit) {
		w.inline(ps)
		return
	}
	l, r := unzip(ps)
	for _, line := range l {
		w.number(w.left, 0)
		w.sided(line, w.minus)
		w.left++
	}
	for _, line := range r {
		w.number(0, w.right)
		w.sided(line, w.plus)
		w.right++
	}
}

func (w *words) sided(line []token, label string) {
	w.o.Push(label)
	for _, t := range line {
		if t.changed {
			w.o.Label("token", string(t.data))
		} else {
			w.o.Write(t.data)
		}
	}
	w.o.Pop()
	w.finish(line[len(line)-1].data)
}

// alternation counts how often removed and added words follow each other, in
// the worst of the stretches between unchanged line ends.
func alternation(ps []part) int {
	worst, n, last := 0, 0, 0
	step := func(side int) {
		if side != last {
			n++
			last = side
		}
	}
	for _, p := range ps {
		if p.same {
			if bytes.IndexByte(p.left, '\n') >= 0 {
				worst = max(worst, n)
				n, last = 0, 0
			}
			continue
		}
		if len(p.left) > 0 {
			step(1)
		}
		if len(p.right) > 0 {
			step(2)
		}
	}
	return max(worst, n)
}

// inline writes removed, added and common words in one line.
func (w *words) inline(ps []part) {
	type piece struct {
		side int // 0 both, 1 left, 2 right
		data []byte
	}
	var line []piece
	hasLeft, hasRight := false, false
	flush := func() {
		if len(line) == 0 {
			return
		}
		l, r := 0, 0
		if hasLeft {
			l = w.left
		}
		if hasRight {
			r = w.right
		}
		w.number(l, r)
		for _, p := range line {
			switch p.side {
			case 1:
				w.o.Push(w.minus)
				w.o.Label("token", string(p.data))
				w.o.Pop()
			case 2:
				w.o.Push(w.plus)
				w.o.Label("token", string(p.data))
				w.o.Pop()
			default:
				w.o.Write(p.data)
			}
		}
		w.finish(line[len(line)-1].data)
		line, hasLeft, hasRight = nil, false, false
	}
	add := func(side int, data []byte) {
		for _, t := range splitKeep(data) {
			line = append(line, piece{side, t})
			hasLeft = hasLeft || side != 2
			hasRight = hasRight || side != 1
			if t[len(t)-1] == '\n' {
				l, r := hasLeft && side != 2, hasRight && side != 1
				flush()
				if l {
					w.left++
				}
				if r {
					w.right++
				}
			}
		}
	}
	for _, p := range ps {
		if p.same {
			add(0, p.left)
			continue
		}
		add(1, p.left)
		add(2, p.right)
	}
	if len(line) > 0 {
		l, r := hasLeft, hasRight
		flush()
		if l {
			w.left++
		}
		if r {
			w.right++
		}
	}
}
