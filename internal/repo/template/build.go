package template

import (
	"math"

	"tandem/internal/repo/dsl"
	"tandem/internal/repo/text"
)

// Language is what surrounds a template: the functions beyond the core ones,
// the settings it may read, and the directory paths are shown from.
type Language struct {
	Functions map[string]func(b *Builder, call *dsl.Node) (*Expr, error)
	// Config returns a configured value, or nil when there is none.
	Config func(name string) (any, error)
	Cwd    string
	// LocalOffset is the reader's time zone in minutes.
	LocalOffset func() int
	Warn        func(*dsl.Error)
}

// Builder turns a syntax tree into expressions.
type Builder struct {
	Lang   *Language
	self   *Expr
	locals map[string]*Expr

	through []*dsl.Node // aliases around the node that is being built
}

// Renderer writes a template for one value after another.
type Renderer struct {
	cell *any
	show func(o *text.Text) error
}

// Render writes the template for self.
func (r *Renderer) Render(o *text.Text, self any) error {
	saved := *r.cell
	*r.cell = self
	err := r.show(o)
	*r.cell = saved
	return err
}

// String renders without labels; an evaluation error is returned.
func (r *Renderer) String(self any) (string, error) {
	o := &text.Text{Strict: true}
	if err := r.Render(o, self); err != nil {
		return "", err
	}
	return o.String(), nil
}

// Build parses a template for values of type self.
func Build(lang *Language, aliases *dsl.Aliases, source string, self *Type) (*Renderer, error) {
	node, err := Parse(source)
	if err != nil {
		return nil, err
	}
	if node, err = aliases.Expand(node, nil); err != nil {
		return nil, err
	}
	cell := new(any)
	b := &Builder{Lang: lang, self: Value(self, func() (any, error) { return *cell, nil })}
	show, err := b.Printed(node)
	if err != nil {
		return nil, extend(err, aliases)
	}
	return &Renderer{cell, show}, nil
}

// extend adds alias names to the candidates of an unknown name.
func extend(err error, aliases *dsl.Aliases) error {
	e, ok := err.(*dsl.Error)
	if !ok {
		return err
	}
	switch e.Kind {
	case dsl.NoSuchKeyword:
		e.Candidates = dsl.Similar(e.Name, nil, e.Candidates, aliases.SymbolNames())
	case dsl.NoSuchFunction:
		e.Candidates = dsl.Similar(e.Name, nil, e.Candidates, aliases.FuncNames())
	}
	return e
}

// Build makes the expression of a node.
func (b *Builder) Build(n *dsl.Node) (e *Expr, err error) {
	_, through := dsl.Skip(n)
	outside := b.through
	b.through = append(outside[:len(outside):len(outside)], through...)
	err = dsl.Catch(n, func(n *dsl.Node) error {
		var err error
		e, err = b.build(n)
		return err
	})
	b.through = outside
	return e, err
}

// Warn tells of something about the node that is being built, and of the
// aliases that led to it.
func (b *Builder) Warn(err *dsl.Error) {
	if b.Lang.Warn == nil {
		return
	}
	if in, ok := dsl.InAliases(err, b.through).(*dsl.Error); ok {
		b.Lang.Warn(in)
	}
}

func (b *Builder) build(n *dsl.Node) (*Expr, error) {
	switch n.Kind {
	case dsl.Ident:
		if v, ok := b.locals[n.Name]; ok {
			return bare(v), nil
		}
		if n.Name == "self" {
			return bare(b.self), nil
		}
		return b.keyword(n)
	case dsl.Boolean:
		return Const(BooleanType, n.Int == 1), nil
	case dsl.Integer:
		return Const(IntegerType, n.Int), nil
	case dsl.String:
		return Const(StringType, n.Name), nil
	case dsl.Pattern:
		return nil, dsl.Exprf(n.Span, "String patterns may not be used as expression values")
	case dsl.Unary:
		return b.unary(n)
	case dsl.Binary:
		return b.binary(n)
	case dsl.Concat:
		parts, err := b.printedAll(n.Args)
		if err != nil {
			return nil, err
		}
		return Tmpl(func(o *text.Text) error { return each(o, parts) }), nil
	case dsl.Call:
		return b.function(n)
	case dsl.Method:
		obj, err := b.Build(n.Args[0])
		if err != nil {
			return nil, err
		}
		labels := obj.labels
		out, err := b.method(obj, n)
		if err != nil {
			return nil, err
		}
		c := *out
		c.labels = append(labels[:len(labels):len(labels)], n.Name)
		return &c, nil
	case dsl.Lambda:
		return nil, dsl.Exprf(n.Span, "Lambda cannot be defined here")
	}
	return nil, dsl.Exprf(n.Span, "Unexpected expression")
}

func bare(e *Expr) *Expr {
	c := *e
	c.labels = nil
	return &c
}

func each(o *text.Text, parts []func(*text.Text) error) error {
	for _, p := range parts {
		if err := p(o); err != nil {
			return err
		}
	}
	return nil
}

