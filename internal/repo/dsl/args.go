package dsl

import "fmt"

func (n *Node) argError(at Span, format string, args ...any) *Error {
	msg := fmt.Sprintf(format, args...)
	err := NewError(InvalidArguments, at, "Function `%s`: %s", n.Name, msg)
	err.Name = n.Name
	return err
}

// ArgError makes the error for a wrong argument of this call.
func (n *Node) ArgError(at Span, format string, args ...any) *Error {
	return n.argError(at, format, args...)
}

func (n *Node) countError(lo, hi int) *Error {
	switch {
	case hi < 0:
		return n.argError(n.ArgsSpan, "Expected at least %d arguments", lo)
	case lo == hi:
		return n.argError(n.ArgsSpan, "Expected %d arguments", lo)
	}
	return n.argError(n.ArgsSpan, "Expected %d to %d arguments", lo, hi)
}

func (n *Node) noKeywords() error {
	if len(n.Keywords) == 0 {
		return nil
	}
	at := n.Keywords[0].NameSpan.To(n.Keywords[len(n.Keywords)-1].Value.Span)
	return n.argError(at, "Unexpected keyword arguments")
}

// Expect returns between lo and hi positional arguments; missing ones are nil.
func (n *Node) Expect(lo, hi int) ([]*Node, error) {
	if err := n.noKeywords(); err != nil {
		return nil, err
	}
	args := n.CallArgs()
	if len(args) < lo || len(args) > hi {
		return nil, n.countError(lo, hi)
	}
	out := make([]*Node, hi)
	copy(out, args)
	return out, nil
}

// ExpectSome returns at least lo positional arguments.
func (n *Node) ExpectSome(lo int) ([]*Node, error) {
	if err := n.noKeywords(); err != nil {
		return nil, err
	}
	args := n.CallArgs()
	if len(args) < lo {
		return nil, n.countError(lo, -1)
	}
	return args, nil
}

// ExpectNamed is Expect with parameter names that may be used as keywords.
func (n *Node) ExpectNamed(lo, hi int, names ...string) ([]*Node, error) {
	if len(n.Keywords) == 0 {
		return n.Expect(lo, hi)
	}
	args := n.CallArgs()
	if len(args) > hi {
		return nil, n.countError(lo, hi)
	}
	out := make([]*Node, hi)
	copy(out, args)
	for _, k := range n.Keywords {
		at := k.NameSpan.To(k.Value.Span)
		pos := -1
		for i, name := range names {
			if name == k.Name {
				pos = i
			}
		}
		if pos < 0 {
			return nil, n.argError(at, "Unexpected keyword argument %q", k.Name)
		}
		if out[pos] != nil {
			return nil, n.argError(at, "Got multiple values for keyword %q", k.Name)
		}
		out[pos] = k.Value
	}
	for _, a := range out[:lo] {
		if a == nil {
			return nil, n.countError(lo, hi)
		}
	}
	return out, nil
}
