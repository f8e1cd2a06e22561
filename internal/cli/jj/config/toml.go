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
	return fmt.Sprintf("TOML parse error at line %d, column %d\n%s |\n%s | %s\n%s | %s%s\n%s\n", line, col, pad, num, e.Src[start:end], pad, strings.Repeat(" ", col-1), strings.Repeat("^", marks), e.Msg)
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
			return root, nil
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
	start := p.pos
	array := strings.HasPrefix(p.src[p.pos:], "[[")
	p.pos++
	if array {
		p.pos++
	}
	p.space()
	keys, err := p.dotted()
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
		next, err := p.enter(t, k, last && array, start)
		if err != nil {
			return nil, err
		}
		t = next
	}
	t.header = true
	return t, nil
}

// enter goes into a table, making it when it is absent.
func (p *tomlParser) enter(t *Table, k string, array bool, at int) (*Table, error) {
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
		if array || x.Inline {
			return nil, p.fail(at, "duplicate key")
		}
		return x, nil
	case []*Value:
		if len(x) > 0 {
			if last, ok := x[len(x)-1].V.(*Table); ok && last.array {
				if !array {
					return last, nil
				}
				n := newTable()
				n.array = true
				v.V = append(x, &Value{V: n})
				return n, nil
			}
		}
	}
	return nil, p.fail(at, "duplicate key")
}

func (p *tomlParser) pair(t *Table, inline bool) error {
	start := p.pos
	keys, err := p.dotted()
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
	for _, k := range keys[:len(keys)-1] {
		if t, err = p.enter(t, k, false, start); err != nil {
			return err
		}
		t.dotted = !t.header
	}
	last := keys[len(keys)-1]
	if t.M[last] != nil {
		return p.fail(start, "duplicate key")
	}
	v.pair = p.before
	t.set(last, v)
	return nil
}

func bareKey(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

func (p *tomlParser) dotted() ([]string, error) {
	var keys []string
	for {
		start := p.pos
		switch c := p.peek(); {
		case c == '"' || c == '\'':
			s, err := p.str()
			if err != nil {
				return nil, err
			}
			keys = append(keys, s)
		default:
			for bareKey(p.peek()) {
				p.pos++
			}
			if p.pos == start {
				return nil, p.fail(start, "unquoted keys cannot be empty, expected letters, numbers, `-`, `_`")
			}
			keys = append(keys, p.src[start:p.pos])
		}
		p.space()
		if p.peek() != '.' {
			return keys, nil
		}
		p.pos++
		p.space()
	}
}

func (p *tomlParser) value() (*Value, error) {
	if p.deep++; p.deep > 100 {
		return nil, p.fail(p.pos, "values are nested too deeply")
	}
	defer func() { p.deep-- }()
	start := p.pos
	done := func(v any, err error) (*Value, error) {
		if err != nil {
			return nil, err
		}
		return &Value{V: v, Raw: p.src[start:p.pos], start: start, end: p.pos}, nil
	}
	switch c := p.peek(); c {
	case '"', '\'':
		return done(p.str())
	case '[':
		return done(p.array())
	case '{':
		return done(p.inline())
	case 0:
		return nil, p.fail(start, "string values must be quoted, expected literal string")
	}
	for c := p.peek(); bareKey(c) || c == '+' || c == '.' || c == ':'; c = p.peek() {
		p.pos++
	}
	// A date and a time may be separated by one space.
	if w := p.src[start:p.pos]; len(w) == 10 && w[4] == '-' && p.peek() == ' ' && p.pos+1 < len(p.src) && p.src[p.pos+1] >= '0' && p.src[p.pos+1] <= '9' {
		p.pos++
		for c := p.peek(); bareKey(c) || c == '+' || c == '.' || c == ':'; c = p.peek() {
			p.pos++
		}
	}
	v, ok := scalar(p.src[start:p.pos])
	if !ok {
		e := p.fail(start, "string values must be quoted, expected literal string").(*ParseError)
		e.End = max(start+1, p.pos)
		p.pos = start
		return nil, e
	}
	return done(v, nil)
}

func scalar(w string) (any, bool) {
	switch w {
	case "true":
		return true, true
	case "false":
		return false, true
	case "":
		return nil, false
	}
	plain := strings.ReplaceAll(w, "_", "")
	if i, err := strconv.ParseInt(plain, 0, 64); err == nil && !(len(plain) > 1 && plain[0] == '0' && plain[1] >= '0' && plain[1] <= '9') {
		return i, true
	}
	if len(w) >= 8 && (w[2] == ':' || len(w) >= 10 && w[4] == '-' && w[7] == '-') && w[0] >= '0' && w[0] <= '9' {
		return Date(w), true
	}
	if c := w[0]; c >= '0' && c <= '9' || c == '+' || c == '-' || w == "inf" || w == "nan" {
		if f, err := strconv.ParseFloat(plain, 64); err == nil {
			return f, true
		}
	}
	return nil, false
}

func (p *tomlParser) array() (any, error) {
	start := p.pos
	p.pos++
	out := []*Value{}
	for {
		p.blank()
		if p.peek() == ']' {
			p.pos++
			return out, nil
		}
		if p.pos >= len(p.src) {
			return nil, p.fail(start, "unclosed array, expected `]`")
		}
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		p.blank()
		switch p.peek() {
		case ',':
			p.pos++
		case ']':
		default:
			return nil, p.fail(p.pos, "missing comma between array elements, expected `,`")
		}
	}
}

func (p *tomlParser) inline() (any, error) {
	start := p.pos
	p.pos++
	t := newTable()
	for {
		p.blank()
		if p.peek() == '}' {
			p.pos++
			mark(t)
			return t, nil
		}
		if p.pos >= len(p.src) {
			return nil, p.fail(start, "unclosed inline table, expected `}`")
		}
		if err := p.pair(t, true); err != nil {
			return nil, err
		}
		p.blank()
		switch p.peek() {
		case ',':
			p.pos++
		case '}':
		default:
			return nil, p.fail(p.pos, "missing comma between key-value pairs, expected `,`")
		}
	}
}

func mark(t *Table) {
	t.Inline = true
	for _, v := range t.M {
		if sub, ok := v.V.(*Table); ok {
			mark(sub)
		}
	}
}

// str reads any of the four kinds of strings.
func (p *tomlParser) str() (string, error) {
	start := p.pos
	q := p.src[p.pos]
	long := strings.HasPrefix(p.src[p.pos:], strings.Repeat(string(q), 3))
	end := string(q)
	p.pos++
	if long {
		end = strings.Repeat(end, 3)
		p.pos += 2
		if strings.HasPrefix(p.src[p.pos:], "\r\n") {
			p.pos += 2
		} else if p.peek() == '\n' {
			p.pos++
		}
	}
	var b strings.Builder
	for p.pos < len(p.src) {
		if strings.HasPrefix(p.src[p.pos:], end) {
			// A long string may end in up to two more quotes of its own.
			for long && strings.HasPrefix(p.src[p.pos+1:], end) {
				b.WriteByte(q)
				p.pos++
			}
			p.pos += len(end)
			return b.String(), nil
		}
		c := p.src[p.pos]
		switch {
		case c == '\n' && !long:
			return "", p.fail(start, "invalid string, expected `%s`", end)
		case c == '\\' && q == '"':
			if err := p.escape(&b, long); err != nil {
				return "", err
			}
		default:
			b.WriteByte(c)
			p.pos++
		}
	}
	return "", p.fail(start, "invalid string, expected `%s`", end)
}

func (p *tomlParser) escape(b *strings.Builder, long bool) error {
	at := p.pos
	p.pos++
	c := p.peek()
	p.pos++
	switch c {
	case 'b':
		b.WriteByte('\b')
	case 't':
		b.WriteByte('\t')
	case 'n':
		b.WriteByte('\n')
	case 'f':
		b.WriteByte('\f')
	case 'r':
		b.WriteByte('\r')
	case 'e':
		b.WriteByte(0x1b)
	case '"', '\\':
		b.WriteByte(c)
	case 'x', 'u', 'U':
		n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		if p.pos+n > len(p.src) {
			return p.fail(at, "too few unicode value digits")
		}
		v, err := strconv.ParseUint(p.src[p.pos:p.pos+n], 16, 32)
		if err != nil || !utf8.ValidRune(rune(v)) {
			return p.fail(at, "value is out of range")
		}
		b.WriteRune(rune(v))
		p.pos += n
	default:
		if long && (c == '\n' || c == ' ' || c == '\t' || c == '\r') {
			for c := p.peek(); p.pos < len(p.src) && (c == '\n' || c == ' ' || c == '\t' || c == '\r'); c = p.peek() {
				p.pos++
			}
			return nil
		}
		return p.fail(at, "missing escaped value, expected `b`, `f`, `n`, `r`, `\\`, `\"`, `x`, `u`, `U`")
	}
	return nil
}

// ParseName reads a dotted name such as ui.color or colors."a b".
func ParseName(s string) ([]string, error) {
	p := &tomlParser{src: s}
	p.space()
	keys, err := p.dotted()
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

// FormatName writes a dotted name, quoting what needs it.
func FormatName(keys []string) string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = FormatKey(k)
	}
	return strings.Join(out, ".")
}

