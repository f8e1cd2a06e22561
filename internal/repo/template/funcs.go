package template

import (
	"encoding/binary"
	"strings"

	"golang.org/x/crypto/blake2b"

	"tandem/internal/repo/dsl"
	"tandem/internal/repo/pattern"
	"tandem/internal/repo/text"
)

type printer = func(*text.Text) error

// builtin finds a core function; names are listed for suggestions.
var builtinNames = []string{
	"fill", "indent", "pad_start", "pad_end", "pad_centered", "truncate_start", "truncate_end", "hash", "label",
	"raw_escape_sequence", "hyperlink", "replace", "stringify", "json", "if", "try", "coalesce", "concat", "join",
	"separate", "surround", "config",
}

func (b *Builder) function(n *dsl.Node) (*Expr, error) {
	if f, ok := b.Lang.Functions[n.Name]; ok {
		return f(b, n)
	}
	switch n.Name {
	case "fill", "indent":
		return b.fillOrIndent(n)
	case "pad_start", "pad_end", "pad_centered":
		return b.pad(n)
	case "truncate_start", "truncate_end":
		return b.truncate(n)
	case "hash":
		return b.oneString(n, func(s string) (any, error) {
			// jj hashes a string with its length before it.
			sum := blake2b.Sum512(append(binary.LittleEndian.AppendUint64(nil, uint64(len(s))), s...))
			const digits = "0123456789abcdef"
			var out strings.Builder
			for _, c := range sum {
				out.WriteByte(digits[c>>4])
				out.WriteByte(digits[c&15])
			}
			return out.String(), nil
		})
	case "label":
		return b.label(n)
	case "raw_escape_sequence":
		return b.raw(n)
	case "hyperlink":
		return b.hyperlink(n)
	case "replace":
		return b.replace(n)
	case "stringify":
		return b.oneString(n, func(s string) (any, error) { return s, nil })
	case "json":
		return b.json(n)
	case "if":
		return b.cond(n)
	case "try":
		return b.try(n)
	case "coalesce", "concat", "join", "separate":
		return b.sequence(n)
	case "surround":
		return b.surround(n)
	case "config":
		return b.config(n)
	}
	names := append([]string(nil), builtinNames...)
	for f := range b.Lang.Functions {
		names = append(names, f)
	}
	err := dsl.NewError(dsl.NoSuchFunction, n.NameSpan, "Function `%s` doesn't exist", n.Name)
	err.Name, err.Candidates = n.Name, dsl.Similar(n.Name, names)
	return nil, err
}

func (b *Builder) oneString(n *dsl.Node, f func(string) (any, error)) (*Expr, error) {
	args, err := n.Expect(1, 1)
	if err != nil {
		return nil, err
	}
	s, err := b.Stringed(args[0])
	if err != nil {
		return nil, err
	}
	return Value(StringType, func() (any, error) {
		v, err := s()
		if err != nil {
			return nil, err
		}
		return f(v)
	}), nil
}

// captured renders content apart, then hands it to use.
func captured(content printer, use func(o, got *text.Text) error) *Expr {
	return Tmpl(func(o *text.Text) error {
		got := o.Sub()
		if err := content(got); err != nil {
			return err
		}
		return use(o, got)
	})
}

func (b *Builder) fillOrIndent(n *dsl.Node) (*Expr, error) {
	args, err := n.Expect(2, 2)
	if err != nil {
		return nil, err
	}
	if n.Name == "indent" {
		prefix, err := b.Printed(args[0])
		if err != nil {
			return nil, err
		}
		content, err := b.Printed(args[1])
		if err != nil {
			return nil, err
		}
		return captured(content, func(o, got *text.Text) error { return got.Indent(o, prefix) }), nil
	}
	w, err := b.Size(args[0])
	if err != nil {
		return nil, err
	}
	content, err := b.Printed(args[1])
	if err != nil {
		return nil, err
	}
	return captured(content, func(o, got *text.Text) error {
		n, err := w()
		if err != nil {
			return o.Fail(err)
		}
		got.Wrap(o, n)
		return nil
	}), nil
}

// sized builds (width, content, [extra]) calls.
func (b *Builder) sized(n *dsl.Node, extraName, extraDefault string, use func(o, got, extra *text.Text, w int)) (*Expr, error) {
	args, err := n.ExpectNamed(2, 3, "", "", extraName)
	if err != nil {
		return nil, err
	}
	w, err := b.Size(args[0])
	if err != nil {
		return nil, err
	}
	content, err := b.Printed(args[1])
	if err != nil {
		return nil, err
	}
	extra := func(o *text.Text) error { o.Str(extraDefault); return nil }
	if args[2] != nil {
		if extra, err = b.Printed(args[2]); err != nil {
			return nil, err
		}
	}
	return captured(content, func(o, got *text.Text) error {
		n, err := w()
		if err != nil {
			return o.Fail(err)
		}
		e := o.Sub()
		if err := extra(e); err != nil {
			return err
		}
		use(o, got, e, n)
		return nil
	}), nil
}

