package template

import (
	"strconv"

	"tandem/internal/repo/dsl"
)

// Parse reads a template without looking at names or types.
func Parse(text string) (*dsl.Node, error) {
	p := &parser{Scanner: dsl.Scanner{Src: text}}
	p.Space()
	if p.End() {
		return &dsl.Node{Kind: dsl.Concat, Span: p.Span(len(text))}, nil
	}
	n, err := p.template()
	if err != nil {
		return nil, err
	}
	p.Space()
	if !p.End() {
		return nil, p.Syntax(p.after())
	}
	return n, nil
}

type parser struct {
	dsl.Scanner
	from int // where the innermost expression begins
	arg  int // where an argument begins, plus one
}

// wanted is what may stand where an operand is missing: an expression as a whole
// where none has begun.
func (p *parser) wanted() string {
	switch {
	case p.Pos != p.from:
		return wantTerm
	case p.Pos == 0:
		return "expected <EOI> or <expression>"
	case p.Pos+1 == p.arg:
		return "expected <identifier> or <expression>"
	}
	return "expected <expression>"
}

// operand reads one of the parts that "++" joins.
func (p *parser) operand() (*dsl.Node, error) {
	outer := p.from
	p.from = p.Pos
	n, err := p.infix(0)
	p.from = outer
	return n, err
}

const (
	wantInfix = "`++`, `||`, `&&`, `==`, `!=`, `>=`, `>`, `<=`, `<`, `+`, `-`, `*`, `/`, or `%`"
	wantTerm  = "expected `!`, `-`, or <primary>"
)

func (p *parser) after() string { return "expected <EOI>, " + wantInfix }

func (p *parser) template() (*dsl.Node, error) {
	if err := p.Enter("Template"); err != nil {
		return nil, err
	}
	defer func() { p.Deep-- }()
	first, err := p.operand()
	if err != nil {
		return nil, err
	}
	nodes := []*dsl.Node{first}
	for {
		mark := p.Pos
		p.Space()
		if !p.Eat("++") {
			p.Pos = mark
			break
		}
		p.Space()
		n, err := p.operand()
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	if len(nodes) == 1 {
		return first, nil
	}
	return &dsl.Node{Kind: dsl.Concat, Span: first.Span.To(nodes[len(nodes)-1].Span), Args: nodes}, nil
}

// infixOps lists operators by binding strength, weakest first; longer spellings
// come before their prefixes.
var infixOps = [][]string{
	{"||"}, {"&&"}, {"==", "!="}, {">=", ">", "<=", "<"}, {"+", "-"}, {"*", "/", "%"},
}

func (p *parser) infix(level int) (*dsl.Node, error) {
	if level == len(infixOps) {
		return p.prefix()
	}
	left, err := p.infix(level + 1)
	if err != nil {
		return nil, err
	}
	for {
		mark := p.Pos
		p.Space()
		op := ""
		for _, cand := range infixOps[level] {
			if p.Has(cand) && !(cand == "+" && p.Has("++")) {
				op = cand
				break
			}
		}
		if op == "" {
			p.Pos = mark
			return left, nil
		}
		p.Pos += len(op)
		p.Space()
		right, err := p.infix(level + 1)
		if err != nil {
			return nil, err
		}
		left = &dsl.Node{Kind: dsl.Binary, Op: dsl.Op(op), Span: left.Span.To(right.Span), Args: []*dsl.Node{left, right}}
	}
}

func (p *parser) prefix() (*dsl.Node, error) {
	start := p.Pos
	op := dsl.Op("")
	switch {
	case p.Eat("!"):
		op = "!"
	case p.Eat("-"):
		op = "-"
	default:
		return p.term()
	}
	if err := p.Enter("Template"); err != nil {
		return nil, err
	}
	defer func() { p.Deep-- }()
	p.Space()
	arg, err := p.prefix()
	if err != nil {
		return nil, err
	}
	return &dsl.Node{Kind: dsl.Unary, Op: op, Span: dsl.Span{Src: p.Src, Start: start, End: arg.Span.End}, Args: []*dsl.Node{arg}}, nil
}

func (p *parser) term() (*dsl.Node, error) {
	n, err := p.primary()
	if err != nil {
		return nil, err
	}
	for {
		mark := p.Pos
		p.Space()
		if !p.Eat(".") {
			p.Pos = mark
			return n, nil
		}
		p.Space()
		start := p.Pos
		name := p.Name("")
		if name == "" {
			return nil, p.Syntax("expected <identifier>")
		}
		nameSpan := p.Span(start)
		p.Space()
		if !p.Has("(") {
			p.Pos = start
			return nil, p.Syntax("expected <function>")
		}
		call, err := p.call(name, nameSpan)
		if err != nil {
			return nil, err
		}
		call.Kind = dsl.Method
		call.Args = append([]*dsl.Node{n}, call.Args...)
		call.Span = n.Span.To(call.Span)
		n = call
	}
}

func (p *parser) primary() (*dsl.Node, error) {
	start := p.Pos
	switch c := p.Peek(); {
	case c == '(':
		p.Pos++
		p.Space()
		n, err := p.template()
		if err != nil {
			return nil, err
		}
		p.Space()
		if !p.Eat(")") {
			return nil, p.Syntax("expected " + wantInfix)
		}
		copied := *n
		copied.Span = p.Span(start)
		return &copied, nil
	case c == '|':
		return p.lambda()
	case c == '"' || c == '\'':
		text, bad, ok := p.Quoted()
		if !ok && c == '\'' {
			return nil, p.Syntax(p.wanted())
		}
		if !ok {
			p.Pos = bad
			return nil, p.Syntax("expected <string_escape> or <string_content>")
		}
		return &dsl.Node{Kind: dsl.String, Name: text, Span: p.Span(start)}, nil
	case dsl.Digit(c):
		return p.integer()
	}
	return p.name()
}

func (p *parser) integer() (*dsl.Node, error) {
	start := p.Pos
	if p.Peek() == '0' {
		p.Pos++
	} else {
		for dsl.Digit(p.Peek()) {
			p.Pos++
		}
	}
	at := p.Span(start)
	v, err := strconv.ParseInt(at.Text(), 10, 64)
	if err != nil {
		return nil, dsl.Exprf(at, "Invalid integer literal").With(intError{})
	}
	return &dsl.Node{Kind: dsl.Integer, Int: v, Span: at}, nil
}

type intError struct{}

func (intError) Error() string { return "number too large to fit in target type" }
