package config

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

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
	if w := p.src[start:p.pos]; len(w) == 10 && w[4] == '-' && p.peek() == ' ' && p.pos+1 < len(p.src) && p.src[p.pos+1] >= '0' &&
		p.src[p.pos+1] <= '9' {
		p.pos++
		for c := p.peek(); bareKey(c) || c == '+' || c == '.' || c == ':'; c = p.peek() {
			p.pos++
		}
	}
	v, err := p.scalar(start, p.src[start:p.pos])
	if err != nil {
		p.pos = start
	}
	return done(v, err)
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

// invisible is what is said of control characters in a string with these quotes.
var invisible = map[string]string{
	`"`:   "invalid basic string, expected non-double-quote visible characters, `\\`",
	`'`:   "invalid literal string, expected non-single-quote visible characters",
	`"""`: "invalid multi-line basic string, expected `\\`, characters",
	`'''`: "invalid multi-line literal string, expected non-single-quote characters",
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
		case control(c) && !(long && (c == '\n' || strings.HasPrefix(p.src[p.pos:], "\r\n"))):
			return "", p.fail(p.pos, "%s", invisible[end])
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
			line := c == '\n'
			for c := p.peek(); p.pos < len(p.src) && (c == '\n' || c == ' ' || c == '\t' || c == '\r'); c = p.peek() {
				line = line || c == '\n'
				p.pos++
			}
			if !line {
				return p.fail(p.pos, "invalid multi-line basic string, expected newline")
			}
			return nil
		}
		return p.fail(at, "missing escaped value, expected `b`, `f`, `n`, `r`, `\\`, `\"`, `x`, `u`, `U`")
	}
	return nil
}
