package cli

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"tandem/internal/cli/kit"
	"tandem/internal/testenv"
)

// advice is a next step that the program prints, and where it is written.
type advice struct{ at, text string }

// nextSteps collects what the program tells people to do next: the texts of
// WithNext, and of what is assigned to Next.
func nextSteps(t *testing.T) (all []advice) {
	t.Helper()
	root := "../.."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_templ.go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		add := func(e ast.Expr) {
			testenv.Texts(e, func(at token.Pos, text string) { all = append(all, advice{set.Position(at).String(), text}) })
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "WithNext" && len(n.Args) > 0 {
					add(n.Args[0])
				}
			case *ast.KeyValueExpr:
				if k, ok := n.Key.(*ast.Ident); ok && k.Name == "Next" {
					add(n.Value)
				}
			case *ast.AssignStmt:
				if s, ok := n.Lhs[0].(*ast.SelectorExpr); ok && s.Sel.Name == "Next" {
					add(n.Rhs[0])
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var (
	// A command begins with our name and a word, and ends where the sentence goes on.
	adviceLine = regexp.MustCompile(`\btandem [a-z][^;,()\n]*`)
	verb       = regexp.MustCompile(`%(\[\d+\])?[.0-9]*[a-z]`)
	spoken     = regexp.MustCompile(`^tandem (does|makes|do|may|and|is)\b`) // about us, nothing to type
)

// Every next step that the program prints is a command line that the program
// takes: the words are there, the flags too, and as many arguments as it wants.
// Somebody who types what an error says must not get the next error.
func TestEveryNextStepParses(t *testing.T) {
	steps, lines := nextSteps(t), 0
	for _, a := range steps {
		for _, line := range adviceLine.FindAllString(a.text, -1) {
			if line = strings.TrimSpace(verb.ReplaceAllString(line, "x")); spoken.MatchString(line) {
				continue
			}
			lines++
			if err := takes(line); err != nil {
				t.Errorf("%s: %q: %v", a.at, line, err)
			}
		}
	}
	if len(steps) < 350 || lines < 120 {
		t.Errorf("only %d next steps with %d command lines were found", len(steps), lines)
	}
	t.Logf("%d next steps, %d command lines in them", len(steps), lines)
}

// takes says why the command tree does not take a line.
func takes(line string) error {
	k := &kit.Kit{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Env: os.Environ(), Flags: map[string]string{}}
	root := newRoot(k)
	args := strings.Fields(line)[1:]
	if _, toJJ := jjWords(root, args); toJJ {
		return nil // jj's own words have jj's own parser
	}
	c, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	if !c.Runnable() && !c.HasSubCommands() || c == root {
		return os.ErrNotExist
	}
	if err := c.ParseFlags(rest); errors.Is(err, pflag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	if !c.Runnable() {
		return nil
	}
	return c.ValidateArgs(c.Flags().Args())
}
