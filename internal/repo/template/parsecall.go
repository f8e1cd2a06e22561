package template

import (
	"tandem/internal/repo/dsl"
)

func (p *parser) name() (*dsl.Node, error) {
	start := p.Pos
	if name := p.Name("-"); name != "" && p.Peek() == ':' {
		nameSpan := p.Span(start)
		p.Pos++
		value, err := p.prefix()
		if err != nil {
			return nil, err
		}
		return &dsl.Node{Kind: dsl.Pattern, Name: name, NameSpan: nameSpan, Span: nameSpan.To(value.Span), Args: []*dsl.Node{value}}, nil
	}
	p.Pos = start
	name := p.Name("")
	if name == "" {
		return nil, p.Syntax(p.wanted())
	}
	nameSpan := p.Span(start)
	mark := p.Pos
	p.Space()
	if p.Has("(") {
		return p.call(name, nameSpan)
	}
	p.Pos = mark
	switch name {
	case "true":
		return &dsl.Node{Kind: dsl.Boolean, Int: 1, Span: nameSpan}, nil
	case "false":
		return &dsl.Node{Kind: dsl.Boolean, Span: nameSpan}, nil
	}
	return &dsl.Node{Kind: dsl.Ident, Name: name, Span: nameSpan}, nil
}

func (p *parser) call(name string, nameSpan dsl.Span) (*dsl.Node, error) {
	n := &dsl.Node{Kind: dsl.Call, Name: name, NameSpan: nameSpan}
	p.Pos++ // "("
	p.Space()
	from, end := p.Pos, p.Pos
	for !p.Has(")") {
		start := p.Pos
		key := p.Name("")
		keySpan := p.Span(start)
		p.Space()
		if key != "" && p.Has("=") && !p.Has("==") {
			p.Pos++
			p.Space()
			value, err := p.template()
			if err != nil {
				return nil, err
			}
			n.Keywords = append(n.Keywords, dsl.Keyword{Name: key, NameSpan: keySpan, Value: value})
		} else {
			p.Pos = start
			p.arg = start + 1
			value, err := p.template()
			if err != nil {
				return nil, err
			}
			if len(n.Keywords) > 0 {
				return nil, n.ArgError(value.Span, "Positional argument follows keyword argument")
			}
			n.Args = append(n.Args, value)
		}
		end = p.Pos
		p.Space()
		if !p.Eat(",") {
			break
		}
		end = p.Pos
		p.Space()
	}
	if !p.Eat(")") {
		if len(n.Args) == 0 {
			return nil, p.Syntax("expected <template>")
		}
		return nil, p.Syntax("expected " + wantInfix)
	}
	n.ArgsSpan = dsl.Span{Src: p.Src, Start: from, End: end}
	n.Span = nameSpan.To(p.Span(from))
	return n, nil
}

func (p *parser) lambda() (*dsl.Node, error) {
	start := p.Pos
	p.Pos++
	p.Space()
	params, at, err := p.params("|")
	if err != nil {
		return nil, err
	}
	p.Space()
	body, err := p.template()
	if err != nil {
		return nil, err
	}
	return &dsl.Node{Kind: dsl.Lambda, Params: params, ArgsSpan: at, Span: dsl.Span{Src: p.Src, Start: start, End: body.Span.End},
		Args: []*dsl.Node{body}}, nil
}

func (p *parser) params(close string) ([]string, dsl.Span, error) {
	var out []string
	from, end := p.Pos, p.Pos
	again := false
	for !p.Has(close) {
		start := p.Pos
		name := p.Name("")
		if name == "" {
			return nil, dsl.Span{}, p.Syntax("expected <identifier>")
		}
		if name == "true" || name == "false" {
			return nil, dsl.Span{}, dsl.Exprf(p.Span(start), "Expected identifier")
		}
		for _, o := range out {
			again = again || o == name
		}
		out = append(out, name)
		end = p.Pos
		p.Space()
		if !p.Eat(",") {
			break
		}
		end = p.Pos
		p.Space()
	}
	if !p.Eat(close) {
		return nil, dsl.Span{}, p.Syntax("expected `" + close + "`")
	}
	at := dsl.Span{Src: p.Src, Start: from, End: end}
	if again {
		return nil, at, dsl.NewError(dsl.Redefined, at, "Redefinition of function parameter")
	}
	return out, at, nil
}

// ParseDecl reads the left side of a template alias.
func ParseDecl(text string) (dsl.Decl, error) {
	p := &parser{Scanner: dsl.Scanner{Src: text}}
	p.Space()
	start := p.Pos
	name := p.Name("")
	p.Space()
	if name != "" && p.Eat("(") {
		p.Space()
		params, _, err := p.params(")")
		if err != nil {
			return dsl.Decl{}, err
		}
		p.Space()
		if !p.End() {
			return dsl.Decl{}, p.Syntax("expected <EOI>")
		}
		return dsl.Decl{Name: name, Params: params, Func: true}, nil
	}
	if name != "" && p.End() {
		if name == "true" || name == "false" {
			return dsl.Decl{}, dsl.Exprf(p.Span(start), "Expected identifier")
		}
		return dsl.Decl{Name: name}, nil
	}
	p.Pos = start
	if name := p.Name("-"); name != "" && p.Eat(":") {
		if param := p.Name(""); param != "" && p.End() {
			return dsl.Decl{Name: name, Params: []string{param}, Pattern: true}, nil
		}
	}
	return dsl.Decl{}, p.Syntax("expected <pattern_identifier>, <identifier>, or <function_alias_declaration>")
}
