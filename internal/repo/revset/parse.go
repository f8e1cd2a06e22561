package revset

import (
	"unicode"

	"tandem/internal/repo/dsl"
)

// Parse reads an expression without resolving any name.
func Parse(text string) (*dsl.Node, error) {
	p := &parser{Scanner: dsl.Scanner{Src: text}}
	p.Space()
	n, err := p.expression()
	if err != nil {
		return nil, err
	}
	p.Space()
	if !p.End() {
		return nil, p.Syntax("expected <EOI>, " + p.following(n))
	}
	return n, p.refused
}

type parser struct {
	dsl.Scanner
	from int // where the innermost expression begins
	arg  int // where an argument begins, plus one

	far      int    // the furthest place at which a way was given up
	farWants string // and what was wanted there
	refused  error  // an operator of others, which counts where everything else can be read
}

// gaveUp notes that something might have stood here.
func (p *parser) gaveUp(wants string) {
	if p.Pos > p.far {
		p.far, p.farWants = p.Pos, wants
	}
}

// Syntax is the error that something else was expected, at the furthest place that was reached on any way.
func (p *parser) Syntax(expected string) error {
	p.gaveUp(expected)
	if p.far > p.Pos {
		p.Pos, expected = p.far, p.farWants
	}
	return p.Scanner.Syntax(expected)
}

// The expectations jj's grammar reports at the places where most mistakes
// happen.
const (
	wantExpr    = "expected `::`, `..`, `~`, or <primary>"
	wantPrimary = "expected <primary>"
)

// wanted is what may stand where an operand is missing: an expression as a whole
// where none has begun.
func (p *parser) wanted() string {
	switch {
	case p.Pos != p.from:
		return wantExpr
	case p.Pos+1 == p.arg:
		return "expected <strict_identifier> or <expression>"
	}
	return "expected <expression>"
}

// following lists what may stand behind an expression that was read.
func (p *parser) following(n *dsl.Node) string {
	const infix = "`|`, `&`, or `~`"
	if p.Pos > 0 && p.Src[p.Pos-1] == ' ' {
		return infix
	}
	enclosed := func() bool { return p.Src[n.Span.Start] == '(' }
	for !enclosed() && (n.Kind == dsl.Union || n.Kind == dsl.Binary && (n.Op == dsl.Intersection || n.Op == dsl.Difference) ||
		n.Kind == dsl.Unary && n.Op == dsl.Negate) {
		n = n.Args[len(n.Args)-1]
	}
	ranges := "`::`, `..`, "
	if !enclosed() && (n.Kind == dsl.Unary || n.Kind == dsl.Binary) {
		switch n.Op {
		case dsl.DagPost, dsl.RangePost:
			return infix
		case dsl.DagRange, dsl.Range, dsl.DagPre, dsl.RangePre: // of a range none begins
			n, ranges = n.Args[len(n.Args)-1], ""
		}
	}
	switch {
	case enclosed():
	case n.Kind == dsl.DagAll, n.Kind == dsl.RangeAll:
		return infix
	case n.Kind == dsl.Ident:
		return "`@`, `:`, `-`, `+`, " + ranges + infix
	case n.Kind == dsl.String:
		return "`@`, `-`, `+`, " + ranges + infix
	}
	return "`-`, `+`, " + ranges + infix
}

// refuse notes an operator of others. What cannot be read at all is said first, and of several the first.
func (p *parser) refuse(err error) {
	if p.refused == nil {
		p.refused = err
	}
}

// expression reads a union of intersections of negations.
func (p *parser) expression() (*dsl.Node, error) {
	if err := p.Enter("Expression"); err != nil {
		return nil, err
	}
	outer := p.from
	p.from = p.Pos
	defer func() { p.Deep--; p.from = outer }()
	left, err := p.intersection()
	if err != nil {
		return nil, err
	}
	for {
		mark := p.Pos
		p.Space()
		start := p.Pos
		switch {
		case p.Eat("|"):
		case p.Has("+"):
			p.Pos++
			at := p.Span(start)
			p.Space()
			p.gaveUp(wantExpr)
			if _, err := p.intersection(); err != nil {
				p.Pos = mark
				return left, nil
			}
			p.refused = notOp(dsl.NotInfix, at, "an infix", "|", "union") // whatever its sides are
			continue
		default:
			p.Pos = mark
			return left, nil
		}
		p.Space()
		right, err := p.intersection()
		if err != nil {
			return nil, err
		}
		if left.Kind == dsl.Union && p.Src[left.Span.Start] != '(' {
			left = &dsl.Node{Kind: dsl.Union, Span: left.Span.To(right.Span), Args: append(left.Args[:len(left.Args):len(left.Args)], right)}
		} else {
			left = &dsl.Node{Kind: dsl.Union, Span: left.Span.To(right.Span), Args: []*dsl.Node{left, right}}
		}
	}
}

func notOp(kind dsl.ErrorKind, at dsl.Span, what, similar, meaning string) error {
	err := dsl.NewError(kind, at, "`%s` is not %s operator", at.Text(), what)
	err.Name, err.SimilarOp, err.OpMeaning = at.Text(), similar, meaning
	return err
}

func (p *parser) intersection() (*dsl.Node, error) {
	left, err := p.negation()
	if err != nil {
		return nil, err
	}
	for {
		mark := p.Pos
		p.Space()
		start := p.Pos
		var op dsl.Op
		switch {
		case p.Eat("&"):
			op = dsl.Intersection
		case p.Eat("~"):
			op = dsl.Difference
		case p.Has("-"):
			p.Pos++
			at := p.Span(start)
			p.Space()
			p.gaveUp(wantExpr)
			if _, err := p.negation(); err != nil {
				p.Pos = mark
				return left, nil
			}
			p.refused = notOp(dsl.NotInfix, at, "an infix", "~", "difference")
			continue
		default:
			p.Pos = mark
			return left, nil
		}
		p.Space()
		right, err := p.negation()
		if err != nil {
			return nil, err
		}
		left = &dsl.Node{Kind: dsl.Binary, Op: op, Span: left.Span.To(right.Span), Args: []*dsl.Node{left, right}}
	}
}

