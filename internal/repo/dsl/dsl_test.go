package dsl

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// parse reads words, numbers and calls: enough of a language to try what all
// three share.
func parse(src string) (*Node, error) {
	s := &Scanner{Src: src}
	n, err := expr(s)
	if err == nil && !s.End() {
		err = NewSyntax(src, s.Pos, "expected the end")
	}
	return n, err
}

func expr(s *Scanner) (*Node, error) {
	start := s.Pos
	if text, bad, ok := s.Quoted(); ok {
		return &Node{Kind: String, Name: text, Span: s.Span(start)}, nil
	} else if bad >= 0 {
		return nil, NewSyntax(s.Src, bad, "expected a string")
	}
	for Alpha(s.Peek()) {
		s.Pos++
	}
	if s.Pos == start {
		return nil, NewSyntax(s.Src, s.Pos, "expected a word")
	}
	n := &Node{Kind: Ident, Name: s.Src[start:s.Pos], Span: s.Span(start)}
	at := s.Pos
	if !s.Eat("(") {
		return n, nil
	}
	n.Kind, n.NameSpan = Call, n.Span
	for !s.Eat(")") {
		arg, err := expr(s)
		if err != nil {
			return nil, err
		}
		n.Args = append(n.Args, arg)
		s.Eat(",")
	}
	n.Span, n.ArgsSpan = s.Span(start), Span{s.Src, at + 1, s.Pos - 1}
	return n, nil
}

// print is a tree as text, with what was replaced in braces.
func print(n *Node) string {
	var args []string
	for _, a := range n.Args {
		args = append(args, print(a))
	}
	switch n.Kind {
	case Expanded:
		return "{" + args[0] + "}"
	case Call:
		return n.Name + "(" + strings.Join(args, ",") + ")"
	case String:
		return Quote(n.Name)
	}
	return n.Name
}

func TestExpand(t *testing.T) {
	a := NewAliases(parse)
	for name, body := range map[string]string{"one": "two", "two": "f(x)", "loop": "again", "again": "loop", "broken": "f("} {
		a.Set(Decl{Name: name}, body)
	}
	a.Set(Decl{Name: "twice", Func: true, Params: []string{"x"}}, "pair(x,x)")
	a.Set(Decl{Name: "twice", Func: true, Params: []string{"x", "y"}}, "pair(twice(x),y)")
	a.Set(Decl{Name: "two"}, "g(x)") // a later one wins
	for _, c := range []struct{ src, want string }{
		{"a", "a"},
		{"one", "{{g(x)}}"},
		{"f(one)", "f({{g(x)}})"},
		{"twice(a)", "{pair({a},{a})}"},
		{"twice(one,b)", "{pair({pair({{{{g(x)}}}},{{{{g(x)}}}})},{b})}"},
	} {
		n, err := parse(c.src)
		if err != nil {
			t.Fatal(err)
		}
		if n, err = a.Expand(n, nil); err != nil || print(n) != c.want {
			t.Errorf("%s: %v, %v; want %s", c.src, n, err, c.want)
		}
	}
	for _, c := range []struct {
		src, want string
		kind      ErrorKind
	}{
		{"loop", "Alias `loop` expanded recursively", Recursive},
		{"broken", "Syntax error", Syntax},
		{"twice()", "Function `twice`: Expected 1 to 2 arguments", InvalidArguments},
	} {
		n, _ := parse(c.src)
		_, err := a.Expand(n, nil)
		var e *Error
		if !errors.As(err, &e) || e.Root().Title != c.want || e.Root().Kind != c.kind {
			t.Errorf("%s: %v", c.src, err)
		}
	}
	if !a.HasFunc("twice") || a.HasFunc("one") || len(a.SymbolNames()) != 5 || len(a.FuncNames()) != 1 {
		t.Error("names are listed wrongly")
	}
}

func TestErrorsPoint(t *testing.T) {
	src := "first\n  sécond third"
	at := strings.Index(src, "third")
	for _, c := range []struct {
		err  *Error
		want string
	}{
		{NewSyntax(src, at, "expected nothing"), " --> 2:10\n  |\n2 |   sécond third\n  |          ^---\n  |\n  = expected nothing"},
		{Exprf(Span{src, at, at + 5}, "no %s", "third"), " --> 2:10\n  |\n2 |   sécond third\n  |          ^---^\n  |\n  = no third"},
		{Exprf(Span{src, 0, 1}, "one letter"), " --> 1:1\n  |\n1 | first\n  | ^\n  |\n  = one letter"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}

func TestSimilar(t *testing.T) {
	if got := fmt.Sprint(Similar("logg", []string{"log", "diff", "logs"})); got != "[log logs]" {
		t.Error(got)
	}
	if SimilarOf("same", "same") != 1 || SimilarOf("abc", "xyz") != 0 {
		t.Error("likeness has no ends")
	}
}

// TestQuoteRoundTrip: what is quoted is read back as it was.
func TestQuoteRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		s := &Scanner{Src: Quote(text)}
		if got, _, ok := s.Quoted(); !ok || got != text || !s.End() {
			t.Fatalf("%q is quoted as %s and read as %q", text, s.Src, got)
		}
	})
	for src, bad := range map[string]int{`"open`: 5, `'open`: 5, `"\q"`: 1, `"\xg0"`: 1, `word`: -1} {
		s := &Scanner{Src: src}
		if _, at, ok := s.Quoted(); ok || at != bad || s.Pos != 0 {
			t.Errorf("%s: %d %v", src, at, ok)
		}
	}
}

func TestExpect(t *testing.T) {
	n, err := parse("f(a,b)")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Expect(1, 2); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		lo, hi int
		want   string
	}{{0, 0, "Function `f`: Expected 0 arguments"}, {1, 1, "Function `f`: Expected 1 arguments"},
		{3, 4, "Function `f`: Expected 3 to 4 arguments"}} {
		var e *Error
		if _, err := n.Expect(c.lo, c.hi); !errors.As(err, &e) || e.Title != c.want {
			t.Errorf("%d to %d: %v", c.lo, c.hi, err)
		}
	}
	if _, err := n.ExpectSome(3); err == nil {
		t.Error("two arguments are three")
	}
}

func FuzzExpand(f *testing.F) {
	for _, s := range []string{"a", "f(a,b)", `f("x")`, "loop", "twice(loop)", "f((", "'"} {
		f.Add(s, "twice(x)")
	}
	f.Fuzz(func(t *testing.T, src, body string) {
		a := NewAliases(parse)
		a.Set(Decl{Name: "loop"}, body)
		a.Set(Decl{Name: "twice", Func: true, Params: []string{"x"}}, "pair(x,loop)")
		n, err := parse(src)
		if err == nil {
			_, err = a.Expand(n, nil)
		}
		if err != nil && err.Error() == "" {
			t.Error("an error without words")
		}
	})
}
