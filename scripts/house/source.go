package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// source is what was read of a checkout.
type source struct {
	root        string
	methods     map[string]int // "session.Room" → how many
	fields      map[string]int
	named       []string
	sleeps      []string
	backgrounds []string
	defined     map[string]bool // names of operations
	wide        map[string]int  // file → lines over 140 columns
	lines       int
	tested      map[string]bool // folders with tests
}

const widest = 140

var (
	// wireDoors are given the names of operations from outside, and speak them; the exam of doors sits at their wire.
	wireDoors = []string{"internal/httpapi/", "internal/mcpserver/", "internal/compat/", "internal/tool/", "internal/gate/doortest/"}
	operation = regexp.MustCompile(`^[a-z_]+(\.[a-z_]+)+$`)
	generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)
)

func read(root string) (*source, error) {
	s := &source{root: root, methods: map[string]int{}, fields: map[string]int{}, wide: map[string]int{},
		tested: map[string]bool{}, defined: map[string]bool{}}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || generated.Match(text) {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return s.file(filepath.ToSlash(name), text)
	})
	s.named = slices.DeleteFunc(s.named, func(call string) bool {
		at, name, _ := strings.Cut(call, " ")
		return !s.defined[name] || slices.ContainsFunc(wireDoors, func(d string) bool { return strings.HasPrefix(at, d) })
	})
	for _, list := range [][]string{s.named, s.sleeps, s.backgrounds} {
		slices.Sort(list)
	}
	return s, err
}

func (s *source) file(name string, text []byte) error {
	for line := range strings.SplitSeq(string(text), "\n") {
		if utf8.RuneCountInString(line) > widest && !strings.Contains(line, "`json:\"") { // a field's tag cannot be broken
			s.wide[name]++
			s.lines++
		}
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	test := strings.HasSuffix(name, "_test.go")
	if test {
		s.tested[filepath.ToSlash(filepath.Dir(name))] = true
	} else {
		s.types(name, tree)
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		s.define(n)
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		at := fmt.Sprintf("%s:%d", name, set.Position(call.Pos()).Line)
		switch f := called(call); {
		case test && f == "time.Sleep" && !bubbled(tree) && !byChance(tree, call):
			s.sleeps = append(s.sleeps, at)
		case !test && f == "context.Background" && below(name):
			s.backgrounds = append(s.backgrounds, at)
		case !test && strings.HasPrefix(name, "internal/") && byName(call) != "":
			s.named = append(s.named, at+" "+byName(call))
		}
		return true
	})
	return nil
}

// bubbled reports whether the tests of a file run on synctest's clock, on which no real time passes.
func bubbled(tree *ast.File) bool {
	return slices.ContainsFunc(tree.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing/synctest"` })
}

// byChance reports whether a sleep has no fixed time: chance picks the instant that is tested, there or in the variable that it names.
func byChance(tree *ast.File, sleep *ast.CallExpr) (found bool) {
	if drawn(sleep) {
		return true
	}
	named, ok := sleep.Args[0].(*ast.Ident)
	if !ok {
		return false
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		fn, ok := n.(*ast.FuncDecl)
		if !ok || sleep.Pos() < fn.Pos() || sleep.End() > fn.End() {
			return n == ast.Node(tree)
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			set, ok := n.(*ast.AssignStmt)
			for i := 0; ok && i < len(set.Lhs) && len(set.Lhs) == len(set.Rhs); i++ {
				to, ok := set.Lhs[i].(*ast.Ident)
				found = found || ok && to.Name == named.Name && drawn(set.Rhs[i])
			}
			return !found
		})
		return false
	})
	return found
}

// drawn reports whether chance has a say in a value.
func drawn(value ast.Expr) (yes bool) {
	ast.Inspect(value, func(n ast.Node) bool {
		if f, ok := n.(*ast.SelectorExpr); ok && (f.Sel.Name == "IntN" || f.Sel.Name == "Int64N") {
			yes = true
		}
		return !yes
	})
	return yes
}

// below reports whether a file is of a package that the daemon or a command calls, and that gets a context from it.
func below(name string) bool {
	above := []string{"internal/daemon/", "internal/cli/", "internal/testenv/"} // who starts something, or tests
	return strings.HasPrefix(name, "internal/") && !slices.ContainsFunc(above, func(a string) bool { return strings.HasPrefix(name, a) })
}

