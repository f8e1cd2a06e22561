package tandem

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// wireDoors are given the names of operations from outside, and speak them.
var wireDoors = []string{"internal/httpapi/", "internal/mcpserver/", "internal/compat/", "internal/tool/"}

// Operations are called by their handles (docs/adr/0009), so that the compiler knows their input and their answer.
func TestOperationsAreCalledByTheirHandles(t *testing.T) {
	names, places := map[string]bool{}, map[string][]string{} // the files that call what may be an operation
	source(t, func(file string, tree *ast.File) {
		if strings.HasSuffix(file, "_test.go") || !strings.HasPrefix(file, "internal/") {
			return
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if name := callee(call.Fun); name == "Def" {
				for _, s := range words(call) {
					names[s] = true
				}
			} else if runs[strings.ToLower(name)] && !slices.ContainsFunc(wireDoors, func(d string) bool { return strings.HasPrefix(file, d) }) {
				for _, s := range words(call) {
					places[s] = append(places[s], file)
				}
			}
			return true
		})
	})
	for name := range names {
		for _, file := range places[name] {
			t.Errorf("%s calls %s by its name: call its handle with op.Do", file, name)
		}
	}
}

// runs are the functions that run an operation, or let a caller in to one.
var runs = map[string]bool{"invoke": true, "call": true, "do": true, "ask": true, "admit": true, "weigh": true, "get": true, "say": true,
	"perform": true, "prove": true, "done": true, "atserver": true}

// callee is the name of what is called, also of an instance of a generic function.
func callee(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.IndexExpr:
		return callee(e.X)
	case *ast.IndexListExpr:
		return callee(e.X)
	}
	return ""
}

// words are the texts among a call's arguments.
func words(call *ast.CallExpr) (out []string) {
	for _, a := range call.Args {
		if lit, ok := a.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				out = append(out, s)
			}
		}
	}
	return out
}
