package pdf

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// piece is words on one baseline that stand together.
type piece struct {
	left, right, y, size float64
	text                 string
}

// top and bottom are about where its letters end.
func (p piece) top() float64    { return p.y + 0.8*p.size }
func (p piece) bottom() float64 { return p.y - 0.2*p.size }

// slack is how far, in sizes, something may stand below another on the same line: an index does.
const slack = 0.4

// pieces joins glyphs to words, and words that stand near each other. A gap of a fifth of the size is a blank, one of more than the size a
// border: of columns, or of cells.
func pieces(marks []mark) []piece {
	slices.SortStableFunc(marks, func(a, b mark) int { return cmp.Compare(b.y, a.y) })
	var out []piece
	for begin := 0; begin < len(marks); {
		end := begin + 1
		for end < len(marks) && marks[begin].y-marks[end].y <= slack*max(marks[end].size, marks[begin].size) {
			end++
		}
		line := marks[begin:end]
		slices.SortStableFunc(line, func(a, b mark) int { return cmp.Compare(a.x, b.x) })
		out = append(out, together(line)...)
		begin = end
	}
	return out
}

func together(line []mark) []piece {
	var out []piece
	var b strings.Builder
	var now piece
	flush := func() {
		if now.text = strings.TrimSpace(b.String()); now.text != "" {
			out = append(out, now)
		}
		b.Reset()
	}
	var last mark
	for i, m := range line {
		gap := m.x - now.right
		switch {
		case i == 0:
			now = piece{left: m.x, y: m.y, size: m.size}
		case m.text == last.text && math.Abs(m.x-last.x) < 0.1*m.size: // drawn twice to look bold
			continue
		case gap > 1.2*m.size && strings.TrimSpace(m.text) != "":
			flush()
			now = piece{left: m.x, y: m.y, size: m.size}
		case gap > 0.18*m.size && !strings.HasSuffix(b.String(), " ") && m.text != " ":
			b.WriteByte(' ')
		}
		b.WriteString(m.text)
		if strings.TrimSpace(m.text) != "" || i == 0 {
			now.right = max(now.right, m.x+m.width)
		}
		if now.right < now.left {
			now.right = m.x + m.width
		}
		now.size = max(now.size, m.size)
		last = m
	}
	flush()
	return out
}

// read puts pieces into lines, in reading order: a page is cut at white stripes, into columns where there are such, else into what is
// above and what is below.
func read(all []piece, depth int) []string {
	if len(all) == 0 {
		return nil
	}
	if depth == deepest {
		return lines(all)
	}
	left, right, gutter := columns(all)
	above, below, white := rows(all)
	switch {
	case gutter > 0 && white < 1.5*gutter: // white of twice that is around a head or a foot, and belongs to both columns
		return append(append(read(left, depth+1), ""), read(right, depth+1)...)
	case white > 0:
		return append(append(read(above, depth+1), ""), read(below, depth+1)...)
	}
	return lines(all)
}

// deepest is how often a page is cut.
const deepest = 40

// columns cuts at the widest stripe from top to bottom that has long lines on both sides. Short ones are cells of a table, whose rows are
// not to be torn.
func columns(all []piece) (left, right []piece, gutter float64) {
	const few, long = 3, 18
	if len(all) < 2*few {
		return nil, nil, 0
	}
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b piece) int { return cmp.Compare(a.left, b.left) })
	reach, best, at := sorted[0].right, 0.0, 0.0
	for _, p := range sorted[1:] {
		if gap := p.left - reach; gap > best && gap > 0.8*p.size {
			best, at = gap, p.left
		}
		reach = max(reach, p.right)
	}
	if best == 0 {
		return nil, nil, 0
	}
	for _, p := range all {
		if p.left < at {
			left = append(left, p)
		} else {
			right = append(right, p)
		}
	}
	if usual(left) < long || usual(right) < long || len(left) < few || len(right) < few {
		return nil, nil, 0
	}
	return left, right, best
}

// usual is how many letters the middle one of some pieces has.
func usual(ps []piece) int {
	if len(ps) == 0 {
		return 0
	}
	n := make([]int, len(ps))
	for i, p := range ps {
		n[i] = utf8.RuneCountInString(p.text)
	}
	slices.Sort(n)
	return n[len(n)/2]
}

// rows cuts at the widest stripe from left to right that is wider than the space between lines.
func rows(all []piece) (above, below []piece, white float64) {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b piece) int { return cmp.Compare(b.top(), a.top()) })
	reach, best, at := sorted[0].bottom(), 0.0, 0
	for i, p := range sorted[1:] {
		if gap := reach - p.top(); gap > best && gap > 0.5*p.size {
			best, at = gap, i+1
		}
		reach = min(reach, p.bottom())
	}
	return sorted[:at], sorted[at:], best
}

// lines are pieces in one column, those of one baseline side by side.
func lines(all []piece) []string {
	slices.SortStableFunc(all, func(a, b piece) int { return cmp.Compare(b.y, a.y) })
	var out []string
	for begin := 0; begin < len(all); {
		end := begin + 1
		for end < len(all) && all[begin].y-all[end].y <= slack*max(all[end].size, all[begin].size) {
			end++
		}
		row := all[begin:end]
		slices.SortStableFunc(row, func(a, b piece) int { return cmp.Compare(a.left, b.left) })
		texts := make([]string, len(row))
		for i, p := range row {
			texts[i] = p.text
		}
		out = append(out, strings.Join(texts, "  "))
		begin = end
	}
	return out
}

// ligatures are letters that are drawn as one.
var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st",
	"\u00ad", "-", "\u00a0", " ")

// flow joins lines to text. A word that is broken at the end of a line is put together again.
func flow(lines []string) string {
	var b strings.Builder
	for i, line := range lines {
		line = ligatures.Replace(line)
		if i+1 < len(lines) && broken(line, lines[i+1]) {
			b.WriteString(strings.TrimRight(line, "-‐"))
			continue
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

func broken(line, next string) bool {
	stem := strings.TrimRight(line, "-‐")
	if stem == line {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(stem)
	after, _ := utf8.DecodeRuneInString(next)
	return unicode.IsLower(before) && unicode.IsLower(after)
}