// types counts the methods and fields of each type of a package. Types of one name in packages of one name are told apart by folder.
func (s *source) types(name string, tree *ast.File) {
	folder := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(name)), "internal/")
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil && len(d.Recv.List) == 1 {
				s.methods[folder+"."+receiver(d.Recv.List[0].Type)]++
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				t, ok := spec.(*ast.TypeSpec)
				if !ok {
					continue
				}
				if body, ok := t.Type.(*ast.StructType); ok {
					for _, f := range body.Fields.List {
						s.fields[folder+"."+t.Name.Name] += max(1, len(f.Names))
					}
				}
			}
		}
	}
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

func called(c *ast.CallExpr) string {
	f, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if pkg, ok := f.X.(*ast.Ident); ok {
		return pkg.Name + "." + f.Sel.Name
	}
	return "." + f.Sel.Name
}

// define notes the operation that a piece of code gives its name: op.Def[In, Out]("board.claim"), or op.Spec{Name: "board.claim", …}.
func (s *source) define(n ast.Node) {
	switch n := n.(type) {
	case *ast.CallExpr:
		if def, ok := n.Fun.(*ast.IndexListExpr); ok && len(n.Args) == 1 {
			if f, ok := def.X.(*ast.SelectorExpr); ok && f.Sel.Name == "Def" {
				s.defined[text(n.Args[0])] = true
			}
		}
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Name" {
			s.defined[text(n.Value)] = true
		}
	}
}

// text is what a literal says.
func text(e ast.Expr) string {
	if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		if s, err := strconv.Unquote(lit.Value); err == nil {
			return s
		}
	}
	return ""
}

// byName is the operation that a call names in a string: Invoke(ctx, "board.claim", …) and its like, also with a type as
// call[T](v, "board.claim", …) has. Get is one when a table is asked: a setting is named in the same way.
func byName(c *ast.CallExpr) string {
	fun := c.Fun
	if typed, ok := fun.(*ast.IndexExpr); ok {
		fun = typed.X
	}
	name := ""
	switch f := fun.(type) {
	case *ast.SelectorExpr:
		name = strings.ToLower(f.Sel.Name)
		if table, ok := f.X.(*ast.CallExpr); name == "get" && (!ok || !strings.HasSuffix(called(table), ".Table")) {
			return ""
		}
	case *ast.Ident:
		name = strings.ToLower(f.Name)
	}
	switch name {
	case "invoke", "call", "do", "ask", "run", "get", "fetch", "read", "has":
	default:
		return ""
	}
	for _, a := range c.Args {
		if s := text(a); operation.MatchString(s) {
			return s
		}
	}
	return ""
}

// largest are the types with the most methods and fields.
func (s *source) largest(n int) (out []count) {
	size := map[string]int{}
	for t, m := range s.methods {
		size[t] = m + s.fields[t]
	}
	for t, f := range s.fields {
		size[t] = f + s.methods[t]
	}
	for _, t := range ranked(size)[:min(n, len(size))] {
		out = append(out, count{What: fmt.Sprintf("%s: %d methods, %d fields", t, s.methods[t], s.fields[t]), N: size[t]})
	}
	return out
}

// seldomRaced are the folders with tests that scripts/run-tests leaves out of its pass with the race detector, and whether that
// script has a pass in which nothing is left out.
func (s *source) seldomRaced(script string) (out []string, whole bool, err error) {
	text, err := os.ReadFile(script)
	if err != nil {
		return nil, false, err
	}
	m := regexp.MustCompile(`(?m)^driving='(.*)'$`).FindSubmatch(text)
	if m == nil {
		return nil, false, fmt.Errorf("%s does not say with driving='…' which packages run without the race detector", script)
	}
	driving, err := regexp.Compile(string(m[1]))
	if err != nil {
		return nil, false, err
	}
	for folder := range s.tested {
		if pkg := "tandem/" + folder; !strings.HasPrefix(pkg, "tandem/internal/") || driving.MatchString(pkg) {
			out = append(out, folder)
		}
	}
	slices.Sort(out)
	return out, regexp.MustCompile(`(?m)^\tpass ".*" 1 -race .*\$all$`).Match(text), nil
}

// ranked are the names, the largest first.
func ranked(size map[string]int) []string {
	names := make([]string, 0, len(size))
	for n := range size {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int {
		if size[a] != size[b] {
			return size[b] - size[a]
		}
		return strings.Compare(a, b)
	})
	return names
}

func most(wide map[string]int) (out []string) {
	for _, f := range ranked(wide) {
		out = append(out, fmt.Sprintf("%s: %d", f, wide[f]))
	}
	return out
}
