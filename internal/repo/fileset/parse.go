package fileset

import (
	"unicode"

	"tandem/internal/repo/dsl"
)

// Parse reads an expression without resolving paths.
func Parse(text string) (*dsl.Node, error) {
	p := &parser{Scanner: dsl.Scanner{Src: text}}
	p.Space()
	n, err := p.expression()
	if err != nil {
		return nil, err
	}
	p.Space()
	if !p.End() {
		return nil, p.Syntax("expected <EOI>, `|`, `&`, or `~`")
	}
	return n, nil
}

// ParseArgument reads a command-line argument: an expression or, when it is
// none and holds nothing like an operator, a plain path.
func ParseArgument(text string) (*dsl.Node, error) {
	n, err := Parse(text)
	if err == nil {
		return n, nil
	}
	p := &parser{Scanner: dsl.Scanner{Src: text}}
	if name := p.strict(); name != "" && p.Eat(":") && bare(text[p.Pos:]) {
		at := dsl.Span{Src: text, End: len(text)}
		value := &dsl.Node{Kind: dsl.String, Name: text[p.Pos:], Span: dsl.Span{Src: text, Start: p.Pos, End: len(text)}}
		return &dsl.Node{Kind: dsl.Pattern, Name: name, NameSpan: dsl.Span{Src: text, End: len(name)}, Span: at, Args: []*dsl.Node{value}}, nil
	}
	if bare(text) {
		return &dsl.Node{Kind: dsl.String, Name: text, Span: dsl.Span{Src: text, End: len(text)}}, nil
	}
	return nil, err
}

func bare(s string) bool {
	for _, r := range s {
		if r < 0x80 && !dsl.Alnum(byte(r)) && !plainMark(r) && r != ' ' {
			return false
		}
	}
	return s != ""
}

func plainMark(r rune) bool {
	switch r {
	case '+', '-', '.', '@', '_', '*', '?', '[', ']', '/', '\\':
		return true
	}
	return false
}

type parser struct {
	dsl.Scanner
	from int // where the innermost expression begins
}

func (p *parser) expression() (*dsl.Node, error) {
	if err := p.Enter("Expression"); err != nil {
		return nil, err
	}
	outer := p.from
	p.from = p.Pos
	defer func() { p.Deep--; p.from = outer }()
	left, err := p.term()
	if err != nil {
		return nil, err
	}
	for p.infix("|") {
		right, err := p.term()
		if err != nil {
			return nil, err
		}
		args := []*dsl.Node{left, right}
		if left.Kind == dsl.Union {
			args = append(left.Args[:len(left.Args):len(left.Args)], right)
		}
		left = &dsl.Node{Kind: dsl.Union, Span: left.Span.To(right.Span), Args: args}
	}
	return left, nil
}

// infix skips white space and an operator, or nothing.
func (p *parser) infix(op string) bool {
	mark := p.Pos
	p.Space()
	if p.Eat(op) {
		p.Space()
		return true
	}
	p.Pos = mark
	return false
}

func (p *parser) term() (*dsl.Node, error) {
	left, err := p.negation()
	if err != nil {
		return nil, err
	}
	for {
		op := dsl.Intersection
		if !p.infix("&") {
			if !p.infix("~") {
				return left, nil
			}
			op = dsl.Difference
		}
		right, err := p.negation()
		if err != nil {
			return nil, err
		}
		left = &dsl.Node{Kind: dsl.Binary, Op: op, Span: left.Span.To(right.Span), Args: []*dsl.Node{left, right}}
	}
}

func (p *parser) negation() (*dsl.Node, error) {
	start := p.Pos
	if !p.Eat("~") {
		return p.primary()
	}
	if err := p.Enter("Expression"); err != nil {
		return nil, err
	}
	defer func() { p.Deep-- }()
	p.Space()
	arg, err := p.negation()
	if err != nil {
		return nil, err
	}
	return &dsl.Node{Kind: dsl.Unary, Op: dsl.Negate, Span: dsl.Span{Src: p.Src, Start: start, End: arg.Span.End}, Args: []*dsl.Node{arg}}, nil
}

