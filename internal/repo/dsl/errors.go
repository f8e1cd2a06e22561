package dsl

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

// ErrorKind classes an Error for those who add hints to it.
type ErrorKind uint8

// The kinds of errors that callers tell apart.
const (
	Syntax ErrorKind = iota
	Expression
	NoSuchFunction
	NoSuchKeyword
	NoSuchMethod
	InvalidArguments
	NotPrefix
	NotPostfix
	NotInfix
	InAlias
	InParameter
	Recursive
	Redefined
	NoWorkspace
)

// Error is a mistake in the source text. Error() draws the place; Title is the
// short sentence without it.
type Error struct {
	Kind       ErrorKind
	Title      string
	Drawing    string
	Name       string
	Candidates []string
	SimilarOp  string
	OpMeaning  string
	Source     error
}

// Error returns the drawing of the place with the message below it.
func (e *Error) Error() string { return e.Drawing }

// Unwrap returns the error this one was caused by, if any.
func (e *Error) Unwrap() error { return e.Source }

// NewError makes an error of a kind at a span.
func NewError(kind ErrorKind, at Span, format string, args ...any) *Error {
	title := format
	if len(args) > 0 {
		title = fmt.Sprintf(format, args...)
	}
	return &Error{Kind: kind, Title: title, Drawing: drawSpan(at, title)}
}

// Exprf makes an Expression error at a span.
func Exprf(at Span, format string, args ...any) *Error {
	return NewError(Expression, at, format, args...)
}

// NewSyntax makes a syntax error at one position.
func NewSyntax(src string, pos int, expected string) *Error {
	return &Error{Kind: Syntax, Title: "Syntax error", Drawing: drawPos(src, pos, expected)}
}

// With attaches the cause.
func (e *Error) With(src error) *Error {
	e.Source = src
	return e
}

// Root returns the innermost dsl error in the chain of causes.
func (e *Error) Root() *Error {
	for {
		next, ok := e.Source.(*Error)
		if !ok {
			return e
		}
		e = next
	}
}

func within(err error, id AliasID, at Span) error {
	kind, word := InAlias, "In alias"
	if id.Param {
		kind, word = InParameter, "In function parameter"
	}
	return NewError(kind, at, "%s `%s`", word, id.Text).With(err)
}

func lineCol(src string, pos int) (line, col int) {
	before := src[:pos]
	line = strings.Count(before, "\n") + 1
	if i := strings.LastIndexByte(before, '\n'); i >= 0 {
		before = before[i+1:]
	}
	return line, utf8.RuneCountInString(before) + 1
}

func lineAt(src string, pos int) string {
	start := strings.LastIndexByte(src[:pos], '\n') + 1
	end := strings.IndexByte(src[pos:], '\n')
	if end < 0 {
		return src[start:]
	}
	return src[start : pos+end+1]
}

func drop(line string) string { return strings.NewReplacer("\r", "", "\n", "").Replace(line) }

func show(line string) string { return strings.NewReplacer("\r", "␍", "\n", "␊").Replace(line) }

func drawPos(src string, pos int, message string) string {
	line, col := lineCol(src, pos)
	text := lineAt(src, pos)
	if pos < len(src) && (src[pos] == '\n' || src[pos] == '\r') {
		text = show(text)
	} else {
		text = drop(text)
	}
	s := strings.Repeat(" ", len(fmt.Sprint(line)))
	under := pad(text, col-1) + "^---"
	return fmt.Sprintf("%s--> %d:%d\n%s |\n%d | %s\n%s | %s\n%s |\n%s = %s", s, line, col, s, line, text, s, under, s, s, message)
}

