package unified

import (
	"unicode"
	"unicode/utf8"
)

// Mark is a piece of a line, from a byte to a byte.
type Mark struct{ From, To int }

// Marked says of each line that was replaced what of it is another: of a run of lines that went, the first is compared with the first that
// came for it, and so on. Lines with little in common have no marks: everything in them is another.
func Marked(lines []Line) []Line {
	out := append([]Line(nil), lines...)
	for i := 0; i < len(out); {
		gone := run(out[i:], '-')
		come := run(out[i+len(gone):], '+')
		for k := range min(len(gone), len(come)) {
			gone[k].Marks, come[k].Marks = differs(gone[k].Text, come[k].Text)
		}
		i += max(1, len(gone)+len(come))
	}
	return out
}

// differs is what is another between two lines: all between the words with which both begin and those with which both end.
func differs(was, is string) (of, in []Mark) {
	begin := 0
	for begin < len(was) && begin < len(is) && was[begin] == is[begin] {
		begin++
	}
	end := 0
	for end < len(was)-begin && end < len(is)-begin && was[len(was)-1-end] == is[len(is)-1-end] {
		end++
	}
	begin, end = wordBegin(was, is, begin), wordEnd(was, is, end)
	if begin+end == 0 || 2*(begin+end) < min(len(was), len(is)) {
		return nil, nil
	}
	mark := func(s string) []Mark {
		if begin >= len(s)-end {
			return nil
		}
		return []Mark{{begin, len(s) - end}}
	}
	return mark(was), mark(is)
}

// wordBegin moves a place in both back to where its word begins, and never into a character.
func wordBegin(was, is string, at int) int {
	for at > 0 && (within(was, at) || within(is, at)) {
		at--
	}
	return at
}

// wordEnd is wordBegin for a place that is counted from the end.
func wordEnd(was, is string, end int) int {
	for end > 0 && (within(was, len(was)-end) || within(is, len(is)-end)) {
		end--
	}
	return end
}

// within says whether a place lies inside a word, or inside a character.
func within(s string, at int) bool {
	if at <= 0 || at >= len(s) {
		return false
	}
	if !utf8.RuneStart(s[at]) {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	after, _ := utf8.DecodeRuneInString(s[at:])
	return wordly(before) && wordly(after)
}

func wordly(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || r == '_'
}
