package dsl

import (
	"strings"
	"unicode/utf8"
)

// Scanner walks over a source text. Parsers embed it; Pos only ever moves to
// places they set.
type Scanner struct {
	Src  string
	Pos  int
	Deep int
}

// MaxDepth is how deep expressions may nest before a parser refuses, so that a
// hostile text cannot exhaust the stack.
const MaxDepth = 400

// Span returns the span from start to the current position.
func (s *Scanner) Span(start int) Span { return Span{s.Src, start, s.Pos} }

// Space skips white space.
func (s *Scanner) Space() {
	for s.Pos < len(s.Src) && strings.IndexByte(" \t\r\n\f", s.Src[s.Pos]) >= 0 {
		s.Pos++
	}
}

// Has reports whether the text continues with lit.
func (s *Scanner) Has(lit string) bool { return strings.HasPrefix(s.Src[s.Pos:], lit) }

// Eat skips lit if the text continues with it.
func (s *Scanner) Eat(lit string) bool {
	if s.Has(lit) {
		s.Pos += len(lit)
		return true
	}
	return false
}

// Peek returns the next byte, or 0 at the end.
func (s *Scanner) Peek() byte {
	if s.Pos < len(s.Src) {
		return s.Src[s.Pos]
	}
	return 0
}

// PeekRune returns the next rune, or -1 at the end.
func (s *Scanner) PeekRune() rune {
	if s.Pos >= len(s.Src) {
		return -1
	}
	r, _ := utf8.DecodeRuneInString(s.Src[s.Pos:])
	return r
}

// End reports whether everything was read.
func (s *Scanner) End() bool { return s.Pos >= len(s.Src) }

// Name reads a word of ASCII letters, digits and underscores, and of further
// characters behind the first, that does not begin with a digit; "" when there is
// none.
func (s *Scanner) Name(more string) string {
	start := s.Pos
	if c := s.Peek(); !Alpha(c) && c != '_' {
		return ""
	}
	for c := s.Peek(); Alnum(c) || c == '_' || strings.IndexByte(more, c) >= 0; c = s.Peek() {
		s.Pos++
	}
	return s.Src[start:s.Pos]
}

// Enter counts a level of nesting, and refuses one too many of what is nested.
func (s *Scanner) Enter(what string) error {
	if s.Deep++; s.Deep > MaxDepth {
		return Exprf(s.Span(s.Pos), "%s is nested too deeply", what)
	}
	return nil
}

// Syntax is the error that something else was expected here.
func (s *Scanner) Syntax(expected string) error { return NewSyntax(s.Src, s.Pos, expected) }

// Quoted reads a "…" or '…' literal at the current position. ok is false, and
// the position unchanged, when there is none or it is malformed; bad is then
// the offending position (-1 when there simply is no quote).
func (s *Scanner) Quoted() (text string, bad int, ok bool) {
	start := s.Pos
	switch s.Peek() {
	case '\'':
		i := strings.IndexByte(s.Src[start+1:], '\'')
		if i < 0 {
			return "", len(s.Src), false
		}
		s.Pos = start + 1 + i + 1
		return s.Src[start+1 : start+1+i], 0, true
	case '"':
	default:
		return "", -1, false
	}
	var b strings.Builder
	i := start + 1
	for i < len(s.Src) {
		switch c := s.Src[i]; c {
		case '"':
			s.Pos = i + 1
			return b.String(), 0, true
		case '\\':
			r, n := unescape(s.Src[i:])
			if n == 0 {
				return "", i, false
			}
			b.WriteRune(r)
			i += n
		default:
			b.WriteByte(c)
			i++
		}
	}
	return "", i, false
}

func unescape(s string) (rune, int) {
	if len(s) < 2 {
		return 0, 0
	}
	switch s[1] {
	case 't':
		return '\t', 2
	case 'r':
		return '\r', 2
	case 'n':
		return '\n', 2
	case '0':
		return 0, 2
	case 'e':
		return 0x1b, 2
	case '"', '\\':
		return rune(s[1]), 2
	case 'x':
		if len(s) >= 4 {
			if h, l := hexVal(s[2]), hexVal(s[3]); h >= 0 && l >= 0 {
				return rune(h<<4 | l), 4
			}
		}
	}
	return 0, 0
}

func hexVal(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// Quote renders text as a "…" literal.
func Quote(text string) string { return `"` + Escape(text) + `"` }

// Escape renders text as the inside of a "…" literal.
func Escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\n':
			b.WriteString(`\n`)
		case r == 0:
			b.WriteString(`\0`)
		case r < 0x20 || r == 0x7f:
			const hex = "0123456789abcdef"
			b.WriteString(`\x`)
			b.WriteByte(hex[r>>4])
			b.WriteByte(hex[r&15])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Alpha, Digit and Alnum are the ASCII classes the grammars use.
func Alpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// Digit reports an ASCII digit.
func Digit(c byte) bool { return c >= '0' && c <= '9' }

// Alnum reports an ASCII letter or digit.
func Alnum(c byte) bool { return Alpha(c) || Digit(c) }
