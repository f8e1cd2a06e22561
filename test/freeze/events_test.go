package freeze

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var dotted = regexp.MustCompile(`^[a-z_]+(\.[a-z_]+)+$`)

// tellers are the packages that give events names of their own, beside those of operations (golden/ops), which the gate gives.
var tellers = []string{"gate", "daemon", "server/health", "tenancy", "session", "session/terminal", "session/relay", "repo/host", "compat"}

// The names of events, as they stand in the source of whoever tells them: constants, types of literals and
// arguments of functions that tell.
func TestFrozenEventNames(t *testing.T) {
	t.Parallel()
	today := map[string]string{}
	for _, pkg := range tellers {
		names := map[string]bool{}
		dir := filepath.Join(Root(), "internal", filepath.FromSlash(pkg))
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if source(f) {
				told(t, filepath.Join(dir, f.Name()), names)
			}
		}
		if len(names) == 0 {
			t.Errorf("%s names no event: take it off the list", pkg)
		}
		today[strings.ReplaceAll(pkg, "/", "-")+".txt"] = strings.Join(sorted(names), "\n") + "\n"
	}
	Check(t, "events", today)
}

func source(f fs.DirEntry) bool {
	return strings.HasSuffix(f.Name(), ".go") && !strings.HasSuffix(f.Name(), "_test.go")
}

// told adds the names of events in one file: constants called Event…, Type: of a literal, what is compared with a type, and the
// arguments of functions that tell.
func told(t *testing.T, file string, names map[string]bool) {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	add := func(e ast.Expr) {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil && dotted.MatchString(s) {
				names[s] = true
			}
		}
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if strings.HasPrefix(name.Name, "Event") && i < len(n.Values) {
					add(n.Values[i])
				}
			}
		case *ast.KeyValueExpr:
			if k, ok := n.Key.(*ast.Ident); ok && k.Name == "Type" {
				add(n.Value)
			}
			if k, ok := n.Key.(*ast.BasicLit); ok && k.Value == `"type"` {
				add(n.Value)
			}
		case *ast.CompositeLit: // []told{{"session.response", …}}
			for _, e := range n.Elts {
				if in, ok := e.(*ast.CompositeLit); ok && len(in.Elts) > 0 && in.Type == nil {
					add(in.Elts[0])
				}
			}
		case *ast.CallExpr:
			if tells[called(n)] {
				for _, a := range n.Args {
					add(a)
				}
			}
		}
		return true
	})
}

// tells are the functions that take the name of an event.
var tells = map[string]bool{"record": true, "tell": true, "send": true, "emit": true, "change": true, "advance": true, "step": true,
	"settle": true, "write": true, "event": true}

func called(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}