// FormatKey quotes a key when it cannot stand bare.
func FormatKey(k string) string {
	for i := 0; i < len(k); i++ {
		if !bareKey(k[i]) {
			return FormatString(k)
		}
	}
	if k == "" {
		return `""`
	}
	return k
}

// FormatString writes a TOML string in the quotes that need least escaping.
func FormatString(s string) string {
	hasQuote, hasOther := strings.Contains(s, `"`), false
	for _, r := range s {
		if r == '\\' {
			hasQuote = true
		}
		if r == '\'' || r < 0x20 || r == 0x7f {
			hasOther = true
		}
	}
	if hasQuote && !hasOther {
		return "'" + s + "'"
	}
	if strings.Contains(s, "\n") && !strings.Contains(s, `"""`) {
		body := strings.NewReplacer(`\`, `\\`, "\t", "\t").Replace(s)
		return "\"\"\"\n" + body + "\"\"\""
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Plain is the value as Go data: strings, numbers, booleans, lists and maps.
func (v *Value) Plain() any {
	switch x := v.V.(type) {
	case []*Value:
		out := []any{}
		for _, e := range x {
			out = append(out, e.Plain())
		}
		return out
	case *Table:
		out := map[string]any{}
		for k, e := range x.M {
			out[k] = e.Plain()
		}
		return out
	case Date:
		return string(x)
	}
	return v.V
}

// Text is the value as TOML on one line.
func (v *Value) Text() string {
	if v.Raw != "" {
		return v.Raw
	}
	switch x := v.V.(type) {
	case string:
		return FormatString(x)
	case bool:
		return strconv.FormatBool(x)
	case int64:
		return strconv.FormatInt(x, 10)
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	case Date:
		return string(x)
	case []*Value:
		var parts []string
		for _, e := range x {
			parts = append(parts, e.Text())
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case *Table:
		if len(x.Keys) == 0 {
			return "{}"
		}
		var parts []string
		for _, k := range x.Keys {
			parts = append(parts, FormatKey(k)+" = "+x.M[k].Text())
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	}
	return ""
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
