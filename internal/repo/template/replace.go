package template

import (
	"regexp"

	"tandem/internal/repo/dsl"
	"tandem/internal/repo/pattern"
	"tandem/internal/repo/text"
)

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
		found, next, at := re.FindAllStringSubmatchIndex(s, -1), 0, 0
		var err error
		put := func() {
			m := found[next]
			cell = captures(re, s, m)
			if e := show(o); err == nil {
				err = e
			}
			next, at = next+1, m[1]
		}
		// What replaces a match wears the labels of the place where it begins.
		got.Pieces(o, func(_, to int) {
			for next < len(found) && found[next][0] < to {
				if from := found[next][0]; at < from {
					o.Str(s[at:from])
				}
				put()
			}
			if at < to {
				o.Str(s[at:to])
				at = to
			}
		})
		for next < len(found) {
			put()
		}
		return err
	}), nil
}

func captures(re *regexp.Regexp, s string, m []int) Captures {
	c := Captures{Names: re.SubexpNames()}
	for i := 0; i < len(m); i += 2 {
		g := ""
		if m[i] >= 0 {
			g = s[m[i]:m[i+1]]
		}
		c.Groups = append(c.Groups, g)
	}
	return c
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