func (b *Builder) pad(n *dsl.Node) (*Expr, error) {
	left, right := n.Name != "pad_end", n.Name != "pad_start"
	return b.sized(n, "fill_char", " ", func(o, got, fill *text.Text, w int) { got.Pad(o, fill, w, left, right) })
}

func (b *Builder) truncate(n *dsl.Node) (*Expr, error) {
	start := n.Name == "truncate_start"
	return b.sized(n, "ellipsis", "", func(o, got, e *text.Text, w int) {
		if start {
			got.TruncateStart(o, e, w)
		} else {
			got.TruncateEnd(o, e, w)
		}
	})
}

func (b *Builder) label(n *dsl.Node) (*Expr, error) {
	args, err := n.Expect(2, 2)
	if err != nil {
		return nil, err
	}
	labels, err := b.Stringed(args[0])
	if err != nil {
		return nil, err
	}
	content, err := b.Printed(args[1])
	if err != nil {
		return nil, err
	}
	return Tmpl(func(o *text.Text) error {
		l, err := labels()
		if err != nil {
			return o.Fail(err)
		}
		k := o.PushAll(l)
		err = content(o)
		o.PopN(k)
		return err
	}), nil
}

func (b *Builder) raw(n *dsl.Node) (*Expr, error) {
	args, err := n.Expect(1, 1)
	if err != nil {
		return nil, err
	}
	content, err := b.Printed(args[0])
	if err != nil {
		return nil, err
	}
	return captured(content, func(o, got *text.Text) error { o.Raw(got.String()); return nil }), nil
}

func (b *Builder) hyperlink(n *dsl.Node) (*Expr, error) {
	args, err := n.Expect(2, 3)
	if err != nil {
		return nil, err
	}
	url, err := b.Stringed(args[0])
	if err != nil {
		return nil, err
	}
	label, err := b.Printed(args[1])
	if err != nil {
		return nil, err
	}
	plain := label
	if args[2] != nil {
		if plain, err = b.Printed(args[2]); err != nil {
			return nil, err
		}
	}
	return Tmpl(func(o *text.Text) error {
		u, err := url()
		if err != nil {
			return o.Fail(err)
		}
		if !o.Colour {
			return plain(o)
		}
		o.Raw("\x1b]8;;" + u + "\x1b\\")
		err = label(o)
		o.Raw("\x1b]8;;\x1b\\")
		return err
	}), nil
}

func (b *Builder) json(n *dsl.Node) (*Expr, error) {
	args, err := n.Expect(1, 1)
	if err != nil {
		return nil, err
	}
	v, err := b.Encoded(args[0])
	if err != nil {
		return nil, err
	}
	return Value(StringType, func() (any, error) {
		x, err := v()
		if err != nil {
			return nil, err
		}
		return Marshal(x)
	}), nil
}

// cond keeps what both branches have in common: it prints when both print, and
// encodes when both encode.
func (b *Builder) cond(n *dsl.Node) (*Expr, error) {
	args, err := n.Expect(2, 3)
	if err != nil {
		return nil, err
	}
	test, err := b.Bool(args[0])
	if err != nil {
		return nil, err
	}
	yes, err := b.Build(args[1])
	if err != nil {
		return nil, err
	}
	no := &Expr{Type: AnyType, Render: func(*text.Text) error { return nil }, Encode: func() (any, error) { return nil, nil }}
	if args[2] != nil {
		if no, err = b.Build(args[2]); err != nil {
			return nil, err
		}
	}
	out := &Expr{Type: AnyType}
	py, ok1 := yes.Printer()
	pn, ok2 := no.Printer()
	if ok1 && ok2 {
		out.Render = func(o *text.Text) error {
			t, err := test()
			if err != nil {
				return o.Fail(err)
			}
			if t {
				return py(o)
			}
			return pn(o)
		}
	}
	if ey, en := encoder(yes), encoder(no); ey != nil && en != nil {
		out.Encode = func() (any, error) {
			t, err := test()
			if err != nil {
				return nil, err
			}
			if t {
				return ey()
			}
			return en()
		}
	}
	return out, nil
}

func (b *Builder) try(n *dsl.Node) (*Expr, error) {
	args, err := n.ExpectSome(1)
	if err != nil {
		return nil, err
	}
	parts, err := b.printedAll(args)
	if err != nil {
		return nil, err
	}
	return Tmpl(func(o *text.Text) error {
		for _, p := range parts[:len(parts)-1] {
			got := o.Sub()
			got.Strict = true
			if p(got) == nil {
				o.Append(got)
				return nil
			}
		}
		return parts[len(parts)-1](o)
	}), nil
}

