package dsl

import (
	"fmt"
	"sort"
	"strings"
)

// AliasID names an alias or a parameter in an expansion.
type AliasID struct {
	Text  string
	Param bool
}

// Decl is the parsed left side of an alias definition.
type Decl struct {
	Name    string
	Params  []string // parameters of a function, or the one of a pattern
	Func    bool
	Pattern bool
}

func (d Decl) id() AliasID {
	switch {
	case d.Func:
		return AliasID{Text: d.Name + "(" + strings.Join(d.Params, ", ") + ")"}
	case d.Pattern:
		return AliasID{Text: d.Name + ":" + d.Params[0]}
	}
	return AliasID{Text: d.Name}
}

type alias struct {
	decl Decl
	body string
	tree *Node
	err  error
	done bool
}

// Aliases is a set of definitions for one language.
type Aliases struct {
	parse    func(string) (*Node, error)
	symbols  map[string]*alias
	patterns map[string]*alias
	funcs    map[string][]*alias // sorted by number of parameters
}

// NewAliases makes an empty set whose bodies are read by parse.
func NewAliases(parse func(string) (*Node, error)) *Aliases {
	return &Aliases{parse: parse, symbols: map[string]*alias{}, patterns: map[string]*alias{}, funcs: map[string][]*alias{}}
}

// Set adds or replaces a definition. The body is parsed when it is used.
func (a *Aliases) Set(d Decl, body string) {
	entry := &alias{decl: d, body: body}
	switch {
	case d.Func:
		list := a.funcs[d.Name]
		i := sort.Search(len(list), func(i int) bool { return len(list[i].decl.Params) >= len(d.Params) })
		if i < len(list) && len(list[i].decl.Params) == len(d.Params) {
			list[i] = entry
		} else {
			list = append(list, nil)
			copy(list[i+1:], list[i:])
			list[i] = entry
		}
		a.funcs[d.Name] = list
	case d.Pattern:
		a.patterns[d.Name] = entry
	default:
		a.symbols[d.Name] = entry
	}
}

// SymbolNames lists the names of symbol aliases in no order.
func (a *Aliases) SymbolNames() []string { return keys(a.symbols) }

// FuncNames lists the names of function aliases in no order.
func (a *Aliases) FuncNames() []string { return keys(a.funcs) }

// HasFunc reports whether a function alias of any arity has that name.
func (a *Aliases) HasFunc(name string) bool { return len(a.funcs[name]) > 0 }

// FuncBody is the definition of a function alias without parameters.
func (a *Aliases) FuncBody(name string) (string, bool) {
	for _, f := range a.funcs[name] {
		if len(f.decl.Params) == 0 {
			return f.body, true
		}
	}
	return "", false
}

func keys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	return out
}

func (a *alias) load(parse func(string) (*Node, error)) (*Node, error) {
	if !a.done {
		a.tree, a.err = parse(a.body)
		a.done = true
	}
	return a.tree, a.err
}

type expander struct {
	set    *Aliases
	global map[string]*Node
	stack  []scope
}

type scope struct {
	id     AliasID
	locals map[string]*Node
}

// Expand replaces aliases in a tree. locals are names visible in the
// outermost text only.
func (a *Aliases) Expand(n *Node, locals map[string]*Node) (*Node, error) {
	return (&expander{set: a, global: locals}).fold(n)
}

func (e *expander) locals() map[string]*Node {
	if len(e.stack) == 0 {
		return e.global
	}
	return e.stack[len(e.stack)-1].locals
}

func (e *expander) define(al *alias, locals map[string]*Node, at Span) (*Node, error) {
	id := al.decl.id()
	for _, s := range e.stack {
		if s.id == id {
			return nil, NewError(Recursive, at, "Alias `%s` expanded recursively", id.Text)
		}
	}
	e.stack = append(e.stack, scope{id, locals})
	body, err := al.load(e.set.parse)
	if err == nil {
		body, err = e.fold(body)
	}
	e.stack = e.stack[:len(e.stack)-1]
	if err != nil {
		return nil, within(err, id, at)
	}
	return &Node{Kind: Expanded, Span: at, Alias: id, Args: []*Node{body}}, nil
}

func (e *expander) fold(n *Node) (*Node, error) {
	switch n.Kind {
	case Ident:
		if v, ok := e.locals()[n.Name]; ok {
			return &Node{Kind: Expanded, Span: n.Span, Alias: AliasID{n.Name, true}, Args: []*Node{v}}, nil
		}
		if al, ok := e.set.symbols[n.Name]; ok {
			return e.define(al, nil, n.Span)
		}
		return n, nil
	case Pattern:
		if al, ok := e.set.patterns[n.Name]; ok {
			arg, err := e.fold(n.Args[0])
			if err != nil {
				return nil, err
			}
			return e.define(al, map[string]*Node{al.decl.Params[0]: arg}, n.Span)
		}
	case Call:
		if list := e.set.funcs[n.Name]; len(list) > 0 {
			return e.call(n, list)
		}
	case Expanded:
		return n, nil
	}
	return e.foldArgs(n)
}

func (e *expander) call(n *Node, list []*alias) (*Node, error) {
	if err := n.noKeywords(); err != nil {
		return nil, err
	}
	for _, al := range list {
		if len(al.decl.Params) != len(n.Args) {
			continue
		}
		locals := make(map[string]*Node, len(n.Args))
		for i, arg := range n.Args {
			v, err := e.fold(arg)
			if err != nil {
				return nil, err
			}
			locals[al.decl.Params[i]] = v
		}
		return e.define(al, locals, n.Span)
	}
	lo, hi := len(list[0].decl.Params), len(list[len(list)-1].decl.Params)
	if hi-lo+1 == len(list) {
		return nil, n.countError(lo, hi)
	}
	counts := make([]string, len(list))
	for i, al := range list {
		counts[i] = fmt.Sprint(len(al.decl.Params))
	}
	return nil, n.argError(n.ArgsSpan, "Expected %s arguments", strings.Join(counts, ", "))
}

func (e *expander) foldArgs(n *Node) (*Node, error) {
	if len(n.Args) == 0 && len(n.Keywords) == 0 {
		return n, nil
	}
	c := *n
	c.Args = make([]*Node, len(n.Args))
	for i, arg := range n.Args {
		v, err := e.fold(arg)
		if err != nil {
			return nil, err
		}
		c.Args[i] = v
	}
	if len(n.Keywords) > 0 {
		c.Keywords = make([]Keyword, len(n.Keywords))
		for i, k := range n.Keywords {
			v, err := e.fold(k.Value)
			if err != nil {
				return nil, err
			}
			c.Keywords[i] = Keyword{k.Name, k.NameSpan, v}
		}
	}
	return &c, nil
}