// keyword is a method of self called without parentheses.
func (b *Builder) keyword(n *dsl.Node) (*Expr, error) {
	end := dsl.Span{Src: n.Span.Src, Start: n.Span.End, End: n.Span.End}
	call := &dsl.Node{Kind: dsl.Call, Name: n.Name, NameSpan: n.Span, Span: n.Span, ArgsSpan: end}
	e, err := b.method(b.self, call)
	if err == nil {
		c := *e
		c.labels = []string{n.Name}
		return &c, nil
	}
	de, ok := err.(*dsl.Error)
	if !ok || (de.Kind != dsl.NoSuchMethod && de.Kind != dsl.InvalidArguments) {
		return nil, err
	}
	out := dsl.NewError(dsl.NoSuchKeyword, n.Span, "Keyword `%s` doesn't exist", n.Name)
	out.Name, out.Candidates = n.Name, de.Candidates
	if de.Kind == dsl.InvalidArguments {
		out.Candidates = []string{"self." + n.Name + "(..)"}
	}
	names := []string{"self"}
	for l := range b.locals {
		names = append(names, l)
	}
	out.Candidates = dsl.Similar(n.Name, nil, out.Candidates, names)
	return nil, out
}

func (b *Builder) method(self *Expr, call *dsl.Node) (*Expr, error) {
	t := self.Type
	if t.Of != nil {
		inner := t.Of
		m, err := inner.lookup(call)
		if err != nil {
			return nil, err
		}
		name := inner.Name
		unwrapped := Value(inner, func() (any, error) {
			v, err := self.Eval()
			if err == nil && v == nil {
				return nil, none(name)
			}
			return v, err
		})
		return m(b, unwrapped, call)
	}
	m, err := t.lookup(call)
	if err != nil {
		return nil, err
	}
	return m(b, self, call)
}

type none string

func (n none) Error() string { return "No " + string(n) + " available" }

// Printed builds a node that must be printable.
func (b *Builder) Printed(n *dsl.Node) (func(*text.Text) error, error) {
	e, err := b.Build(n)
	if err != nil {
		return nil, err
	}
	if p, ok := e.Printer(); ok {
		return p, nil
	}
	return nil, b.wrong(n, "Template", e)
}

// wrong reports a type error at the innermost place.
func (b *Builder) wrong(n *dsl.Node, want string, e *Expr) error {
	return dsl.Catch(n, func(n *dsl.Node) error { return expected(want, e.Type.Name, n.Span) })
}

func (b *Builder) printedAll(ns []*dsl.Node) ([]func(*text.Text) error, error) {
	out := make([]func(*text.Text) error, len(ns))
	for i, n := range ns {
		p, err := b.Printed(n)
		if err != nil {
			return nil, err
		}
		out[i] = p
	}
	return out, nil
}

// Bool builds a node that must be usable as a condition.
func (b *Builder) Bool(n *dsl.Node) (func() (bool, error), error) {
	e, err := b.Build(n)
	if err != nil {
		return nil, err
	}
	if e.Type.Bool == nil || e.Eval == nil {
		return nil, b.wrong(n, "Boolean", e)
	}
	return func() (bool, error) {
		v, err := e.Eval()
		if err != nil {
			return false, err
		}
		return e.Type.Bool(v), nil
	}, nil
}

// Int builds a node that must be a number.
func (b *Builder) Int(n *dsl.Node) (func() (int64, error), error) {
	e, err := b.Build(n)
	if err != nil {
		return nil, err
	}
	if e.Type != IntegerType && e.Type != IntegerOpt {
		return nil, b.wrong(n, "Integer", e)
	}
	return func() (int64, error) {
		v, err := e.Eval()
		if err != nil {
			return 0, err
		}
		if v == nil {
			return 0, none("Integer")
		}
		return v.(int64), nil
	}, nil
}

// Size is Int for numbers that must not be negative.
func (b *Builder) Size(n *dsl.Node) (func() (int, error), error) {
	f, err := b.Int(n)
	if err != nil {
		return nil, err
	}
	return func() (int, error) {
		v, err := f()
		if err == nil && (v < 0 || v > math.MaxInt32) {
			err = rangeError{}
		}
		return int(v), err
	}, nil
}

type rangeError struct{}

func (rangeError) Error() string { return "out of range integral type conversion attempted" }

// Stringed builds a node whose printed form is wanted as a string.
func (b *Builder) Stringed(n *dsl.Node) (func() (string, error), error) {
	e, err := b.Build(n)
	if err != nil {
		return nil, err
	}
	if e.Type == StringType && e.Eval != nil {
		return func() (string, error) {
			v, err := e.Eval()
			if err != nil {
				return "", err
			}
			return v.(string), nil
		}, nil
	}
	p, ok := e.Printer()
	if !ok {
		return nil, b.wrong(n, "Stringify", e)
	}
	return func() (string, error) {
		o := &text.Text{Strict: true}
		if err := p(o); err != nil {
			return "", err
		}
		return o.String(), nil
	}, nil
}

// Encoded builds a node that must have a JSON form.
func (b *Builder) Encoded(n *dsl.Node) (func() (any, error), error) {
	e, err := b.Build(n)
	if err != nil {
		return nil, err
	}
	if f := encoder(e); f != nil {
		return f, nil
	}
	return nil, b.wrong(n, "Serialize", e)
}

func encoder(e *Expr) func() (any, error) {
	if e.Encode != nil {
		return e.Encode
	}
	if e.Eval == nil || e.Type.JSON == nil {
		return nil
	}
	return func() (any, error) {
		v, err := e.Eval()
		if err != nil {
			return nil, err
		}
		return e.Type.JSON(v), nil
	}
}

// Marshal renders a JSON form compactly, without escaping HTML.
func Marshal(v any) (string, error) {
	out, err := appendJSON(nil, v)
	return string(out), err
}

// Literal returns the text of a string literal.
func Literal(n *dsl.Node) (s string, err error) {
	err = dsl.Catch(n, func(n *dsl.Node) error {
		if n.Kind != dsl.String {
			return dsl.Exprf(n.Span, "Expected string literal")
		}
		s = n.Name
		return nil
	})
	return s, err
}
