package tandem

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// shown are the rooms whose operations the panel has pages for. Their nouns carry their rules as methods, so In and Out are not in a
// leaf: the panel imports the room, and this test keeps it from everything but names of operations and of what they take and answer.
var shown = []string{"approval", "journal", "policy/book", "board", "space", "space/peer", "session", "session/terminal", "session/relay",
	"repo/host"}

// A page names types and constants of a room, no function, no variable, and not the room itself: what it does goes through the gate.
func TestPagesNameNoService(t *testing.T) {
	rooms := map[string]map[string]bool{}
	for _, room := range shown {
		rooms["tandem/internal/"+room] = spoken(t, filepath.Join("internal", filepath.FromSlash(room)))
	}
	for name, tree := range parsed(t, filepath.Join("internal", "panel")) {
		local := map[string]map[string]bool{} // the name in this file → what may be named
		for _, imp := range tree.Imports {
			of := strings.Trim(imp.Path.Value, `"`)
			if may, ok := rooms[of]; ok && imp.Name != nil {
				local[imp.Name.Name] = may
			} else if ok {
				local[path.Base(of)] = may
			}
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if pkg, ok := sel.X.(*ast.Ident); ok && local[pkg.Name] != nil && pkg.Obj == nil && !local[pkg.Name][sel.Sel.Name] {
					t.Errorf("%s names %s.%s: a page has operations by their handles, with In and Out, and nothing else of a room",
						name, pkg.Name, sel.Sel.Name)
				}
			}
			return true
		})
	}
}

// spoken are a room's constants and types, without those that have operations of their own: the room itself.
func spoken(t *testing.T, folder string) map[string]bool {
	out, services := map[string]bool{}, []string{}
	for _, tree := range parsed(t, folder) {
		for _, d := range tree.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil && d.Name.Name == "Ops" {
					of := d.Recv.List[0].Type
					if to, ok := of.(*ast.StarExpr); ok {
						of = to.X
					}
					services = append(services, of.(*ast.Ident).Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						out[s.Name.Name] = true
					case *ast.ValueSpec:
						for _, n := range s.Names {
							out[n.Name] = d.Tok == token.CONST
						}
					}
				}
			}
		}
	}
	for _, s := range services {
		delete(out, s)
	}
	return out
}

// parsed are the files of a folder, tests left out.
func parsed(t *testing.T, folder string) map[string]*ast.File {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", folder, len(files), err)
	}
	out := map[string]*ast.File{}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if out[f], err = parser.ParseFile(token.NewFileSet(), f, text, 0); err != nil {
			t.Fatal(err)
		}
	}
	return out
}
