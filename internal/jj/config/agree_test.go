package config

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
)

// The program has two readers of TOML. This one keeps the text, the places and the order that `jj config` writes back, and errors drawn
// as stock jj draws them; everything else reads with the library. Here they read the same texts, and have to find the same in them.

// documents are the texts that both read first, each with something that readers get wrong.
var documents = []string{
	"", "# only a comment", "a = 1\r\nb = 2\r\n", "\ufeffa = 1",
	"a = [1, {b = 'c'}]\n[x.y]\n",
	"a.b.c = 1\na.b.d = 2\n[a.e]\nf = 3",
	"[[t]]\nv = 1\n[t.sub]\nw = 2\n[[t]]\nv = 3",
	"'quoted key'.\"with \\u00e9\" = true\n1234 = 'digits'\n\"\" = 'empty'",
	"s = \"\"\"\nfirst \\\n   joined\n\"two\" quotes\"\"\"\"\"\nr = '''\nraw \\n'''''",
	"e = \"\\b\\t\\n\\f\\r\\\"\\\\ \\u00e9 \\U0001F600\"",
	"i = [0, -0, +1, 1_000, 0xff, 0o17, 0b101, 9223372036854775807, -9223372036854775808]",
	"f = [1.0, -0.5, 1e3, 1.5E-2, 1_0.0_1, inf, -inf, +inf, nan]",
	"d = [1979-05-27T07:32:00Z, 1979-05-27 07:32:00.5+01:00, 1979-05-27T07:32:00, 1979-05-27, 07:32:00]",
	"n = { a = 1, b.c = [ 2,\n# said\n3, ], d = {} }",
	"colors.\"diff token\" = { underline = true }\ncolors.error = 'red'",
	"[--scope]\n[[--scope]]", "a = 1\na = 2", "a = {b = 1}\na.c = 2", "a = [1]\n[[a]]", "[a]\n[a]", "a.b = 1\n[a]", "[a]\nb = 1\n[a.b]",
	"a = 01", "a = 1__0", "a = _1", "a = 1_", "a = .5", "a = 5.", "a = 0x_1", "a = +0x1", "a = 1e", "a = 0XFF", "a = 0B1", "a = 017",
	"a = 1e1_",
	"a = \"tab\there\"", "a = \"bell\x07\"", "a = 'nul\x00'", "# bell \x07", "a = \"\\ud800\"", "a = \"\\q\"", "a = 1 b = 2", "a = [1 2]",
	"a = [,]", "a = {,}", "a = {b = 1,}", "= 1", "a. = 1", ".a = 1", "a = ", "[", "[]", "[a", "[[a]", "[a]]", "a = 'x\ny'", "a = \"\"\"x",
	"a = 2024-13-01", "a = 25:00:00", "a = 2024-02-30T00:00:00Z", "a\r= 1", "a = 1\r", "a = tru", "a = infinity", "a = 0x1p4", "a = 1i",
	"a = 1\n[a.b]", "[[a]]\n[a]", "a = \"\"\"\"\"\"", "a = '''''''", "é = 1", "a = \xff", "a = \"\\x41\\e\"",
}

func FuzzReadersAgree(f *testing.F) {
	for _, s := range documents {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		theirs := map[string]any{}
		_, bad := toml.Decode(src, &theirs)
		ours, err := ParseTOML(src)
		switch {
		case bad == nil && err != nil && (strings.Contains(err.Error(), "duplicate key") || strings.Contains(err.Error(), "cannot extend")):
			// The library lets some tables be opened again; stock jj does not: TestTablesAsStockHasThem.
		case bad == nil && err != nil:
			t.Errorf("%q: the library reads %v, and here: %v", src, theirs, err)
		case bad != nil && err == nil:
			t.Errorf("%q: is read as %v, and the library says: %v", src, (&Value{V: ours}).Plain(), bad)
		case err == nil:
			if diff := differ("", &Value{V: ours}, theirs); diff != "" {
				t.Errorf("%q: %s", src, diff)
			}
		}
	})
}

// What stock jj 0.45.1 says of tables that are named twice.
func TestTablesAsStockHasThem(t *testing.T) {
	const dup, extend = "duplicate key", "cannot extend value of type "
	for _, c := range []struct {
		src  string
		at   int // where the error points, in columns of its line
		want string
	}{
		{"[x.a]\n[x.a]", 4, dup}, {"a = 1\n[a.b.c]", 2, extend + "integer"}, {"x.a=1\nx.a=2", 3, dup}, {"a=1\na.b=2", 1, extend + "integer"},
		{"x.a=1\nx.a.b=2", 3, extend + "integer"}, {"a = [1]\n[[a]]", 3, dup}, {"a = {}\n[a]", 2, dup},
		{"a={}\n[a.b]", 2, extend + "inline table"}, {"a = {b=1}\n[[a]]", 3, dup}, {"[[a]]\n[[a.b]]\n[a.b]", 4, dup}, {"[a]\n[[a]]", 3, dup},
		{"[a.b]\nc=1\n[a]\nb=2", 1, dup}, {"a={x=1,x=2}", 8, dup}, {"[t]\na.b=1\n[t.a]", 4, dup}, {"[a.b]\n[a]\nb.c=1", 1, dup},
		{"a.b = 1\n[a]\nc = 2", 2, dup}, {"a = {b = 1}\na.c = 2", 1, extend + "inline table"}, {"[[a]]\n[a]", 2, dup},
		{src: "a.b=1\n[a.c]"}, {src: "a={x.y=1,x.z=2}"}, {src: "[t]\na.b=1\n[t.a.c]"}, {src: "[a.b.c]\n[a]\nb.x=1"},
	} {
		_, err := ParseTOML(c.src)
		wrong, _ := err.(*ParseError)
		if c.want == "" && err == nil {
			continue
		}
		if c.want == "" || wrong == nil || !strings.HasPrefix(wrong.Msg, c.want) ||
			wrong.Pos-strings.LastIndexByte(c.src[:wrong.Pos], '\n') != c.at {
			t.Errorf("%q: %v, want %q at column %d", c.src, err, c.want, c.at)
		}
	}
}

// differ says where two readings differ.
func differ(at string, ours *Value, theirs any) string {
	switch x := ours.V.(type) {
	case *Table:
		y, ok := theirs.(map[string]any)
		if !ok || len(x.M) != len(y) {
			return fmt.Sprintf("%s: %v here, %v there", at, ours.Plain(), theirs)
		}
		for k, v := range x.M {
			if d := differ(at+"."+k, v, y[k]); d != "" {
				return d
			}
		}
		return ""
	case []*Value:
		var y []any
		switch list := theirs.(type) {
		case []any:
			y = list
		case []map[string]any:
			for _, e := range list {
				y = append(y, e)
			}
		}
		if len(x) != len(y) {
			return fmt.Sprintf("%s: %v here, %v there", at, ours.Plain(), theirs)
		}
		for i, v := range x {
			if d := differ(fmt.Sprintf("%s[%d]", at, i), v, y[i]); d != "" {
				return d
			}
		}
		return ""
	case Date:
		if _, ok := theirs.(time.Time); ok {
			return ""
		}
	case float64:
		if y, ok := theirs.(float64); ok && (x == y || math.IsNaN(x) && math.IsNaN(y)) {
			return ""
		}
	default:
		if ours.V == theirs {
			return ""
		}
	}
	return fmt.Sprintf("%s: %#v here, %#v there", at, ours.V, theirs)
}