func (p *parser) negation() (*dsl.Node, error) {
	start := p.Pos
	if p.Eat("~") {
		if err := p.Enter("Expression"); err != nil {
			return nil, err
		}
		defer func() { p.Deep-- }()
		p.Space()
		arg, err := p.negation()
		if err != nil {
			return nil, err
		}
		return unary(dsl.Negate, arg, dsl.Span{Src: p.Src, Start: start, End: arg.Span.End}), nil
	}
	return p.ranges()
}

func unary(op dsl.Op, arg *dsl.Node, at dsl.Span) *dsl.Node {
	return &dsl.Node{Kind: dsl.Unary, Op: op, Span: at, Args: []*dsl.Node{arg}}
}

// rangeOp reads "::", ".." or the ":" that only exists to be refused.
func (p *parser) rangeOp() string {
	for _, op := range []string{"::", "..", ":"} {
		if p.Eat(op) {
			return op
		}
	}
	return ""
}

func (p *parser) ranges() (*dsl.Node, error) {
	start := p.Pos
	if op := p.rangeOp(); op != "" {
		at := p.Span(start)
		if !p.startsPrimary() {
			switch op {
			case "::":
				return &dsl.Node{Kind: dsl.DagAll, Span: at}, nil
			case "..":
				return &dsl.Node{Kind: dsl.RangeAll, Span: at}, nil
			}
			p.Pos = start
			return nil, p.Syntax(p.wanted())
		}
		arg, err := p.neighbors()
		if err != nil {
			return nil, err
		}
		if op == ":" {
			p.refuse(notOp(dsl.NotPrefix, at, "a prefix", "::", "ancestors"))
			return arg, nil
		}
		kind := dsl.DagPre
		if op == ".." {
			kind = dsl.RangePre
		}
		return unary(kind, arg, at.To(arg.Span)), nil
	}
	left, err := p.neighbors()
	if err != nil {
		return nil, err
	}
	opStart := p.Pos
	op := p.rangeOp()
	if op == "" {
		return left, nil
	}
	at := p.Span(opStart)
	if p.startsPrimary() {
		right, err := p.neighbors()
		if err != nil {
			return nil, err
		}
		if op == ":" {
			p.refuse(notOp(dsl.NotInfix, at, "an infix", "::", "DAG range"))
			return left, nil
		}
		kind := dsl.DagRange
		if op == ".." {
			kind = dsl.Range
		}
		return &dsl.Node{Kind: dsl.Binary, Op: kind, Span: left.Span.To(right.Span), Args: []*dsl.Node{left, right}}, nil
	}
	switch op {
	case "::":
		return unary(dsl.DagPost, left, left.Span.To(at)), nil
	case "..":
		return unary(dsl.RangePost, left, left.Span.To(at)), nil
	}
	p.refuse(notOp(dsl.NotPostfix, at, "a postfix", "::", "descendants"))
	return left, nil
}

func (p *parser) startsPrimary() bool {
	r := p.PeekRune()
	return r == '(' || r == '"' || r == '\'' || r == '@' || isPart(r)
}

func (p *parser) neighbors() (*dsl.Node, error) {
	n, err := p.primary()
	if err != nil {
		return nil, err
	}
	var foreign error // of several, jj names the last
	for {
		start := p.Pos
		switch {
		case p.Eat("-"):
			n = unary(dsl.Parents, n, n.Span.To(p.Span(start)))
		case p.Eat("+"):
			n = unary(dsl.Children, n, n.Span.To(p.Span(start)))
		case p.Eat("^"):
			foreign = notOp(dsl.NotPostfix, p.Span(start), "a postfix", "-", "parents")
		default:
			if foreign != nil {
				p.refuse(foreign)
			}
			return n, nil
		}
	}
}

func isPart(r rune) bool {
	if r < 0 {
		return false
	}
	if r < 0x80 {
		return dsl.Alnum(byte(r)) || r == '_' || r == '*' || r == '/'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nl, unicode.Pc)
}

// identifier reads a word; the position is unchanged when there is none.
func (p *parser) identifier() string {
	start := p.Pos
	if !p.part() {
		return ""
	}
	for {
		mark := p.Pos
		switch p.Peek() {
		case '.', '+':
			p.Pos++
		case '-':
			for p.Peek() == '-' {
				p.Pos++
			}
		default:
			return p.Src[start:p.Pos]
		}
		if !p.part() {
			p.Pos = mark
			return p.Src[start:p.Pos]
		}
	}
}

func (p *parser) part() bool {
	start := p.Pos
	for isPart(p.PeekRune()) {
		for p.Pos++; p.Pos < len(p.Src) && p.Src[p.Pos]&0xc0 == 0x80; p.Pos++ {
		}
	}
	return p.Pos > start
}

// strict reads the narrower words used as pattern names and parameters.
func (p *parser) strict() string {
	start := p.Pos
	part := func() bool {
		from := p.Pos
		for c := p.Peek(); dsl.Alnum(c) || c == '_' || c == '/'; c = p.Peek() {
			p.Pos++
		}
		return p.Pos > from
	}
	if !part() {
		return ""
	}
	for {
		mark := p.Pos
		if c := p.Peek(); c != '.' && c != '-' && c != '+' {
			return p.Src[start:p.Pos]
		}
		p.Pos++
		if !part() {
			p.Pos = mark
			return p.Src[start:p.Pos]
		}
	}
}
