package diff

import "bytes"

// Span is a stretch of a text, in bytes.
type Span struct{ Start, End int }

// Hunk is a stretch of all texts at once: the same in each, or not.
type Hunk struct {
	Matching bool
	Contents [][]byte // one for each text, the base first
}

// Compare says which tokens count as equal: it maps a token to a key.
type Compare func(token []byte) string

// Exact compares byte by byte.
func Exact(token []byte) string { return string(token) }

// IgnoreAllSpace compares without any white space.
func IgnoreAllSpace(token []byte) string {
	out := make([]byte, 0, len(token))
	for _, c := range token {
		if !isSpace(c) {
			out = append(out, c)
		}
	}
	return string(out)
}

// IgnoreSpaceAmount compares with each run of white space as one.
func IgnoreSpaceAmount(token []byte) string {
	out := make([]byte, 0, len(token))
	before := false
	for _, c := range token {
		space := isSpace(c)
		if space && !before {
			out = append(out, ' ')
		}
		if !space {
			out = append(out, c)
		}
		before = space
	}
	return string(out)
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }

// Tokenizer cuts a text into tokens; what lies between them never matches.
type Tokenizer func(text []byte) []Span

// Lines cuts after each newline.
func Lines(text []byte) []Span {
	var out []Span
	for at := 0; at < len(text); {
		end := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		out = append(out, Span{at, end})
		at = end
	}
	return out
}

func isWord(c byte) bool {
	return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}

// Words finds runs of letters, digits and underscores.
func Words(text []byte) []Span {
	var out []Span
	start := -1
	for i, c := range text {
		if isWord(c) {
			if start < 0 {
				start = i
			}
		} else if start >= 0 {
			out = append(out, Span{start, i})
			start = -1
		}
	}
	if start >= 0 {
		out = append(out, Span{start, len(text)})
	}
	return out
}

// NonWords finds every single byte that is not part of a word.
func NonWords(text []byte) []Span {
	var out []Span
	for i, c := range text {
		if !isWord(c) {
			out = append(out, Span{i, i + 1})
		}
	}
	return out
}

// Diff is the comparison of a base with other texts.
type Diff struct {
	texts [][]byte
	// same holds the stretches that all texts have in common, a span for each
	// text, in order. The first and the last may be empty.
	same [][]Span
}

// New compares texts token by token; the first is the base.
func New(tokens Tokenizer, compare Compare, texts ...[]byte) *Diff {
	d := &Diff{texts: texts}
	spans := make([][]Span, len(texts))
	empty := false
	for _, t := range texts {
		empty = empty || len(t) == 0
	}
	if !empty {
		for i, t := range texts {
			spans[i] = tokens(t)
		}
	}
	if len(texts) == 1 {
		d.same = [][]Span{{{0, len(texts[0])}}}
		return d
	}
	words := internWords(texts, spans, compare)
	matches := matchPairs(words[0], words[1])
	common := make([][]int, len(matches))
	for i, m := range matches {
		common[i] = []int{m.left, m.right}
	}
	for k := 2; k < len(texts); k++ {
		common = intersect(common, matchPairs(words[0], words[k]))
	}
	start, end := make([]Span, len(texts)), make([]Span, len(texts))
	for i, t := range texts {
		end[i] = Span{len(t), len(t)}
	}
	d.same = append(d.same, start)
	for _, c := range common {
		region := make([]Span, len(texts))
		for i, w := range c {
			region[i] = spans[i][w]
		}
		d.same = append(d.same, region)
	}
	d.same = append(d.same, end)
	d.compact()
	return d
}

// ByLine compares line by line.
func ByLine(texts ...[]byte) *Diff { return New(Lines, Exact, texts...) }

// ByWord compares words, then the bytes between them.
func ByWord(texts ...[]byte) *Diff {
	d := New(Words, Exact, texts...)
	d.Refine(NonWords, Exact)
	return d
}

// Fine compares lines, in what differs words, and in what still differs the
// bytes between them.
func Fine(texts ...[]byte) *Diff {
	d := ByLine(texts...)
	d.Refine(Words, Exact)
	d.Refine(NonWords, Exact)
	return d
}

// Refine looks for finer tokens in common within the stretches that differ.
func (d *Diff) Refine(tokens Tokenizer, compare Compare) {
	refined := [][]Span{d.same[0]}
	for k := 1; k < len(d.same); k++ {
		before, after := d.same[k-1], d.same[k]
		for _, region := range New(tokens, compare, d.between(before, after)...).same {
			moved := make([]Span, len(region))
			for i, s := range region {
				moved[i] = Span{s.Start + before[i].End, s.End + before[i].End}
			}
			refined = append(refined, moved)
		}
		refined = append(refined, after)
	}
	d.same = refined
	d.compact()
}

// compact joins stretches that touch in every text.
func (d *Diff) compact() {
	out := d.same[:1:1]
	for _, next := range d.same[1:] {
		last := out[len(out)-1]
		touch := true
		for i := range next {
			touch = touch && last[i].End == next[i].Start
		}
		if !touch {
			out = append(out, next)
			continue
		}
		joined := make([]Span, len(next))
		for i := range next {
			joined[i] = Span{last[i].Start, next[i].End}
		}
		out[len(out)-1] = joined
	}
	d.same = out
}

func (d *Diff) between(before, after []Span) [][]byte {
	out := make([][]byte, len(d.texts))
	for i, t := range d.texts {
		out[i] = t[before[i].End:after[i].Start]
	}
	return out
}

// Change is a stretch of all texts that differs, a span for each text.
type Change []Span

// Changes lists the stretches that differ by where they are.
func (d *Diff) Changes() []Change {
	var out []Change
	for k := 1; k < len(d.same); k++ {
		before, after := d.same[k-1], d.same[k]
		c := make(Change, len(d.texts))
		for i := range c {
			c[i] = Span{before[i].End, after[i].Start}
		}
		out = append(out, c)
	}
	return out
}

// Hunks lists matching and different stretches in turn, none empty.
func (d *Diff) Hunks() []Hunk {
	var out []Hunk
	for k, region := range d.same {
		if k > 0 {
			out = append(out, Hunk{false, d.between(d.same[k-1], region)})
		}
		empty := true
		contents := make([][]byte, len(d.texts))
		for i, s := range region {
			contents[i] = d.texts[i][s.Start:s.End]
			empty = empty && s.Start == s.End
		}
		if !empty {
			out = append(out, Hunk{true, contents})
		}
	}
	return out
}
