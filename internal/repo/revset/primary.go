package revset

import "tandem/internal/repo/dsl"

func (p *parser) primary() (*dsl.Node, error) {
	start := p.Pos
	if p.Eat("(") {
		p.Space()
		n, err := p.expression()
		if err != nil {
			return nil, err
		}
		p.Space()
		if !p.Eat(")") {
			return nil, p.Syntax("expected " + p.following(n))
		}
		c := *n
		c.Span = p.Span(start)
		return &c, nil
	}
	if name := p.Name(""); name != "" && p.Peek() == '(' {
		return p.call(name, start)
	}
	p.Pos = start
	if name := p.strict(); name != "" && p.Peek() == ':' {
		nameSpan := p.Span(start)
		p.Pos++
		p.gaveUp(wantPrimary)
		if p.startsPrimary() {
			value, err := p.neighbors()
			if err != nil {
				return nil, err
			}
			return &dsl.Node{Kind: dsl.Pattern, Span: nameSpan.To(value.Span), Name: name, NameSpan: nameSpan, Args: []*dsl.Node{value}}, nil
		}
	}
	p.Pos = start
	return p.symbol()
}

func (p *parser) symbol() (*dsl.Node, error) {
	start := p.Pos
	if p.Eat("@") {
		return &dsl.Node{Kind: dsl.At, Span: p.Span(start)}, nil
	}
	kind := dsl.Ident
	name, ok, err := p.word()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, p.Syntax(p.wanted())
	}
	if c := p.Src[start]; c == '"' || c == '\'' {
		kind = dsl.String
	}
	if !p.Eat("@") {
		return &dsl.Node{Kind: kind, Name: name, Span: p.Span(start)}, nil
	}
	mark := p.Pos
	remote, ok, err := p.word()
	if err != nil || !ok {
		p.Pos = mark
		return &dsl.Node{Kind: dsl.AtName, Name: name, Span: p.Span(start)}, nil
	}
	return &dsl.Node{Kind: dsl.Remote, Name: name, Remote: remote, Span: p.Span(start)}, nil
}

// word reads an identifier or a quoted string.
func (p *parser) word() (string, bool, error) {
	if name := p.identifier(); name != "" {
		return name, true, nil
	}
	text, bad, ok := p.Quoted()
	if ok {
		return text, true, nil
	}
	if bad >= 0 && p.Peek() == '\'' {
		return "", false, p.Syntax(p.wanted())
	}
	if bad >= 0 {
		p.Pos = bad
		return "", false, p.Syntax("expected <string_escape> or <string_content>")
	}
	return "", false, nil
}

func (p *parser) call(name string, start int) (*dsl.Node, error) {
	n := &dsl.Node{Kind: dsl.Call, Name: name, NameSpan: p.Span(start)}
	p.Pos++ // "("
	p.Space()
	from := p.Pos
	end := p.Pos
	var last *dsl.Node
	for !p.Has(")") {
		argStart := p.Pos
		if key := p.keyword(); key != "" {
			at := dsl.Span{Src: p.Src, Start: argStart, End: argStart + len(key)}
			value, err := p.expression()
			if err != nil {
				return nil, err
			}
			n.Keywords, last = append(n.Keywords, dsl.Keyword{Name: key, NameSpan: at, Value: value}), value
		} else {
			p.arg = p.Pos + 1
			value, err := p.expression()
			if err != nil {
				return nil, err
			}
			if len(n.Keywords) > 0 {
				return nil, n.ArgError(value.Span, "Positional argument follows keyword argument")
			}
			n.Args, last = append(n.Args, value), value
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
		return nil, p.Syntax("expected " + p.following(last))
	}
	n.ArgsSpan = dsl.Span{Src: p.Src, Start: from, End: end}
	n.Span = p.Span(start)
	return n, nil
}

// keyword reads "name =" and leaves the position at the value, or returns ""
// with the position unchanged.
func (p *parser) keyword() string {
	start := p.Pos
	name := p.strict()
	if name != "" {
		p.Space()
		if p.Peek() == '=' {
			p.Pos++
			p.Space()
			return name
		}
	}
	p.Pos = start
	return ""
}

// ParseSymbol reads text as one name, quoted or not.
func ParseSymbol(text string) (string, error) {
	p := &parser{Scanner: dsl.Scanner{Src: text}}
	name, ok, err := p.word()
	if err != nil {
		return "", err
	}
	if !ok {
		return "", p.Syntax("expected <identifier>, <string_literal>, or <raw_string_literal>")
	}
	if !p.End() {
		return "", p.Syntax("expected <EOI>")
	}
	if name == "" {
		return "", dsl.Exprf(dsl.Span{Src: text, End: len(text)}, "Expected non-empty string")
	}
	return name, nil
}

// IsIdentifier reports whether text can stand unquoted as a symbol.
func IsIdentifier(text string) bool {
	p := &parser{Scanner: dsl.Scanner{Src: text}}
	return p.identifier() == text && text != ""
}

// FormatSymbol quotes text when it could not stand by itself.
func FormatSymbol(text string) string {
	if IsIdentifier(text) {
		return text
	}
	return dsl.Quote(text)
}

// FormatRemote renders name@remote with quotes where they are needed.
func FormatRemote(name, remote string) string {
	return FormatSymbol(name) + "@" + FormatSymbol(remote)
}

// ParseDecl reads the left side of a revset alias.
func ParseDecl(text string) (dsl.Decl, error) {
	p := &parser{Scanner: dsl.Scanner{Src: text}}
	if name := p.Name(""); name != "" && p.Eat("(") {
		params, err := p.params()
		if err != nil {
			return dsl.Decl{}, err
		}
		return dsl.Decl{Name: name, Params: params, Func: true}, nil
	}
	p.Pos = 0
	name := p.strict()
	if name != "" && p.Eat(":") {
		if param := p.strict(); param != "" && p.End() {
			return dsl.Decl{Name: name, Params: []string{param}, Pattern: true}, nil
		}
	}
	if name == "" || !p.End() {
		return dsl.Decl{}, p.Syntax("expected <strict_identifier> or <function_name>")
	}
	return dsl.Decl{Name: name}, nil
}

func (p *parser) params() ([]string, error) {
	var out []string
	p.Space()
	start := p.Pos
	end := start
	for !p.Has(")") {
		name := p.strict()
		if name == "" {
			return nil, p.Syntax("expected <strict_identifier>")
		}
		for _, o := range out {
			if o == name {
				end = p.Pos
				return nil, dsl.NewError(dsl.Redefined, dsl.Span{Src: p.Src, Start: start, End: end}, "Redefinition of function parameter")
			}
		}
		out = append(out, name)
		p.Space()
		if !p.Eat(",") {
			break
		}
		p.Space()
	}
	if !p.Eat(")") || !p.End() {
		return nil, p.Syntax("expected `)`")
	}
	return out, nil
}
