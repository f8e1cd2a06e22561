package tandem

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// still are the tests that let a fixed time pass, each with its reason. What happens elsewhere is waited for with testenv.Eventually
// or testenv.Within, what happens in this process with testing/synctest: a fixed time is too long on most days and too short on one.
var still = map[string]string{
	"internal/daemon/body_test.go TestASlowBodyIsCutOff":                  bubble,
	"internal/daemon/body_test.go TestHonestSlownessIsNotCut":             bubble,
	"internal/daemon/body_test.go TestAnAnswerThatNobodyReadsEnds":        bubble,
	"internal/memory/broken_test.go Read":                                 bubble,
	"internal/session/loop/crash_test.go TestKilledAtRandomInstants":      chance,
	"test/proof/crash_test.go killNine":                                   chance,
	"test/proof/crash_test.go TestCutPostgres":                            chance,
	"test/proof/repo_test.go TestServerIsKilledWhileAgentsCommit":         chance,
	"internal/session/terminal/opencode/order_test.go pause":              chance,
	"internal/session/terminal/opencode/order_test.go TestNoPromptIsLost": chance,
	"test/proof/shears_test.go Write":                                     "what came through a line before it broke is still read",
	"test/year/trouble_linux_test.go within":                              chance,
	"test/red/cell_linux_test.go stays": "what a box leaves behind is given a moment " +
		"to begin, and to be ended",
}

const (
	chance = "an instant that chance picks is what is tested"
	bubble = "the clock is synctest's, so no real time passes"
)

// backgrounds are the files below the daemon that begin a context of their own, each with its reason. Everything else is given one,
// so that whoever asked can stop it.
var backgrounds = map[string]string{
	"internal/client/move.go":     "crypto/tls asks whether a key is right without a context",
	"internal/db/sqlite.go":       "a transaction of several callers begins and ends whoever of them leaves",
	"internal/journal/catchup.go": "whether a row is vouched for is asked without a context",
}

func TestNobodySleepsForAFixedTime(t *testing.T) {
	used := map[string]bool{}
	source(t, func(file string, tree *ast.File) {
		if !strings.HasSuffix(file, "_test.go") {
			return
		}
		for _, d := range tree.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			at := file + " " + fn.Name.Name
			choices := map[ast.Node]bool{} // of a select, which something else may end
			ast.Inspect(fn, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && calls(call, "synctest", "Test") {
					return false // its clock passes no real time
				}
				if c, ok := n.(*ast.CommClause); ok && c.Comm != nil {
					choices[c.Comm] = true
				}
				if choices[n] || !sleeps(n) {
					return true
				}
				if used[at] = true; still[at] == "" {
					t.Errorf("%s sleeps for a fixed time: wait with testenv.Eventually for what it waits for", at)
				}
				return true
			})
		}
	})
	for at := range still {
		if !used[at] {
			t.Errorf("%s sleeps no more: take it off the list", at)
		}
	}
}

func TestNobodyBelowTheDaemonBeginsAContext(t *testing.T) {
	used := map[string]bool{}
	source(t, func(file string, tree *ast.File) {
		if strings.HasSuffix(file, "_test.go") || !strings.HasPrefix(file, "internal/") || strings.HasPrefix(file, "internal/daemon/") ||
			strings.HasPrefix(file, "internal/cli/") || strings.HasPrefix(file, "internal/testenv/") {
			return
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); !ok || !calls(call, "context", "Background") && !calls(call, "context", "TODO") {
				return true
			}
			if used[file] = true; backgrounds[file] == "" {
				t.Errorf("%s begins a context of its own: take the caller's", file)
			}
			return true
		})
	})
	for file := range backgrounds {
		if !used[file] {
			t.Errorf("%s begins no context any more: take it off the list", file)
		}
	}
}

// sleeps reports whether a piece of code is time.Sleep(d), or <-time.After(d) that nothing can cut short.
func sleeps(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		return calls(n, "time", "Sleep")
	case *ast.ExprStmt:
		if wait, ok := n.X.(*ast.UnaryExpr); ok && wait.Op == token.ARROW {
			call, ok := wait.X.(*ast.CallExpr)
			return ok && calls(call, "time", "After")
		}
	}
	return false
}

// calls reports whether a call is of a package's function.
func calls(call *ast.CallExpr, pkg, name string) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != name {
		return false
	}
	x, ok := f.X.(*ast.Ident)
	return ok && x.Name == pkg
}

// source reads every file of Go that git knows.
func source(t *testing.T, each func(file string, tree *ast.File)) {
	t.Helper()
	out, err := exec.Command("git", "ls-files", "*.go").Output()
	if err != nil {
		t.Fatal(err)
	}
	for file := range strings.FieldsSeq(string(out)) {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // gone from the checkout
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		each(file, tree)
	}
}