func (p *parser) primary() (*dsl.Node, error) {
	if err := p.Enter("Expression"); err != nil {
		return nil, err
	}
	defer func() { p.Deep-- }()
	start := p.Pos
	if p.Eat("(") {
		p.Space()
		n, err := p.expression()
		if err != nil {
			return nil, err
		}
		p.Space()
		if !p.Eat(")") {
			return nil, p.Syntax("expected `|`, `&`, or `~`")
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
		value, err := p.primary()
		if err != nil {
			return nil, err
		}
		return &dsl.Node{Kind: dsl.Pattern, Name: name, NameSpan: nameSpan, Span: nameSpan.To(value.Span), Args: []*dsl.Node{value}}, nil
	}
	p.Pos = start
	if name := p.identifier(); name != "" {
		return &dsl.Node{Kind: dsl.Ident, Name: name, Span: p.Span(start)}, nil
	}
	text, bad, ok := p.Quoted()
	if ok {
		return &dsl.Node{Kind: dsl.String, Name: text, Span: p.Span(start)}, nil
	}
	if bad >= 0 {
		p.Pos = bad
		return nil, p.Syntax("expected <string_escape> or <string_content>")
	}
	if p.Pos == p.from {
		return nil, p.Syntax("expected <expression>")
	}
	return nil, p.Syntax("expected `~` or <primary>")
}

func (p *parser) identifier() string {
	start := p.Pos
	for {
		r := p.PeekRune()
		if r < 0 || !(plainMark(r) || r < 0x80 && dsl.Alnum(byte(r)) || r >= 0x80 &&
			(unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nl, unicode.Pc))) {
			return p.Src[start:p.Pos]
		}
		for p.Pos++; p.Pos < len(p.Src) && p.Src[p.Pos]&0xc0 == 0x80; p.Pos++ {
		}
	}
}

func (p *parser) strict() string {
	start := p.Pos
	part := func() bool {
		from := p.Pos
		for c := p.Peek(); dsl.Alnum(c) || c == '_'; c = p.Peek() {
			p.Pos++
		}
		return p.Pos > from
	}
	if !part() {
		return ""
	}
	for p.Peek() == '-' {
		mark := p.Pos
		p.Pos++
		if !part() {
			p.Pos = mark
			break
		}
	}
	return p.Src[start:p.Pos]
}

func (p *parser) call(name string, start int) (*dsl.Node, error) {
	n := &dsl.Node{Kind: dsl.Call, Name: name, NameSpan: p.Span(start)}
	p.Pos++
	p.Space()
	from, end := p.Pos, p.Pos
	for !p.Has(")") {
		arg, err := p.expression()
		if err != nil {
			return nil, err
		}
		n.Args = append(n.Args, arg)
		end = p.Pos
		p.Space()
		if !p.Eat(",") {
			break
		}
		end = p.Pos
		p.Space()
	}
	if !p.Eat(")") {
		return nil, p.Syntax("expected `)`")
	}
	n.ArgsSpan = dsl.Span{Src: p.Src, Start: from, End: end}
	n.Span = p.Span(start)
	return n, nil
}

// ParseDecl reads the left side of a fileset alias.
func ParseDecl(text string) (dsl.Decl, error) {
	p := &parser{Scanner: dsl.Scanner{Src: text}}
	if name := p.Name(""); name != "" && p.Eat("(") {
		d := dsl.Decl{Name: name, Func: true}
		p.Space()
		for !p.Has(")") {
			param := p.strict()
			if param == "" {
				return d, p.Syntax("expected <strict_identifier>")
			}
			d.Params = append(d.Params, param)
			p.Space()
			if !p.Eat(",") {
				break
			}
			p.Space()
		}
		if !p.Eat(")") || !p.End() {
			return d, p.Syntax("expected `)`")
		}
		return d, nil
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
