package mcpserver

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// An agent with the everyday tools of a space is told to call none that it does not have: every tool that a sentence of a
// space's or a board's answers names is among them.
func TestEveryToolThatAnAnswerNamesIsOffered(t *testing.T) {
	// named only in answers of a tool that is not among the everyday ones either
	by := map[string]string{"intandem_reserve": "intandem_release", "intandem_depend_task": "intandem_cancel_task"}
	name := regexp.MustCompile(`intandem_[a-z_]+[a-z]`)
	for _, dir := range []string{"../space", "../space/peer", "../board"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", dir, len(files), err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					return true
				}
				for _, tool := range name.FindAllString(lit.Value, -1) {
					alone := strings.Trim(lit.Value, "\"`") == tool // the tool's own row, no sentence
					if alone || slices.Contains(sets["space"], tool) || by[tool] != "" && !slices.Contains(sets["space"], by[tool]) {
						continue
					}
					t.Errorf("%s: an answer names %s, which --only space does not offer: %s", file, tool, lit.Value)
				}
				return true
			})
		}
	}
}
