package template

import (
	"errors"
	"fmt"
	"slices"

	"tandem/internal/repo/dsl"
	"tandem/internal/repo/text"
)

// listMethods are the methods of every list; printable items also have join.
func listMethods(l *Type) map[string]Method {
	end := func(at func(n int) int) Method {
		return Getter(l.Elem, func(v []any) (any, error) {
			if len(v) == 0 {
				return nil, errors.New("List is empty")
			}
			return v[at(len(v))], nil
		})
	}
	m := map[string]Method{
		"len":    Field(IntegerType, func(v []any) any { return int64(len(v)) }),
		"first":  end(func(int) int { return 0 }),
		"last":   end(func(n int) int { return n - 1 }),
		"filter": predicate(l, l, func(v []any, keep []bool) any { return chosen(v, keep) }),
		"any":    predicate(l, BooleanType, func(_ []any, keep []bool) any { return slices.Contains(keep, true) }),
		"all":    predicate(l, BooleanType, func(_ []any, keep []bool) any { return !slices.Contains(keep, false) }),
		"map":    mapList,
		"reverse": Field(l, func(v []any) any {
			out := slices.Clone(v)
			slices.Reverse(out)
			return out
		}),
		"skip": sized(l, func(v []any, n int) (any, error) { return v[min(n, len(v)):], nil }),
		"take": sized(l, func(v []any, n int) (any, error) { return v[:min(n, len(v))], nil }),
		"get": sized(l.Elem, func(v []any, n int) (any, error) {
			if n >= len(v) {
				return nil, fmt.Errorf("Index %d out of bounds", n)
			}
			return v[n], nil
		}),
	}
	if l.Elem.Write != nil {
		m["join"] = joinList
	}
	return m
}

func chosen(v []any, keep []bool) []any {
	out := []any{}
	for i, x := range v {
		if keep[i] {
			out = append(out, x)
		}
	}
	return out
}

func sized(t *Type, f func(v []any, n int) (any, error)) Method {
	return func(b *Builder, self *Expr, call *dsl.Node) (*Expr, error) {
		args, err := call.Expect(1, 1)
		if err != nil {
			return nil, err
		}
		count, err := b.Size(args[0])
		if err != nil {
			return nil, err
		}
		return Map(self, t, func(v []any) (any, error) {
			n, err := count()
			if err != nil {
				return nil, err
			}
			return f(v, n)
		}), nil
	}
}

// predicate builds methods that ask a lambda about every item.
func predicate(l, out *Type, f func(v []any, keep []bool) any) Method {
	return func(b *Builder, self *Expr, call *dsl.Node) (*Expr, error) {
		args, err := call.Expect(1, 1)
		if err != nil {
			return nil, err
		}
		var cell any
		body, err := b.lambda(args[0], l.Elem, &cell, func(in *Builder, n *dsl.Node) (any, error) { return in.Bool(n) })
		if err != nil {
			return nil, err
		}
		test := body.(func() (bool, error))
		return Map(self, out, func(v []any) (any, error) {
			keep := make([]bool, len(v))
			for i, x := range v {
				cell = x
				ok, err := test()
				if err != nil {
					return nil, err
				}
				keep[i] = ok
			}
			return f(v, keep), nil
		}), nil
	}
}

func mapList(b *Builder, self *Expr, call *dsl.Node) (*Expr, error) {
	args, err := call.Expect(1, 1)
	if err != nil {
		return nil, err
	}
	var cell any
	body, err := b.lambda(args[0], self.Type.Elem, &cell, func(in *Builder, n *dsl.Node) (any, error) { return in.Build(n) })
	if err != nil {
		return nil, err
	}
	item := body.(*Expr)
	out := &Expr{Type: AnyListType}
	if show, ok := item.Printer(); ok {
		out.Joined = func(o *text.Text, sep func(*text.Text) error) error {
			v, err := self.Eval()
			if err != nil {
				return o.Fail(err)
			}
			for i, x := range v.([]any) {
				if i > 0 {
					if err := sep(o); err != nil {
						return err
					}
				}
				cell = x
				if err := show(o); err != nil {
					return err
				}
			}
			return nil
		}
		out.Render = func(o *text.Text) error {
			return out.Joined(o, func(o *text.Text) error { o.Str(" "); return nil })
		}
	}
	if enc := encoder(item); enc != nil {
		out.Encode = func() (any, error) {
			v, err := self.Eval()
			if err != nil {
				return nil, err
			}
			list := []any{}
			for _, x := range v.([]any) {
				cell = x
				j, err := enc()
				if err != nil {
					return nil, err
				}
				list = append(list, j)
			}
			return list, nil
		}
	}
	return out, nil
}

func joinList(b *Builder, self *Expr, call *dsl.Node) (*Expr, error) {
	args, err := call.Expect(1, 1)
	if err != nil {
		return nil, err
	}
	sep, err := b.Printed(args[0])
	if err != nil {
		return nil, err
	}
	elem := self.Type.Elem
	return Tmpl(func(o *text.Text) error {
		v, err := self.Eval()
		if err != nil {
			return o.Fail(err)
		}
		for i, x := range v.([]any) {
			if i > 0 {
				if err := sep(o); err != nil {
					return err
				}
			}
			if err := elem.Write(o, x); err != nil {
				return err
			}
		}
		return nil
	}), nil
}
