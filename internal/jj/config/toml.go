package config

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Value is a TOML value with its text.
type Value struct {
	V   any    // string, int64, float64, bool, time as string in Date, []*Value or *Table
	Raw string // as written, without surrounding space

	pair, start, end int // where the pair, with what is before it, and the value lie in the text
}

// Date is a TOML date or time, kept as text.
type Date string

// Table is a TOML table that keeps the order of its keys.
type Table struct {
	Keys   []string
	M      map[string]*Value
	Inline bool
	array  bool // the last element of an array of tables
	dotted bool // made by dotted keys
	header bool // has a header of its own, or is the document
	end    int  // after the last line that belongs to it
}

func newTable() *Table { return &Table{M: map[string]*Value{}} }

// Get returns the value of a key, or nil.
func (t *Table) Get(key string) *Value {
	if t == nil {
		return nil
	}
	return t.M[key]
}

func (t *Table) set(key string, v *Value) {
	if _, ok := t.M[key]; !ok {
		t.Keys = append(t.Keys, key)
	}
	t.M[key] = v
}

// ParseError is a mistake in TOML text.
type ParseError struct {
	Src string
	Pos int
	End int
	Msg string
}

// Error draws the place the way the toml_edit library does.
func (e *ParseError) Error() string {
	line := 1 + strings.Count(e.Src[:e.Pos], "\n")
	start := strings.LastIndexByte(e.Src[:e.Pos], '\n') + 1
	end := len(e.Src)
	if i := strings.IndexByte(e.Src[e.Pos:], '\n'); i >= 0 {
		end = e.Pos + i
	}
	col := utf8.RuneCountInString(e.Src[start:e.Pos]) + 1
	num := strconv.Itoa(line)
	pad := strings.Repeat(" ", len(num))
	marks := max(1, min(e.End, end)-e.Pos)
	return fmt.Sprintf("TOML parse error at line %d, column %d\n%s |\n%s | %s\n%s | %s%s\n%s\n", line, col, pad, num, e.Src[start:end], pad,
		strings.Repeat(" ", col-1), strings.Repeat("^", marks), e.Msg)
}

type tomlParser struct {
	src  string
	pos  int
	deep int

	before int // the end of the line before the current pair
}

// ParseTOML reads a document.
func ParseTOML(src string) (*Table, error) {
	p := &tomlParser{src: strings.TrimPrefix(src, "\ufeff")}
	root := newTable()
	root.header = true
	cur := root
	for {
		p.before = p.pos
		p.blank()
		if p.pos >= len(p.src) {
			return root, p.printable()
		}
		var err error
		if p.src[p.pos] == '[' {
			cur, err = p.header(root)
		} else {
			err = p.pair(cur, false)
		}
		if err == nil {
			err = p.lineEnd()
		}
		if err != nil {
			return nil, err
		}
		if p.pos < len(p.src) {
			p.pos += 1 + strings.IndexByte(p.src[p.pos:], '\n')
		}
		cur.end = p.pos
	}
}

func (p *tomlParser) fail(at int, format string, args ...any) error {
	return &ParseError{Src: p.src, Pos: at, End: at + 1, Msg: fmt.Sprintf(format, args...)}
}

// printable refuses what no document may hold anywhere: control characters, and bytes that are no text. Those in strings were
// refused when the string was read.
func (p *tomlParser) printable() error {
	for i, c := range p.src {
		switch {
		case c == '\r' && !strings.HasPrefix(p.src[i:], "\r\n"):
			return p.fail(i+1, "carriage return must be followed by newline, expected newline")
		case c != '\r' && control(byte(min(c, utf8.RuneSelf))) && c != '\n':
			return p.fail(i, "invalid comment character, expected printable characters")
		case c == utf8.RuneError && !strings.HasPrefix(p.src[i:], string(utf8.RuneError)):
			return p.fail(i, "invalid UTF-8")
		}
	}
	return nil
}

func control(c byte) bool { return c < ' ' && c != '\t' || c == 0x7f }

func (p *tomlParser) peek() byte {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

func (p *tomlParser) space() {
	for c := p.peek(); c == ' ' || c == '\t'; c = p.peek() {
		p.pos++
	}
}

// blank skips space, line ends and comments.
func (p *tomlParser) blank() {
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; c {
		case ' ', '\t', '\n', '\r':
			p.pos++
		case '#':
			p.comment()
		default:
			return
		}
	}
}

func (p *tomlParser) comment() {
	for p.pos < len(p.src) && p.src[p.pos] != '\n' {
		p.pos++
	}
}

func (p *tomlParser) lineEnd() error {
	p.space()
	switch c := p.peek(); {
	case p.pos >= len(p.src), c == '\n':
		return nil
	case c == '\r' && strings.HasPrefix(p.src[p.pos:], "\r\n"):
		return nil
	case c == '#':
		p.comment()
		return nil
	}
	return p.fail(p.pos, "unexpected key or value, expected newline, `#`")
}

