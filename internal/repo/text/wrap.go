package text

import "strings"

// wrapBreaks returns the byte ranges of the lines that text takes when it is
// filled to w columns. Breaks fall on spaces, and the line breaks already in
// the text stay.
func wrapBreaks(text string, w int) [][2]int {
	var out [][2]int
	pos := 0
	for _, line := range strings.Split(text, "\n") {
		out = append(out, fillLine(line, pos, w)...)
		pos += len(line) + 1
	}
	return out
}

type word struct{ start, end, next, width int }

func splitWords(line string) []word {
	var ws []word
	i := 0
	for i < len(line) {
		j := i
		for j < len(line) && line[j] != ' ' {
			j++
		}
		k := j
		for k < len(line) && line[k] == ' ' {
			k++
		}
		ws = append(ws, word{i, j, k, Width(line[i:j])})
		i = k
	}
	return ws
}

func fillLine(line string, base, w int) [][2]int {
	ws := splitWords(line)
	if len(ws) == 0 {
		return [][2]int{{base, base}}
	}
	var out [][2]int
	start, width := ws[0].start, 0
	end := ws[0].start
	for i, x := range ws {
		gap := 0
		if i > 0 {
			gap = x.start - ws[i-1].end
		}
		if i > 0 && width+gap+x.width > w {
			out = append(out, [2]int{base + start, base + end})
			start, width, gap = x.start, 0, 0
		}
		width += gap + x.width
		end = x.end
	}
	return append(out, [2]int{base + start, base + end})
}

// Wrap writes t filled to w columns.
func (t *Text) Wrap(dst *Text, w int) {
	ranges := wrapBreaks(t.String(), w)
	cur := 0
	t.Pieces(dst, func(from, to int) {
		for cur < len(ranges) {
			r := ranges[cur]
			lo, hi := max(from, r[0]), min(to, r[1])
			if lo < hi {
				dst.Write(t.data[lo:hi])
			}
			if to <= r[1] {
				break
			}
			if cur+1 < len(ranges) && to > r[1] {
				dst.Str("\n")
			}
			cur++
			from = max(from, r[1])
		}
	})
	for cur++; cur < len(ranges); cur++ {
		dst.Str("\n")
	}
}