func (b *Builder) sequence(n *dsl.Node) (*Expr, error) {
	need := 0
	if n.Name == "join" || n.Name == "separate" {
		need = 1
	}
	args, err := n.ExpectSome(need)
	if err != nil {
		return nil, err
	}
	parts, err := b.printedAll(args)
	if err != nil {
		return nil, err
	}
	switch n.Name {
	case "concat":
		return Tmpl(func(o *text.Text) error { return each(o, parts) }), nil
	case "coalesce":
		return Tmpl(func(o *text.Text) error { return firstNonEmpty(o, parts) }), nil
	}
	skip := n.Name == "separate"
	sep, parts := parts[0], parts[1:]
	return Tmpl(func(o *text.Text) error {
		wrote := false
		for _, p := range parts {
			got := o.Sub()
			if err := p(got); err != nil {
				return err
			}
			if skip && got.Len() == 0 {
				continue
			}
			if wrote {
				if err := sep(o); err != nil {
					return err
				}
			}
			wrote = true
			o.Append(got)
		}
		return nil
	}), nil
}

func firstNonEmpty(o *text.Text, parts []printer) error {
	for _, p := range parts {
		got := o.Sub()
		if err := p(got); err != nil {
			return err
		}
		if got.Len() > 0 {
			o.Append(got)
			return nil
		}
	}
	return nil
}

func (b *Builder) surround(n *dsl.Node) (*Expr, error) {
	args, err := n.Expect(3, 3)
	if err != nil {
		return nil, err
	}
	parts, err := b.printedAll(args)
	if err != nil {
		return nil, err
	}
	return captured(parts[2], func(o, got *text.Text) error {
		if got.Len() == 0 {
			return nil
		}
		if err := parts[0](o); err != nil {
			return err
		}
		o.Append(got)
		return parts[1](o)
	}), nil
}

func (b *Builder) config(n *dsl.Node) (*Expr, error) {
	args, err := n.Expect(1, 1)
	if err != nil {
		return nil, err
	}
	name, err := b.Stringed(args[0])
	if err != nil {
		return nil, err
	}
	get := b.Lang.Config
	err = dsl.Catch(args[0], func(n *dsl.Node) error {
		if n.Kind != dsl.String {
			return nil
		}
		if _, err := get(n.Name); err != nil {
			return dsl.Exprf(n.Span, "Failed to parse config name").With(err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return Value(ConfigOpt, func() (any, error) {
		key, err := name()
		if err != nil {
			return nil, err
		}
		return get(key)
	}), nil
}

// Pattern returns the string pattern a node stands for.
func Pattern(n *dsl.Node) (p pattern.String, err error) {
	err = dsl.Catch(n, func(n *dsl.Node) error {
		switch n.Kind {
		case dsl.String:
			p = pattern.Substring(n.Name)
			return nil
		case dsl.Pattern:
			s, err := Literal(n.Args[0])
			if err != nil {
				return err
			}
			if p, err = pattern.New(n.Name, s); err != nil {
				return dsl.Exprf(n.Span, "Bad string pattern").With(err)
			}
			return nil
		}
		return dsl.Exprf(n.Span, "Expected string pattern")
	})
	return p, err
}

func (b *Builder) replace(n *dsl.Node) (*Expr, error) {
	args, err := n.Expect(3, 3)
	if err != nil {
		return nil, err
	}
	content, err := b.Printed(args[1])
	if err != nil {
		return nil, err
	}
	pat, err := Pattern(args[0])
	if err != nil {
		return nil, err
	}
	var cell any
	body, err := b.lambda(args[2], CapturesType, &cell, func(inner *Builder, n *dsl.Node) (any, error) { return inner.Printed(n) })
	if err != nil {
		return nil, err
	}
	show := body.(printer)
	re := pat.Regexp()
	return captured(content, func(o, got *text.Text) error {
		s := got.String()
		at := 0
		for _, m := range re.FindAllStringSubmatchIndex(s, -1) {
			got.Slice(o, at, m[0])
			c := Captures{Names: re.SubexpNames()}
			for i := 0; i < len(m); i += 2 {
				g := ""
				if m[i] >= 0 {
					g = s[m[i]:m[i+1]]
				}
				c.Groups = append(c.Groups, g)
			}
			cell = c
			if err := show(o); err != nil {
				return err
			}
			at = m[1]
		}
		got.Slice(o, at, len(s))
		return nil
	}), nil
}

// lambda builds the body of a one-parameter lambda; the parameter reads cell.
func (b *Builder) lambda(n *dsl.Node, t *Type, cell *any, build func(*Builder, *dsl.Node) (any, error)) (out any, err error) {
	err = dsl.Catch(n, func(n *dsl.Node) error {
		if n.Kind != dsl.Lambda {
			return dsl.Exprf(n.Span, "Expected lambda expression")
		}
		if len(n.Params) != 1 {
			return dsl.Exprf(n.ArgsSpan, "Expected 1 lambda parameters")
		}
		inner := &Builder{Lang: b.Lang, self: b.self, locals: map[string]*Expr{}}
		for k, v := range b.locals {
			inner.locals[k] = v
		}
		inner.locals[n.Params[0]] = Value(t, func() (any, error) { return *cell, nil })
		var err error
		out, err = build(inner, n.Args[0])
		return err
	})
	return out, err
}