func (p *tomlParser) header(root *Table) (*Table, error) {
	array := strings.HasPrefix(p.src[p.pos:], "[[")
	p.pos++
	if array {
		p.pos++
	}
	p.space()
	keys, places, err := p.dotted()
	if err != nil {
		return nil, err
	}
	p.space()
	closing := "]"
	if array {
		closing = "]]"
	}
	if !strings.HasPrefix(p.src[p.pos:], closing) {
		return nil, p.fail(p.pos, "unclosed table, expected `%s`", closing)
	}
	p.pos += len(closing)
	t := root
	for i, k := range keys {
		last := i == len(keys)-1
		had := t.M[k] != nil
		next, err := p.enter(t, k, last && array, last, places[i])
		if err != nil {
			return nil, err
		}
		if last && had && !array && (next.header || next.dotted) {
			return nil, p.fail(places[i], "duplicate key")
		}
		t = next
	}
	t.header = true
	return t, nil
}

// enter goes into a table, making it when it is absent. Only on the way to the last key does an array stand for its last table.
func (p *tomlParser) enter(t *Table, k string, array, last bool, at int) (*Table, error) {
	v := t.M[k]
	switch {
	case v == nil && array:
		n := newTable()
		n.array = true
		t.set(k, &Value{V: []*Value{{V: n}}})
		return n, nil
	case v == nil:
		n := newTable()
		t.set(k, &Value{V: n})
		return n, nil
	}
	switch x := v.V.(type) {
	case *Table:
		if !array && !x.Inline {
			return x, nil
		}
	case []*Value:
		if len(x) > 0 {
			if table, ok := x[len(x)-1].V.(*Table); ok && table.array && (array || !last) {
				if !array {
					return table, nil
				}
				n := newTable()
				n.array = true
				v.V = append(x, &Value{V: n})
				return n, nil
			}
		}
	}
	if !last {
		return nil, p.fail(at, "cannot extend value of type %s with a dotted key", v.kindOf())
	}
	return nil, p.fail(at, "duplicate key")
}

func (v *Value) kindOf() string {
	if t, ok := v.V.(*Table); ok && t.Inline {
		return "inline table"
	}
	return v.Kind()
}

func (p *tomlParser) pair(t *Table, inline bool) error {
	keys, places, err := p.dotted()
	if err != nil {
		return err
	}
	p.space()
	if p.peek() != '=' {
		return p.fail(p.pos, "key with no value, expected `=`")
	}
	p.pos++
	p.space()
	v, err := p.value()
	if err != nil {
		return err
	}
	for i, k := range keys[:len(keys)-1] {
		had := t.M[k]
		if t, err = p.enter(t, k, false, false, places[i]); err != nil {
			return err
		}
		if had != nil && t.header {
			return p.fail(places[i], "duplicate key")
		}
		t.dotted = true
	}
	last := keys[len(keys)-1]
	if t.M[last] != nil {
		return p.fail(places[len(keys)-1], "duplicate key")
	}
	v.pair = p.before
	t.set(last, v)
	return nil
}

func bareKey(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

// dotted reads a key of one or more parts, and where each begins.
func (p *tomlParser) dotted() (keys []string, places []int, err error) {
	for {
		places = append(places, p.pos)
		start := p.pos
		switch c := p.peek(); {
		case c == '"' || c == '\'':
			s, err := p.str()
			if err != nil {
				return nil, nil, err
			}
			keys = append(keys, s)
		default:
			for bareKey(p.peek()) {
				p.pos++
			}
			if p.pos == start {
				return nil, nil, p.fail(start, "unquoted keys cannot be empty, expected letters, numbers, `-`, `_`")
			}
			keys = append(keys, p.src[start:p.pos])
		}
		p.space()
		if p.peek() != '.' {
			return keys, places, nil
		}
		p.pos++
		p.space()
	}
}

// ParseName reads a dotted name such as ui.color or colors."a b".
func ParseName(s string) ([]string, error) {
	p := &tomlParser{src: s}
	p.space()
	keys, _, err := p.dotted()
	if err != nil {
		return nil, err
	}
	if p.pos < len(s) {
		return nil, &ParseError{Src: s, Pos: p.pos, End: p.pos + 1, Msg: "unexpected content, expected nothing"}
	}
	return keys, nil
}

// ParseValue reads one value that takes the whole text.
func ParseValue(s string) (*Value, error) {
	p := &tomlParser{src: s}
	p.space()
	v, err := p.value()
	if err != nil {
		return nil, err
	}
	if p.space(); p.pos < len(s) {
		return nil, p.fail(p.pos, "unexpected content, expected nothing")
	}
	return v, nil
}

// ParseBare reads a value; text that is none, and does not look as if it were
// meant as one, is a string without quotes.
func ParseBare(s string) (*Value, error) {
	v, err := ParseValue(s)
	if err == nil {
		return v, nil
	}
	t := strings.Trim(s, " \t\r\n\f")
	if t == "" || !strings.Contains(`"'[{`, t[:1]) && !strings.Contains(`"']}`, t[len(t)-1:]) {
		return &Value{V: s}, nil
	}
	return nil, err
}
