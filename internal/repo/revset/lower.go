package revset

import (
	"strconv"
	"strings"
	"time"

	"tandem/internal/repo/dsl"
	"tandem/internal/repo/fileset"
	"tandem/internal/repo/pattern"
)

// kind says what an Expr selects.
type kind uint8

const (
	kNone kind = iota
	kAll
	kRoot
	kVisibleHeads
	kSymbol     // text
	kRemote     // text@remote
	kWorkspace  // text
	kWorkspaces // all workspaces' commits
	kChangeID   // text: plain hex prefix
	kCommitID   // text: hex prefix
	kRefs       // bookmarks and tags, local or remote
	kAncestors  // args[0], lo ≤ distance < hi, firstParent
	kDescendants
	kRange    // args[0]..args[1]
	kDagRange // args[0]::args[1]
	kReachable
	kHeads
	kRoots
	kForkPoint
	kMergePoint
	kBisect
	kForks
	kLatest // n
	kExactly
	kFilter // pred
	kDivergent
	kPresent
	kAtOp // text
	kCoalesce
	kCommits // ids
	kUnion
	kIntersection
	kDifference
	kNegate
)

const unbounded = ^uint32(0)

// Expr is an expression whose functions and patterns are known to be right and
// whose symbols are not yet looked up.
type Expr struct {
	kind        kind
	args        []*Expr
	text        string
	remote      string
	lo, hi      uint32
	firstParent bool
	n           uint32
	pred        *predicate
	refs        *refPattern
	ids         []string
}

type refPattern struct {
	tags    bool
	local   bool
	name    *pattern.Expr
	remote  *pattern.Expr
	tracked *bool
}

// Scope is what an expression's text may refer to besides commits.
type Scope struct {
	Aliases        *dsl.Aliases
	FilesetAliases *dsl.Aliases
	Locals         map[string]*dsl.Node
	Paths          fileset.Paths
	Workspace      string // "" without a workspace
	UserEmail      string
	IgnoredRemote  string
	Now            time.Time
	// Warn receives warnings about deprecated spellings.
	Warn func(*dsl.Error)
}

// Compile parses an expression and checks its functions.
func Compile(text string, s *Scope) (*Expr, error) {
	n, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return s.Lower(n)
}

// Lower checks a parsed expression.
func (s *Scope) Lower(n *dsl.Node) (*Expr, error) {
	n, err := s.Aliases.Expand(n, s.Locals)
	if err != nil {
		return nil, err
	}
	e, err := s.lower(n)
	if de, ok := err.(*dsl.Error); ok && de.Kind == dsl.NoSuchFunction {
		de.Candidates = dsl.Similar(de.Name, nil, de.Candidates, s.Aliases.FuncNames())
	}
	return e, err
}

func (s *Scope) lower(n *dsl.Node) (e *Expr, err error) {
	err = dsl.Catch(n, func(n *dsl.Node) error {
		var err error
		e, err = s.lowerNode(n)
		return err
	})
	return e, err
}

func (s *Scope) lowerAll(ns []*dsl.Node) ([]*Expr, error) {
	out := make([]*Expr, len(ns))
	for i, n := range ns {
		e, err := s.lower(n)
		if err != nil {
			return nil, err
		}
		out[i] = e
	}
	return out, nil
}

func (s *Scope) lowerNode(n *dsl.Node) (*Expr, error) {
	switch n.Kind {
	case dsl.Ident, dsl.String:
		return &Expr{kind: kSymbol, text: n.Name}, nil
	case dsl.Pattern:
		err := dsl.NewError(dsl.NotInfix, n.Span, "`:` is not an infix operator")
		err.Name, err.SimilarOp, err.OpMeaning = ":", "::", "DAG range"
		return nil, err
	case dsl.Remote:
		return &Expr{kind: kRemote, text: n.Name, remote: n.Remote}, nil
	case dsl.AtName:
		return &Expr{kind: kWorkspace, text: n.Name}, nil
	case dsl.At:
		if s.Workspace == "" {
			return nil, dsl.NewError(dsl.NoWorkspace, n.Span, "Cannot resolve `@` without workspace")
		}
		return &Expr{kind: kWorkspace, text: s.Workspace}, nil
	case dsl.DagAll:
		return All(), nil
	case dsl.RangeAll:
		return Not(Root()), nil
	case dsl.Call:
		return s.call(n)
	case dsl.Unary, dsl.Binary, dsl.Union:
		args, err := s.lowerAll(n.Args)
		if err != nil {
			return nil, err
		}
		return operator(n, args), nil
	}
	return nil, dsl.Exprf(n.Span, "Unexpected expression")
}