func pad(text string, n int) string {
	var b strings.Builder
	for _, c := range text {
		if n == 0 {
			break
		}
		n--
		if c == '\t' {
			b.WriteByte('\t')
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func drawSpan(at Span, message string) string {
	line, col := lineCol(at.Src, at.Start)
	endLine, endCol := lineCol(at.Src, at.End)
	if endCol == 1 && at.End > 0 {
		endLine, endCol = lineCol(at.Src, at.End-1)
		endCol++
	}
	text := at.Text()
	first := lineAt(at.Src, at.Start)
	edge := text != "" && (text[0] == '\n' || text[0] == '\r' || text[len(text)-1] == '\n' || text[len(text)-1] == '\r')
	cont := ""
	if last := lastSpanLine(at); last >= 0 {
		cont = lineAt(at.Src, last)
		if !edge {
			cont = show(cont)
		}
	}
	if edge {
		first = show(first)
	} else {
		first = drop(first)
	}
	w := len(fmt.Sprint(max(line, endLine)))
	s := strings.Repeat(" ", w)
	a, z := col, endCol
	if a > z {
		a, z = z-1, a+1
	}
	under := pad(first, a-1) + "^"
	if z-a > 1 {
		under += strings.Repeat("-", z-a-2) + "^"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s--> %d:%d\n%s |\n", s, line, col, s)
	if cont != "" {
		fmt.Fprintf(&b, "%*d | %s\n", w, line, first)
		if endLine-line > 1 {
			fmt.Fprintf(&b, "%s | ...\n", s)
		}
		fmt.Fprintf(&b, "%*d | %s\n", w, endLine, cont)
	} else {
		fmt.Fprintf(&b, "%d | %s\n", line, first)
	}
	fmt.Fprintf(&b, "%s | %s\n%s |\n%s = %s", s, under, s, s, message)
	return b.String()
}

// lastSpanLine returns a position on the last line a span touches when that is
// not its first line, else -1.
func lastSpanLine(at Span) int {
	i := strings.LastIndexByte(at.Text(), '\n')
	if i < 0 || at.Start+i+1 >= at.End {
		return -1
	}
	return at.Start + i + 1
}

// Similar returns the candidates whose spelling is near name, sorted. keep is
// a list already chosen; more lists are filtered like candidates.
func Similar(name string, candidates []string, keepAndMore ...[]string) []string {
	var out []string
	lists := [][]string{candidates}
	if len(keepAndMore) > 0 {
		out = append(out, keepAndMore[0]...)
		lists = append(lists, keepAndMore[1:]...)
	}
	for _, list := range lists {
		for _, c := range list {
			if jaro(name, c) > 0.7 {
				out = append(out, c)
			}
		}
	}
	sort.Strings(out)
	return dedup(out)
}

func dedup(in []string) []string {
	out := in[:0]
	for i, s := range in {
		if i == 0 || s != in[i-1] {
			out = append(out, s)
		}
	}
	return out
}

// jaro is the Jaro similarity of two strings, between 0 and 1.
func jaro(a, b string) float64 {
	x, y := []rune(a), []rune(b)
	if len(x) == 0 && len(y) == 0 {
		return 1
	}
	if len(x) == 0 || len(y) == 0 {
		return 0
	}
	reach := max(len(x), len(y))/2 - 1
	if reach < 0 {
		reach = 0
	}
	mx, my := make([]bool, len(x)), make([]bool, len(y))
	m := 0
	for i := range x {
		for j := max(0, i-reach); j < min(len(y), i+reach+1); j++ {
			if !my[j] && x[i] == y[j] {
				mx[i], my[j] = true, true
				m++
				break
			}
		}
	}
	if m == 0 {
		return 0
	}
	swaps, j := 0, 0
	for i := range x {
		if !mx[i] {
			continue
		}
		for !my[j] {
			j++
		}
		if x[i] != y[j] {
			swaps++
		}
		j++
	}
	f := float64(m)
	return (f/float64(len(x)) + f/float64(len(y)) + (f-float64(swaps/2))/f) / 3
}

// SimilarOf is Similar for one pair, for parsers that suggest words.
func SimilarOf(a, b string) float64 { return jaro(a, b) }
