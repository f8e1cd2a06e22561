package template

import (
	"fmt"

	"tandem/internal/repo/dsl"
	"tandem/internal/repo/text"
)

// Type describes the values of one static type. A nil function means that the
// conversion does not exist.
type Type struct {
	Name    string
	Methods func() map[string]Method // called once, when first needed
	Bool    func(v any) bool
	Write   func(o *text.Text, v any) error
	JSON    func(v any) any
	Elem    *Type // the item type of a list
	Of      *Type // the wrapped type of an option; nil values stand for none
	Same    bool  // values of this type can be compared with ==
	Worded  bool  // values have Word() and compare with strings
	table   map[string]Method
}

// Method builds a call of a method on self.
type Method func(b *Builder, self *Expr, call *dsl.Node) (*Expr, error)

func (t *Type) lookup(call *dsl.Node) (Method, error) {
	if t.table == nil && t.Methods != nil {
		t.table = t.Methods()
	}
	if m, ok := t.table[call.Name]; ok {
		return m, nil
	}
	names := make([]string, 0, len(t.table))
	for n := range t.table {
		names = append(names, n)
	}
	err := dsl.NewError(dsl.NoSuchMethod, call.NameSpan, "Method `%s` doesn't exist for type `%s`", call.Name, t.Name)
	err.Name, err.Candidates = call.Name, dsl.Similar(call.Name, names)
	return nil, err
}

// Expr is a typed piece of a template. Values have Eval; templates and
// conditionals have Render and perhaps Encode.
type Expr struct {
	Type   *Type
	Eval   func() (any, error)
	Render func(o *text.Text) error
	Encode func() (any, error)
	Joined func(o *text.Text, sep func(*text.Text) error) error
	labels []string
}

// Value makes an expression that computes a value.
func Value(t *Type, eval func() (any, error)) *Expr { return &Expr{Type: t, Eval: eval} }

// Const makes an expression of one value.
func Const(t *Type, v any) *Expr {
	return Value(t, func() (any, error) { return v, nil })
}

// Tmpl makes an expression that prints.
func Tmpl(render func(o *text.Text) error) *Expr { return &Expr{Type: TemplateType, Render: render} }

// Map derives a value from another expression's.
func Map[A any](e *Expr, t *Type, f func(A) (any, error)) *Expr {
	return Value(t, func() (any, error) {
		v, err := e.Eval()
		if err != nil {
			return nil, err
		}
		a, ok := v.(A)
		if !ok {
			return nil, fmt.Errorf("No %s available", e.Type.Name)
		}
		return f(a)
	})
}

// Pure is Map for functions that cannot fail.
func Pure[A any](e *Expr, t *Type, f func(A) any) *Expr {
	return Map(e, t, func(a A) (any, error) { return f(a), nil })
}

// Getter is a method without arguments.
func Getter[A any](t *Type, f func(A) (any, error)) Method {
	return func(b *Builder, self *Expr, call *dsl.Node) (*Expr, error) {
		if _, err := call.Expect(0, 0); err != nil {
			return nil, err
		}
		return Map(self, t, f), nil
	}
}

// Field is a Getter that cannot fail.
func Field[A any](t *Type, f func(A) any) Method {
	return Getter(t, func(a A) (any, error) { return f(a), nil })
}

// Printer returns how to print the expression, labels included; ok is false
// when its type cannot be printed.
func (e *Expr) Printer() (func(o *text.Text) error, bool) {
	inner := e.Render
	if inner == nil {
		t := e.Type
		if t.Write == nil {
			return nil, false
		}
		inner = func(o *text.Text) error {
			v, err := e.Eval()
			if err != nil {
				return o.Fail(err)
			}
			return t.Write(o, v)
		}
	}
	if len(e.labels) == 0 {
		return inner, true
	}
	labels := e.labels
	return func(o *text.Text) error {
		for _, l := range labels {
			o.Push(l)
		}
		err := inner(o)
		o.PopN(len(labels))
		return err
	}, true
}

// Option makes the optional form of a type.
func Option(t *Type) *Type {
	o := &Type{Name: "Option<" + t.Name + ">", Of: t}
	o.Bool = func(v any) bool { return v != nil }
	if t.Write != nil {
		o.Write = func(out *text.Text, v any) error {
			if v == nil {
				return nil
			}
			return t.Write(out, v)
		}
	}
	if t.JSON != nil {
		o.JSON = func(v any) any {
			if v == nil {
				return nil
			}
			return t.JSON(v)
		}
	}
	return o
}

// List makes the type of lists of t, printed with a separator.
func List(t *Type, sep string) *Type {
	l := &Type{Name: "List<" + t.Name + ">", Elem: t}
	l.Bool = func(v any) bool { return len(v.([]any)) > 0 }
	if t.Write != nil {
		l.Write = func(o *text.Text, v any) error {
			for i, item := range v.([]any) {
				if i > 0 {
					o.Str(sep)
				}
				if err := t.Write(o, item); err != nil {
					return err
				}
			}
			return nil
		}
	}
	if t.JSON != nil {
		l.JSON = func(v any) any {
			out := []any{}
			for _, item := range v.([]any) {
				out = append(out, t.JSON(item))
			}
			return out
		}
	}
	l.Methods = func() map[string]Method { return listMethods(l) }
	return l
}

// Items turns a slice into a list value.
func Items[T any](in []T) []any {
	out := make([]any, len(in))
	for i, v := range in {
		out[i] = v
	}
	return out
}

// TemplateType is the type of expressions that only print.
var TemplateType = &Type{Name: "Template"}

// AnyType is the type of conditionals.
var AnyType = &Type{Name: "Any"}

// AnyListType is the type of mapped lists.
var AnyListType = &Type{Name: "AnyList", Methods: func() map[string]Method {
	return map[string]Method{"join": func(b *Builder, self *Expr, call *dsl.Node) (*Expr, error) {
		args, err := call.Expect(1, 1)
		if err != nil {
			return nil, err
		}
		sep, err := b.Printed(args[0])
		if err != nil {
			return nil, err
		}
		if self.Joined == nil {
			return nil, expected("Template", "AnyList", call.NameSpan)
		}
		return Tmpl(func(o *text.Text) error { return self.Joined(o, sep) }), nil
	}}
}}

func expected(want, got string, at dsl.Span) *dsl.Error {
	return dsl.Exprf(at, "Expected expression of type `%s`, but actual type is `%s`", want, got)
}
