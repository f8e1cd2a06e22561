package revset

import (
	"strings"
	"testing"

	"tandem/internal/repo/dsl"
)

// show writes a tree back with every operation in parentheses.
func show(n *dsl.Node) string {
	var args []string
	for _, a := range n.Args {
		args = append(args, show(a))
	}
	switch n.Kind {
	case dsl.Ident:
		return n.Name
	case dsl.String:
		return dsl.Quote(n.Name)
	case dsl.Remote:
		return n.Name + "@" + n.Remote
	case dsl.AtName:
		return n.Name + "@"
	case dsl.At:
		return "@"
	case dsl.DagAll:
		return "::"
	case dsl.RangeAll:
		return ".."
	case dsl.Pattern:
		return n.Name + ":" + args[0]
	case dsl.Unary:
		return "(" + strings.Replace(string(n.Op), "x", args[0], 1) + ")"
	case dsl.Binary:
		return "(" + args[0] + string(n.Op) + args[1] + ")"
	case dsl.Union:
		return "(" + strings.Join(args, "|") + ")"
	}
	for _, k := range n.Keywords {
		args = append(args, k.Name+"="+show(k.Value))
	}
	return n.Name + "(" + strings.Join(args, ",") + ")"
}

func TestParse(t *testing.T) {
	for src, want := range map[string]string{
		"a":                     "a",
		" a | b & c ~ d ":       "(a|((b&c)~d))",
		"~a::b":                 "(~(a::b))",
		"a-- | b+":              "(((a-)-)|(b+))",
		"::a..":                 "",
		"..a":                   "(..a)",
		"a..":                   "(a..)",
		"::":                    "::",
		"main@origin":           "main@origin",
		"ws@":                   "ws@",
		"@-":                    "(@-)",
		"f(x, y=z,)":            "f(x,y=z)",
		`description(glob:"*")`: `description(glob:"*")`,
		"feature-1.0+x":         "feature-1.0+x",
		"a-b-":                  "(a-b-)",
		"(a|b)::":               "((a|b)::)",
		"'raw \"'":              `"raw \""`,
	} {
		n, err := Parse(src)
		got := ""
		if err == nil {
			got = show(n)
		}
		if got != want {
			t.Errorf("%s: got %s (%v), want %s", src, got, err, want)
		}
	}
}

func TestForeignOperatorsAreExplained(t *testing.T) {
	for src, want := range map[string]string{
		"a^":    "`^` is not a postfix operator",
		"a:b":   "`:` is not an infix operator",
		"a + b": "`+` is not an infix operator",
		"a - b": "`-` is not an infix operator",
		":a":    "`:` is not a prefix operator",
	} {
		n, err := Parse(src)
		if err == nil {
			s := &Scope{Aliases: dsl.NewAliases(Parse)}
			_, err = s.Lower(n)
		}
		e, ok := err.(*dsl.Error)
		if !ok || e.Title != want {
			t.Errorf("%s: %v, want %s", src, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a|b&~c", "f(a,b=c)::d..", `"\x41"@'r'`, "((((((", "~~~~", "a:b:c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := Parse(s); err == nil {
			(&Scope{Aliases: dsl.NewAliases(Parse), Workspace: "w"}).Lower(n)
		}
		ParseDecl(s)
		ParseSymbol(s)
	})
}
