package dsl

// Kind says what a Node stands for.
type Kind uint8

// The kinds of nodes. Not every language produces all of them.
const (
	Ident    Kind = iota // Name: an unquoted word
	String               // Name: the unescaped text
	Integer              // Int
	Boolean              // Int is 1 for true
	Pattern              // Name ":" Args[0]
	Remote               // Name "@" Remote
	AtName               // Name "@"
	At                   // "@"
	DagAll               // "::"
	RangeAll             // ".."
	Unary                // Op, Args[0]
	Binary               // Op, Args[0], Args[1]
	Union                // Args...
	Call                 // Name "(" Args, Keywords ")"
	Method               // Args[0] "." Name "(" Args[1:], Keywords ")"
	Lambda               // "|" Params "|" Args[0]
	Concat               // Args...
	Expanded             // Alias, Args[0]: keeps the span of what was replaced
)

// Op names an operator of a Unary or Binary node.
type Op string

// Operators of the revset and fileset languages. Templates use the operator's
// own text.
const (
	Negate       Op = "~x"
	DagPre       Op = "::x"
	DagPost      Op = "x::"
	RangePre     Op = "..x"
	RangePost    Op = "x.."
	Parents      Op = "x-"
	Children     Op = "x+"
	Intersection Op = "&"
	Difference   Op = "~"
	DagRange     Op = "::"
	Range        Op = ".."
)

// Span is a piece of source text.
type Span struct {
	Src        string
	Start, End int
}

// Text returns the spanned text.
func (s Span) Text() string { return s.Src[s.Start:s.End] }

// To returns the span from the start of s to the end of t.
func (s Span) To(t Span) Span { return Span{s.Src, s.Start, t.End} }

// Keyword is a name=value argument.
type Keyword struct {
	Name     string
	NameSpan Span
	Value    *Node
}

// Node is one node of a syntax tree. Nodes are never changed after parsing.
type Node struct {
	Kind     Kind
	Span     Span
	Op       Op
	Name     string
	Remote   string
	Int      int64
	NameSpan Span
	ArgsSpan Span
	Args     []*Node
	Keywords []Keyword
	Params   []string
	Alias    AliasID
}

// CallArgs returns the positional arguments of a Call or Method node.
func (n *Node) CallArgs() []*Node {
	if n.Kind == Method {
		return n.Args[1:]
	}
	return n.Args
}

// Skip unwraps alias expansions and returns the innermost node with the
// expansions passed on the way, outermost first.
func Skip(n *Node) (*Node, []*Node) {
	var stack []*Node
	for n.Kind == Expanded {
		stack = append(stack, n)
		n = n.Args[0]
	}
	return n, stack
}

// Catch calls f on the innermost node and wraps its error in the aliases that
// led to it.
func Catch(n *Node, f func(*Node) error) error {
	inner, stack := Skip(n)
	err := f(inner)
	if err == nil {
		return nil
	}
	return InAliases(err, stack)
}

// InAliases wraps an error in expansions, outermost first.
func InAliases(err error, stack []*Node) error {
	for i := len(stack) - 1; i >= 0; i-- {
		err = within(err, stack[i].Alias, stack[i].Span)
	}
	return err
}
