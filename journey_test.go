package tandem

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A hop is one line of a journey: a function, in its file below internal/.
type hop struct{ file, function, by string }

var hopLine = regexp.MustCompile("^\\d+\\. (?:By ([a-z ]+): )?`([a-z_/]+\\.go)` `(?:(\\w+)\\.)?(\\w+)`")

// The journeys of docs/ARCHITECTURE.md can be walked: each function is in its file, and one before it names it. What is reached without
// a name says how: by the table of operations, over the network, by what the journal tells. Twelve files are a journey's most,
// and none is left and come back to.
func TestTheJourneysCanBeWalked(t *testing.T) {
	page, err := os.ReadFile("docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "\n## Four journeys\n")
	text, _, _ = strings.Cut(text, "\n## ")
	parts := strings.Split(text, "\n### ")[1:]
	if len(parts) != 4 {
		t.Fatalf("%d journeys are drawn", len(parts))
	}
	for _, part := range parts {
		title, rest, _ := strings.Cut(part, "\n")
		t.Run(title, func(t *testing.T) { walk(t, hops(t, rest)) })
	}
}

func hops(t *testing.T, text string) (out []hop) {
	for line := range strings.Lines(text) {
		if !regexp.MustCompile(`^\d+\. `).MatchString(line) {
			continue
		}
		m := hopLine.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("cannot be read: %s", line)
		}
		name := m[4]
		if m[3] != "" {
			name = m[3] + "." + m[4]
		}
		out = append(out, hop{m[2], name, m[1]})
	}
	return out
}

// reached are the ways to a function that nobody names, each with one of the names that whoever comes before uses for it.
var reached = map[string][]string{
	"the table":   {"RunRead", "RunState", "Do", "Invoke", "Call"},
	"the network": {"call", "send", "Call"},
	"the journal": {"append"},
	"its turn":    {"wake", "nudge"},
	"the engine":  {"engine"},
}

func walk(t *testing.T, way []hop) {
	var files []string
	named := map[string]bool{}
	for i, h := range way {
		if n := len(files); n == 0 || files[n-1] != h.file {
			if slices.Contains(files, h.file) {
				t.Errorf("%d. comes back to %s", i+1, h.file)
			}
			files = append(files, h.file)
		}
		_, bare, method := strings.Cut(h.function, ".")
		if !method {
			bare = h.function
		}
		words := names(t, h)
		switch {
		case words == nil:
			t.Errorf("%d. %s has no %s", i+1, h.file, h.function)
		case i > 0 && h.by == "" && !named[bare]:
			t.Errorf("%d. nobody before it names %s", i+1, h.function)
		case h.by != "" && !slices.ContainsFunc(reached[h.by], func(w string) bool { return named[w] }):
			t.Errorf("%d. nothing before it goes by %s", i+1, h.by)
		}
		for w := range words {
			named[w] = true
		}
	}
	if len(files) > 12 {
		t.Errorf("it leads through %d files", len(files))
	}
}

// names are the words that a function uses: names, and strings that are one.
func names(t *testing.T, h hop) map[string]bool {
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("internal", filepath.FromSlash(h.file)), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || called(fn) != h.function {
			continue
		}
		words := map[string]bool{}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				words[n.Name] = true
			case *ast.BasicLit:
				if s, err := strconv.Unquote(n.Value); err == nil {
					words[s] = true
				}
			}
			return true
		})
		return words
	}
	return nil
}

// called is a function's name, with its receiver's type before it.
func called(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	typ := fn.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if g, ok := typ.(*ast.IndexExpr); ok {
		typ = g.X
	}
	if id, ok := typ.(*ast.Ident); ok {
		return id.Name + "." + fn.Name.Name
	}
	return fn.Name.Name
}
