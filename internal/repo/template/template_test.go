package template

import (
	"testing"

	"tandem/internal/repo/dsl"
	"tandem/internal/repo/text"
)

// box is a type for tests: a commit-like thing with two keywords.
type box struct {
	name string
	tags []string
}

func boxType() *Type {
	return &Type{Name: "Box", Methods: func() map[string]Method {
		return map[string]Method{
			"name":  Field(StringType, func(b box) any { return b.name }),
			"tags":  Field(StringList, func(b box) any { return Items(b.tags) }),
			"count": Field(IntegerType, func(b box) any { return int64(len(b.tags)) }),
		}
	}}
}

func render(t *testing.T, src string, aliases map[string]string) (string, error) {
	t.Helper()
	set := dsl.NewAliases(Parse)
	for decl, body := range aliases {
		d, err := ParseDecl(decl)
		if err != nil {
			t.Fatal(err)
		}
		set.Set(d, body)
	}
	lang := &Language{LocalOffset: func() int { return 0 }}
	r, err := Build(lang, set, src, boxType())
	if err != nil {
		return "", err
	}
	o := &text.Text{}
	if err := r.Render(o, box{"b1", []string{"x", "y"}}); err != nil {
		return "", err
	}
	return o.String(), nil
}

func TestRender(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{``, ""},
		{`"a\n" ++ 'b\n'`, "a\nb\\n"},
		{`name ++ ":" ++ self.name().upper()`, "b1:B1"},
		{`tags`, "x y"},
		{`tags.join(", ")`, "x, y"},
		{`tags.map(|t| "<" ++ t ++ ">").join("")`, "<x><y>"},
		{`tags.filter(|t| t == "y")`, "y"},
		{`if(count > 1, "many", "few")`, "many"},
		{`1 + 2 * 3 - -4 / 2`, "9"},
		{`separate(" ", "", "a", "", "b")`, "a b"},
		{`coalesce("", "z")`, "z"},
		{`surround("(", ")", "")`, ""},
		{`indent("> ", "a\n\nb\n")`, "> a\n\n> b\n"},
		{`pad_start(4, "ab") ++ "|" ++ pad_end(4, "ab", fill_char=".") ++ "|" ++ pad_centered(5, "ab")`, "  ab|ab..| ab  "},
		{`truncate_end(3, "abcdef", "…")`, "ab…"},
		{`fill(7, "The quick fox")`, "The\nquick\nfox"},
		{`stringify(label("x", "y")).len()`, "1"},
		{`json(tags)`, `["x","y"]`},
		{`"abc".substr(1, -1) ++ "a b".split(" ").len()`, "b2"},
		{`wrap(name)`, "[b1]"},
		{`tags.first() ++ tags.get(5)`, "x<Error: Index 5 out of bounds>"},
		{`"a1b22".replace(regex:"[0-9]+", "#")`, "a#b#"},
	} {
		got, err := render(t, c.src, map[string]string{"wrap(x)": `"[" ++ x ++ "]"`})
		if err != nil || got != c.want {
			t.Errorf("%s\n got %q (%v)\nwant %q", c.src, got, err, c.want)
		}
	}
}

func TestErrorsPointAtThePlace(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{`nme`, " --> 1:1\n  |\n1 | nme\n  | ^-^\n  |\n  = Keyword `nme` doesn't exist"},
		{`name.foo()`, " --> 1:6\n  |\n1 | name.foo()\n  |      ^-^\n  |\n  = Method `foo` doesn't exist for type `String`"},
		{`if(count, "a")`, " --> 1:4\n  |\n1 | if(count, \"a\")\n  |    ^---^\n  |\n" +
			"  = Expected expression of type `Boolean`, but actual type is `Integer`"},
		{`bad(1)`, " --> 1:1\n  |\n1 | bad(1)\n  | ^----^\n  |\n  = In alias `bad(x)`"},
	} {
		_, err := render(t, c.src, map[string]string{"bad(x)": "nope"})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v", c.src, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`a.b(c, d=1) ++ "x"`, `|x, y| x`, `p:"v"`, "((((", `-!-!1`, "\"\\x4"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := Parse(s); err == nil && n == nil {
			t.Fatal("no tree and no error")
		} else if err != nil && err.Error() == "" {
			t.Fatal("silent error")
		}
		ParseDecl(s)
	})
}
