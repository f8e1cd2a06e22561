package template

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/internal/repo/dsl"
	"tandem/internal/repo/text"
)

func stringType(name string) Type {
	return Type{
		Name:  name,
		Bool:  func(v any) bool { return v.(string) != "" },
		Write: func(o *text.Text, v any) error { o.Str(v.(string)); return nil },
		JSON:  func(v any) any { return v },
	}
}

func stringMethods(t, list *Type) map[string]Method {
	return map[string]Method{
		"len":           Field(IntegerType, func(s string) any { return int64(len(s)) }),
		"contains":      needle(BooleanType, func(s, n string) any { return strings.Contains(s, n) }),
		"starts_with":   needle(BooleanType, func(s, n string) any { return strings.HasPrefix(s, n) }),
		"ends_with":     needle(BooleanType, func(s, n string) any { return strings.HasSuffix(s, n) }),
		"remove_prefix": needle(t, func(s, n string) any { return strings.TrimPrefix(s, n) }),
		"remove_suffix": needle(t, func(s, n string) any { return strings.TrimSuffix(s, n) }),
		"trim":          Field(t, func(s string) any { return strings.TrimSpace(s) }),
		"trim_start":    Field(t, func(s string) any { return strings.TrimLeftFunc(s, unicode.IsSpace) }),
		"trim_end":      Field(t, func(s string) any { return strings.TrimRightFunc(s, unicode.IsSpace) }),
		"first_line":    Field(t, func(s string) any { return firstLine(s) }),
		"lines":         Field(list, func(s string) any { return Items(Lines(s)) }),
		"upper":         Field(t, func(s string) any { return strings.ToUpper(s) }),
		"lower":         Field(t, func(s string) any { return strings.ToLower(s) }),
		"escape_json":   Getter(StringType, func(s string) (any, error) { return Marshal(s) }),
		"match":         matchMethod(t),
		"substr":        substr(t),
		"split":         split(list),
		"replace":       replaceMethod(t),
	}
}

// Lines splits text into lines without their ends.
func Lines(s string) []string {
	if s == "" {
		return nil
	}
	out := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	for i, l := range out {
		out[i] = strings.TrimSuffix(l, "\r")
	}
	return out
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSuffix(line, "\r")
}

func needle(t *Type, f func(s, n string) any) Method {
	return func(b *Builder, self *Expr, call *dsl.Node) (*Expr, error) {
		args, err := call.Expect(1, 1)
		if err != nil {
			return nil, err
		}
		arg, err := b.Stringed(args[0])
		if err != nil {
			return nil, err
		}
		return Map(self, t, func(s string) (any, error) {
			n, err := arg()
			if err != nil {
				return nil, err
			}
			return f(s, n), nil
		}), nil
	}
}

func matchMethod(t *Type) Method {
	return func(b *Builder, self *Expr, call *dsl.Node) (*Expr, error) {
		args, err := call.Expect(1, 1)
		if err != nil {
			return nil, err
		}
		p, err := Pattern(args[0])
		if err != nil {
			return nil, err
		}
		re := p.Regexp()
		return Pure(self, t, func(s string) any { return re.FindString(s) }), nil
	}
}

// boundary clamps a possibly negative index to a character's edge.
func boundary(s string, i int64) int {
	if i < 0 {
		p := max(0, len(s)+int(max(i, -int64(len(s)))))
		for p < len(s) && !utf8.RuneStart(s[p]) {
			p++
		}
		return p
	}
	p := int(min(i, int64(len(s))))
	for p > 0 && p < len(s) && !utf8.RuneStart(s[p]) {
		p--
	}
	return p
}

func substr(t *Type) Method {
	return func(b *Builder, self *Expr, call *dsl.Node) (*Expr, error) {
		args, err := call.Expect(1, 2)
		if err != nil {
			return nil, err
		}
		from, err := b.Int(args[0])
		if err != nil {
			return nil, err
		}
		var to func() (int64, error)
		if args[1] != nil {
			if to, err = b.Int(args[1]); err != nil {
				return nil, err
			}
		}
		return Map(self, t, func(s string) (any, error) {
			i, err := from()
			if err != nil {
				return nil, err
			}
			lo, hi := boundary(s, i), len(s)
			if to != nil {
				j, err := to()
				if err != nil {
					return nil, err
				}
				hi = boundary(s, j)
			}
			if lo >= hi {
				return "", nil
			}
			return s[lo:hi], nil
		}), nil
	}
}

func (b *Builder) limit(n *dsl.Node) (func() (int, error), error) {
	if n == nil {
		return func() (int, error) { return -1, nil }, nil
	}
	return b.Size(n)
}

func split(list *Type) Method {
	return func(b *Builder, self *Expr, call *dsl.Node) (*Expr, error) {
		args, err := call.Expect(1, 2)
		if err != nil {
			return nil, err
		}
		p, err := Pattern(args[0])
		if err != nil {
			return nil, err
		}
		limit, err := b.limit(args[1])
		if err != nil {
			return nil, err
		}
		re := p.Regexp()
		return Map(self, list, func(s string) (any, error) {
			n, err := limit()
			if err != nil {
				return nil, err
			}
			return Items(splitAll(re, s, n)), nil
		}), nil
	}
}

// splitAll splits like Rust's regex: empty pieces at the ends are kept.
func splitAll(re *regexp.Regexp, s string, n int) []string {
	if n == 0 {
		return nil
	}
	var out []string
	at := 0
	for _, m := range re.FindAllStringIndex(s, -1) {
		if n > 0 && len(out) == n-1 {
			break
		}
		out = append(out, s[at:m[0]])
		at = m[1]
	}
	return append(out, s[at:])
}

func replaceMethod(t *Type) Method {
	return func(b *Builder, self *Expr, call *dsl.Node) (*Expr, error) {
		args, err := call.Expect(2, 3)
		if err != nil {
			return nil, err
		}
		p, err := Pattern(args[0])
		if err != nil {
			return nil, err
		}
		with, err := b.Stringed(args[1])
		if err != nil {
			return nil, err
		}
		limit, err := b.limit(args[2])
		if err != nil {
			return nil, err
		}
		re := p.Regexp()
		return Map(self, t, func(s string) (any, error) {
			repl, err := with()
			if err != nil {
				return nil, err
			}
			n, err := limit()
			if err != nil {
				return nil, err
			}
			var out []byte
			at := 0
			for i, m := range re.FindAllStringSubmatchIndex(s, -1) {
				if n >= 0 && i >= n {
					break
				}
				out = append(out, s[at:m[0]]...)
				out = re.ExpandString(out, repl, s, m)
				at = m[1]
			}
			return string(append(out, s[at:]...)), nil
		}), nil
	}
}

// StringMethodsOf are the methods of strings for a type whose values hold one.
func StringMethodsOf(text func(v any) string) map[string]Method {
	base := stringMethods(StringType, StringList)
	out := make(map[string]Method, len(base))
	for name, m := range base {
		out[name] = func(b *Builder, self *Expr, call *dsl.Node) (*Expr, error) {
			return m(b, Map(self, StringType, func(v any) (any, error) { return text(v), nil }), call)
		}
	}
	return out
}
