package template

import (
	"tandem/internal/repo/dsl"
	"tandem/internal/repo/text"
)

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
		got := borrow(o)
		wrote := false
		for _, p := range parts {
			got.Reset()
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
		giveBack(got)
		return nil
	}), nil
}

func firstNonEmpty(o *text.Text, parts []printer) error {
	for _, p := range parts {
		if wrote, err := o.Attempt(p); err != nil || wrote {
			return err
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
	var fixed *Expr
	err = dsl.Catch(args[0], func(n *dsl.Node) error {
		if n.Kind != dsl.String {
			return nil
		}
		v, err := get(n.Name)
		if err != nil {
			return dsl.Exprf(n.Span, "Failed to parse config name").With(err)
		}
		fixed = Const(ConfigOpt, v)
		return nil
	})
	if err != nil || fixed != nil {
		return fixed, err
	}
	return Value(ConfigOpt, func() (any, error) {
		key, err := name()
		if err != nil {
			return nil, err
		}
		return get(key)
	}), nil
}
