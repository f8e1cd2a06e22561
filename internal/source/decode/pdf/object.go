package pdf

import (
	"bytes"
	"errors"
	"strconv"
)

// What a file is made of, besides float64, bool and nil.
type (
	name   string
	text   []byte // a string, as bytes: what they mean is the font's to say
	array  []any
	dict   map[name]any
	ref    int // the number of an object
	word   string
	stream struct {
		dict
		raw []byte
	}
)

var errDamaged = errors.New("it is damaged")

// maxDepth is how deep arrays and dictionaries may be inside each other.
const maxDepth = 64

// lexer reads objects from bytes. Of what is not well formed it makes what it can.
type lexer struct {
	data []byte
	at   int
}

func blank(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func delimiter(c byte) bool { return bytes.IndexByte([]byte("()<>[]{}/%"), c) >= 0 }

func (l *lexer) skip() {
	for l.at < len(l.data) {
		switch c := l.data[l.at]; {
		case blank(c):
			l.at++
		case c == '%':
			for l.at < len(l.data) && l.data[l.at] != '\n' && l.data[l.at] != '\r' {
				l.at++
			}
		default:
			return
		}
	}
}

// next is an object, or a word that is none; an error at the end.
func (l *lexer) next(depth int) (any, error) {
	l.skip()
	if l.at >= len(l.data) || depth > maxDepth {
		return nil, errDamaged
	}
	switch c := l.data[l.at]; c {
	case '/':
		l.at++
		return l.name(), nil
	case '(':
		l.at++
		return l.text(), nil
	case '<':
		if l.at++; l.at < len(l.data) && l.data[l.at] == '<' {
			l.at++
			return l.dict(depth)
		}
		return l.hex(), nil
	case '[':
		l.at++
		return l.array(depth)
	case ']', '}', '{', ')':
		l.at++
		return word(c), nil
	case '>':
		if l.at++; l.at < len(l.data) && l.data[l.at] == '>' {
			l.at++
		}
		return word(">>"), nil
	}
	begin := l.at
	for l.at < len(l.data) && !blank(l.data[l.at]) && !delimiter(l.data[l.at]) {
		l.at++
	}
	return plain(string(l.data[begin:l.at])), nil
}

func plain(s string) any {
	switch s {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	}
	if c := s[0]; c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' {
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return f
		}
	}
	return word(s)
}

func (l *lexer) name() name {
	var b []byte
	for l.at < len(l.data) && !blank(l.data[l.at]) && !delimiter(l.data[l.at]) {
		c := l.data[l.at]
		if c == '#' && l.at+2 < len(l.data) {
			if n, err := strconv.ParseUint(string(l.data[l.at+1:l.at+3]), 16, 8); err == nil {
				c = byte(n)
				l.at += 2
			}
		}
		b = append(b, c)
		l.at++
	}
	return name(b)
}

// text is a string in parentheses, which may hold others.
func (l *lexer) text() text {
	b := text{}
	for open := 1; l.at < len(l.data); l.at++ {
		c := l.data[l.at]
		switch c {
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				l.at++
				return b
			}
		case '\\':
			if l.at++; l.at >= len(l.data) {
				return b
			}
			b = l.escaped(b)
			continue
		}
		b = append(b, c)
	}
	return b
}

func (l *lexer) escaped(b text) text {
	switch c := l.data[l.at]; {
	case c >= '0' && c <= '7':
		n := 0
		for i := 0; i < 3 && l.at < len(l.data) && l.data[l.at] >= '0' && l.data[l.at] <= '7'; i++ {
			n = n*8 + int(l.data[l.at]-'0')
			l.at++
		}
		l.at--
		return append(b, byte(n))
	case c == '\r':
		if l.at+1 < len(l.data) && l.data[l.at+1] == '\n' {
			l.at++
		}
		return b
	case c == '\n':
		return b
	default:
		if i := bytes.IndexByte([]byte("nrtbf"), c); i >= 0 {
			c = "\n\r\t\b\f"[i]
		}
		return append(b, c)
	}
}

func (l *lexer) hex() text {
	b, half, have := text{}, byte(0), false
	for ; l.at < len(l.data) && l.data[l.at] != '>'; l.at++ {
		n, ok := digit(l.data[l.at])
		switch {
		case !ok:
		case have:
			b, have = append(b, half<<4|n), false
		default:
			half, have = n, true
		}
	}
	l.at++
	if have {
		b = append(b, half<<4)
	}
	return b
}

func digit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

func (l *lexer) array(depth int) (any, error) {
	out := array{}
	for {
		v, err := l.next(depth + 1)
		if err != nil {
			return nil, err
		}
		switch w, ok := v.(word); {
		case ok && w == "]":
			return out, nil
		case ok && w == "R":
			out = reference(out)
		default:
			out = append(out, v)
		}
	}
}

// reference makes one of the two numbers before the word R.
func reference(of []any) []any {
	if n := len(of); n >= 2 {
		if num, ok := of[n-2].(float64); ok {
			return append(of[:n-2], ref(num))
		}
	}
	return of
}

func (l *lexer) dict(depth int) (any, error) {
	out, pending := dict{}, array{}
	key, has := name(""), false
	keep := func() {
		if has && len(pending) > 0 {
			out[key] = pending[0]
		}
		pending, has = pending[:0], false
	}
	for {
		v, err := l.next(depth + 1)
		if err != nil {
			return nil, err
		}
		switch v := v.(type) {
		case name:
			if has && len(pending) == 0 {
				pending = append(pending, v)
				continue
			}
			keep()
			key, has = v, true
		case word:
			switch v {
			case ">>":
				keep()
				return out, nil
			case "R":
				pending = reference(pending)
			case "endobj", "stream": // it never ended
				return nil, errDamaged
			}
		default:
			pending = append(pending, v)
		}
	}
}