func operator(n *dsl.Node, a []*Expr) *Expr {
	if n.Kind == dsl.Union {
		return Union(a...)
	}
	switch n.Op {
	case dsl.Negate:
		return Not(a[0])
	case dsl.DagPre:
		return Ancestors(a[0])
	case dsl.DagPost:
		return &Expr{kind: kDescendants, args: a, hi: unbounded}
	case dsl.RangePre:
		return Range(Root(), a[0])
	case dsl.RangePost:
		return Not(Ancestors(a[0]))
	case dsl.Parents:
		return &Expr{kind: kAncestors, args: a, lo: 1, hi: 2}
	case dsl.Children:
		return &Expr{kind: kDescendants, args: a, lo: 1, hi: 2}
	case dsl.Intersection:
		return And(a[0], a[1])
	case dsl.Difference:
		return Minus(a[0], a[1])
	case dsl.DagRange:
		return &Expr{kind: kDagRange, args: a}
	}
	return Range(a[0], a[1])
}

// literal reads an argument that must be a word.
func literal(what string, n *dsl.Node) (s string, err error) {
	err = dsl.Catch(n, func(n *dsl.Node) error {
		if n.Kind != dsl.Ident && n.Kind != dsl.String {
			return dsl.Exprf(n.Span, "Expected %s", what)
		}
		s = n.Name
		return nil
	})
	return s, err
}

func integer(n *dsl.Node) (v uint32, err error) {
	err = dsl.Catch(n, func(n *dsl.Node) error {
		s, err := literal("integer", n)
		if err != nil {
			return err
		}
		u, perr := strconv.ParseUint(s, 10, 32)
		if perr != nil {
			return dsl.Exprf(n.Span, "Expected integer")
		}
		v = uint32(u)
		return nil
	})
	return v, err
}

// StringExpr reads a string pattern or a combination of them; a bare word is a
// glob.
func StringExpr(n *dsl.Node) (e *pattern.Expr, err error) {
	err = dsl.Catch(n, func(n *dsl.Node) error {
		var err error
		e, err = stringExpr(n)
		return err
	})
	return e, err
}

func stringExpr(n *dsl.Node) (*pattern.Expr, error) {
	one := func(kind, text string) (*pattern.Expr, error) {
		p, err := pattern.New(kind, text)
		if err != nil {
			return nil, dsl.Exprf(n.Span, "Invalid string pattern").With(err)
		}
		return pattern.One(p), nil
	}
	switch n.Kind {
	case dsl.Ident, dsl.String:
		return one("glob", n.Name)
	case dsl.Pattern:
		text, err := literal("string", n.Args[0])
		if err != nil {
			return nil, err
		}
		return one(n.Name, text)
	case dsl.Unary, dsl.Binary, dsl.Union:
		op := ""
		switch {
		case n.Kind == dsl.Union:
			op = "|"
		case n.Op == dsl.Negate:
			op = "~"
		case n.Op == dsl.Intersection, n.Op == dsl.Difference:
			op = "&"
		}
		if op == "" {
			break
		}
		out := &pattern.Expr{Op: op}
		for _, a := range n.Args {
			e, err := StringExpr(a)
			if err != nil {
				return nil, err
			}
			out.Args = append(out.Args, e)
		}
		if n.Op == dsl.Difference {
			out.Args[1] = &pattern.Expr{Op: "~", Args: out.Args[1:]}
		}
		return out, nil
	}
	return nil, dsl.Exprf(n.Span, "Invalid string expression")
}

// ParseStringExpr reads a string pattern given on the command line.
func ParseStringExpr(text string) (*pattern.Expr, error) {
	n, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return StringExpr(n)
}

func (s *Scope) date(n *dsl.Node) (d pattern.Date, err error) {
	err = dsl.Catch(n, func(n *dsl.Node) error {
		switch n.Kind {
		case dsl.Pattern:
			text, err := literal("string", n.Args[0])
			if err != nil {
				return err
			}
			if d, err = pattern.NewDate(n.Name, text, s.Now); err != nil {
				return dsl.Exprf(n.Span, "Invalid date pattern").With(err)
			}
			return nil
		case dsl.Ident, dsl.String:
			return dsl.Exprf(n.Span, "Date pattern must specify 'after' or 'before'")
		}
		return dsl.Exprf(n.Span, "Expected date pattern")
	})
	return d, err
}

func (s *Scope) files(n *dsl.Node, at dsl.Span) (set *fileset.Set, err error) {
	if s.Workspace == "" {
		return nil, dsl.NewError(dsl.NoWorkspace, at, "Cannot resolve file pattern without workspace")
	}
	err = dsl.Catch(n, func(n *dsl.Node) error {
		tree, err := fileset.Parse(n.Span.Text())
		if err == nil && s.FilesetAliases != nil {
			tree, err = s.FilesetAliases.Expand(tree, nil)
		}
		if err == nil {
			set, err = fileset.Resolve(tree, s.Paths)
		}
		if err != nil {
			return dsl.Exprf(n.Span, "In fileset expression").With(err)
		}
		return nil
	})
	return set, err
}

func isHex(s string) bool {
	return strings.Trim(strings.ToLower(s), "0123456789abcdef") == "" && s != ""
}
