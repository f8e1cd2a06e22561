package config

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// wide is an error about more than one character.
func (p *tomlParser) wide(at, n int, format string, args ...any) error {
	return &ParseError{Src: p.src, Pos: at, End: at + max(1, n), Msg: fmt.Sprintf(format, args...)}
}

// scalar reads a boolean, a number or a date, by the strict rules of the format: stock jj refuses 01 and 1__0 too, and takes them for
// words where a value may also be one.
func (p *tomlParser) scalar(at int, w string) (any, error) {
	switch strings.TrimLeft(w, "+-") {
	case "inf", "nan":
		if len(w) <= len("+inf") {
			f, _ := strconv.ParseFloat(w, 64)
			return f, nil
		}
	}
	digit := w != "" && w[0] >= '0' && w[0] <= '9'
	switch {
	case w == "true", w == "false":
		return w == "true", nil
	case digit && dated(w):
		return p.date(at, w)
	case digit, len(w) > 0 && w[0] == '_', len(w) > 1 && (w[0] == '+' || w[0] == '-') && (w[1] == '_' || w[1] >= '0' && w[1] <= '9'):
		return p.number(at, w)
	}
	return nil, p.unquoted(at, w)
}

func (p *tomlParser) unquoted(at int, w string) error {
	return p.wide(at, len(w), "string values must be quoted, expected literal string")
}

// dated says whether a word that begins with a digit is meant as a date or time.
func dated(w string) bool {
	if strings.Contains(w, ":") {
		return true
	}
	i := strings.IndexByte(w, '-')
	return i > 0 && w[i-1] != 'e' && w[i-1] != 'E'
}

func (p *tomlParser) number(at int, w string) (any, error) {
	whole := w
	signed := w[0] == '+' || w[0] == '-'
	if signed {
		at, w = at+1, w[1:]
	}
	if len(w) > 1 && w[0] == '0' && strings.Contains("xXoObB", w[1:2]) {
		return p.radix(at, w, signed)
	}
	if err := p.underscores(at, w, "0123456789"); err != nil {
		return nil, err
	}
	n := digits(w)
	if n > 1 && w[0] == '0' {
		return nil, p.fail(at, "unexpected leading zero, expected nothing")
	}
	if n == len(w) {
		i, err := strconv.ParseInt(strings.ReplaceAll(whole, "_", ""), 10, 64)
		if err != nil {
			return nil, p.wide(at, len(w), "integer number overflowed")
		}
		return i, nil
	}
	rest := n
	if w[rest] == '.' {
		k := digits(w[rest+1:])
		if rest += 1 + k; k == 0 {
			return nil, p.fail(at+rest, "invalid fraction, expected digits")
		}
	}
	if rest < len(w) && (w[rest] == 'e' || w[rest] == 'E') {
		if rest++; rest < len(w) && (w[rest] == '+' || w[rest] == '-') {
			rest++
		}
		k := digits(w[rest:])
		if rest += k; k == 0 {
			return nil, p.fail(at+rest, "invalid exponent, expected digits")
		}
	}
	switch {
	case rest == n:
		return nil, p.unquoted(at, w)
	case rest < len(w):
		return nil, p.wide(at+rest, len(w)-rest, "invalid float, expected nothing")
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(whole, "_", ""), 64)
	if err != nil {
		return nil, p.wide(at, len(w), "floating-point number overflowed")
	}
	return f, nil
}

// radix reads 0x, 0o and 0b numbers.
func (p *tomlParser) radix(at int, w string, signed bool) (any, error) {
	kinds := map[byte]struct {
		base        int
		name, digit string
	}{'x': {16, "hexadecimal", "0123456789abcdefABCDEF"}, 'o': {8, "octal", "01234567"}, 'b': {2, "binary", "01"}}
	k, lower := kinds[w[1]]
	switch {
	case !lower:
		return nil, p.wide(at, 2, "radix must be lowercase, expected `%s`", strings.ToLower(w[:2]))
	case signed:
		return nil, p.fail(at-1, "integers with a radix cannot be signed, expected nothing")
	}
	for i := 2; i < len(w); i++ {
		if w[i] != '_' && !strings.Contains(k.digit, w[i:i+1]) {
			return nil, p.fail(at+i, "invalid %s number", k.name)
		}
	}
	if err := p.underscores(at+2, w[2:], k.digit); err != nil {
		return nil, err
	}
	i, err := strconv.ParseInt(strings.ReplaceAll(w[2:], "_", ""), k.base, 64)
	if err != nil {
		return nil, p.wide(at, len(w), "integer number overflowed")
	}
	return i, nil
}

// underscores refuses those that do not stand between digits.
func (p *tomlParser) underscores(at int, w, digit string) error {
	for i := range len(w) {
		if w[i] != '_' {
			continue
		}
		if i == 0 || i == len(w)-1 || !strings.Contains(digit, w[i-1:i]) || !strings.Contains(digit, w[i+1:i+2]) {
			return p.fail(at+i, "`_` may only go between digits, expected nothing")
		}
	}
	return nil
}

// digits counts those that a word begins with, with the underscores between them.
func digits(w string) int {
	return len(w) - len(strings.TrimLeft(w, "0123456789_"))
}

var dates = regexp.MustCompile(`^(?:(\d{4})-(\d{2})-(\d{2})(?:[Tt ]|$))?` +
	`(?:(\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?([Zz]|[+-](\d{2}):(\d{2}))?)?$`)

// date checks a date, a time, or both; an offset needs both.
func (p *tomlParser) date(at int, w string) (any, error) {
	m := dates.FindStringSubmatch(w)
	if m == nil || strings.ContainsAny(w[len(w)-1:], "Tt ") || m[1] == "" && m[7] != "" {
		return nil, p.wide(at, len(w), "invalid datetime")
	}
	part := func(i int) int { n, _ := strconv.Atoi(m[i]); return n }
	last := 31
	if month := part(2); month >= 1 && month <= 12 {
		last = time.Date(part(1), time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
	}
	for _, x := range []struct {
		part, least, most int
		what, name        string
	}{{2, 1, 12, "date", "month"}, {3, 1, last, "date", "day"}, {4, 0, 23, "time", "hour"}, {5, 0, 59, "time", "minute"},
		{6, 0, 60, "time", "second"}, {8, 0, 23, "offset", "hours"}, {9, 0, 59, "offset", "minutes"}} {
		if n := part(x.part); m[x.part] != "" && (n < x.least || n > x.most) {
			return nil, p.wide(at, len(w), "invalid %s, expected %s between %02d and %02d", x.what, x.name, x.least, x.most)
		}
	}
	return Date(w), nil
}
