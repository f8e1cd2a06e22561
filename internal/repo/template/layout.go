package template

import (
	"sync"

	"tandem/internal/repo/dsl"
	"tandem/internal/repo/text"
)

// captured renders content apart, then hands it to use.
func captured(content printer, use func(o, got *text.Text) error) *Expr {
	return Tmpl(func(o *text.Text) error {
		got := borrow(o)
		if err := content(got); err != nil {
			return err
		}
		err := use(o, got)
		giveBack(got)
		return err
	})
}

// spare are texts that parts of templates were rendered in apart.
var spare = sync.Pool{New: func() any { return new(text.Text) }}

// borrow is an empty text that treats colours and errors as o does.
func borrow(o *text.Text) *text.Text {
	t := spare.Get().(*text.Text)
	t.Reset()
	t.Colour, t.Strict = o.Colour, o.Strict
	return t
}

func giveBack(t *text.Text) { spare.Put(t) }

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
