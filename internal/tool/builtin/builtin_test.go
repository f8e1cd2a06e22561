package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/tool"
)

func env(t *testing.T, files map[string]string) *tool.Env {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return &tool.Env{Dir: dir, Scope: tool.NewScope([]tool.Folder{{Path: dir}})}
}

func plan(t *testing.T, e *tool.Env, name string, args any) (*tool.Plan, error) {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	r, err := tool.NewRegistry(All(nil, func() Search { return Search{} })...)
	if err != nil {
		t.Fatal(err)
	}
	return r.Get(name).Plan(e, raw)
}

func run(t *testing.T, e *tool.Env, name string, args any) (tool.Result, error) {
	t.Helper()
	p, err := plan(t, e, name, args)
	if err != nil {
		return tool.Result{}, err
	}
	return p.Run(t.Context(), nil)
}

type m = map[string]any

func TestSpecs(t *testing.T) {
	for _, tl := range All(nil, func() Search { return Search{URL: "http://search.example"} }) {
		s := tl.Spec()
		var schema m
		if err := json.Unmarshal(s.Schema, &schema); err != nil || schema["type"] != "object" || len(s.Doc) < 40 || s.Right == "" {
			t.Errorf("%s: %v %v", s.Name, schema, err)
		}
		if _, err := tl.Plan(env(t, nil), json.RawMessage(`{"nonsense":1}`)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s took an unknown argument: %v", s.Name, err)
		}
		if _, err := tl.Plan(env(t, nil), json.RawMessage(`"not an object"`)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s took a string: %v", s.Name, err)
		}
	}
}

func TestRead(t *testing.T) {
	e := env(t, map[string]string{"a.txt": "one\ntwo\nthree\n", "bin": "a\x00b", "empty": "", "plan.pdf": "pdf"})
	if r, err := run(t, e, "read", m{"path": "a.txt"}); err != nil || r.Text != "     1\tone\n     2\ttwo\n     3\tthree\n" {
		t.Errorf("%q %v", r.Text, err)
	}
	if r, err := run(t, e, "read", m{"path": "a.txt", "offset": 2, "limit": 1}); err != nil ||
		r.Text != "     2\ttwo\n(1 more lines; continue with offset 3)\n" {
		t.Errorf("%q %v", r.Text, err)
	}
	e.Document = func(_ context.Context, name string, data []byte) (string, error) {
		return "[page 1]\n" + string(data) + " words\n", nil
	}
	if r, err := run(t, e, "read", m{"path": "plan.pdf"}); err != nil || r.Text != "     1\t[page 1]\n     2\tpdf words\n" {
		t.Errorf("a document is %q, %v", r.Text, err)
	}
	if r, err := run(t, e, "read", m{"path": "empty"}); err != nil || !strings.Contains(r.Text, "empty") {
		t.Errorf("%q %v", r.Text, err)
	}
	for _, bad := range []m{{"path": "bin"}, {"path": "a.txt", "offset": 9}, {"path": "none"}, {"path": "."}, {"path": "a.txt", "limit": -1}} {
		if r, err := run(t, e, "read", bad); err == nil {
			t.Errorf("%v: %q", bad, r.Text)
		}
	}
}

func TestWriteAndEdit(t *testing.T) {
	e := env(t, map[string]string{"a.txt": "x = 1\ny = 1\n"})
	kept := map[string]string{}
	e.Before = func(_ context.Context, path string, content []byte, existed bool) error {
		kept[filepath.Base(path)] = string(content)
		return nil
	}
	file := func(n string) string { b, _ := os.ReadFile(filepath.Join(e.Dir, n)); return string(b) }
	if r, err := run(t, e, "edit", m{"path": "a.txt", "old": "x = 1", "new": "x = 2"}); err != nil || file("a.txt") != "x = 2\ny = 1\n" ||
		!strings.Contains(r.Meta["diff"].(string), "-x = 1\n+x = 2\n") {
		t.Errorf("%+v %v %q", r, err, file("a.txt"))
	}
	if kept["a.txt"] != "x = 1\ny = 1\n" {
		t.Errorf("kept %q", kept["a.txt"])
	}
	if _, err := run(t, e, "edit", m{"path": "a.txt", "old": " = ", "new": ":"}); !fault.Is(err, fault.Conflict) {
		t.Errorf("an ambiguous edit: %v", err)
	}
	if _, err := run(t, e, "edit", m{"path": "a.txt", "old": "zzz", "new": ":"}); !fault.Is(err, fault.Conflict) {
		t.Errorf("an edit of nothing: %v", err)
	}
	if _, err := run(t, e, "edit", m{"path": "a.txt", "old": " = ", "new": ":", "all": true}); err != nil || file("a.txt") != "x:2\ny:1\n" {
		t.Errorf("%v %q", err, file("a.txt"))
	}
	if _, err := run(t, e, "write", m{"path": "n/b.txt", "content": "hi"}); err != nil || file("n/b.txt") != "hi" {
		t.Errorf("%v", err)
	}
	e.Before = func(context.Context, string, []byte, bool) error { return errors.New("disk full") }
	if _, err := run(t, e, "write", m{"path": "n/b.txt", "content": "lost"}); err == nil || file("n/b.txt") != "hi" {
		t.Errorf("it changed what it could not keep: %v", err)
	}
}

// After a crash the file tells whether an edit happened, and an edit that did not is completed, once.
func TestRecoverEdit(t *testing.T) {
	e := env(t, map[string]string{"a.txt": "old text"})
	p, err := plan(t, e, "edit", m{"path": "a.txt", "old": "old", "new": "brand"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, done, err := p.Recover(t.Context()); !done || err != nil {
			t.Fatalf("%v %v", done, err)
		}
		if b, _ := os.ReadFile(filepath.Join(e.Dir, "a.txt")); string(b) != "brand text" {
			t.Fatalf("%q", b)
		}
	}
	p, err = plan(t, e, "edit", m{"path": "a.txt", "old": "brand", "new": "brand new"})
	if err != nil {
		t.Fatal(err)
	}
	if _, done, _ := p.Recover(t.Context()); done {
		t.Error("it claimed to know what cannot be known")
	}
}

func TestSearches(t *testing.T) {
	e := env(t, map[string]string{"a.go": "package a\nfunc Foo() {}\n", "src/b.go": "func bar() {}\n", "src/x/c.ts": "foo",
		".git/x.go": "func Foo", ".env": "func Foo", "bin": "Foo\x00"})
	for _, c := range []struct {
		tool string
		args m
		want string
	}{
		{"glob", m{"pattern": "*.go"}, "a.go\nsrc/b.go"},
		{"glob", m{"pattern": "src/**/*"}, "src/b.go\nsrc/x/c.ts"},
		{"glob", m{"pattern": "*.rs"}, "no file matches"},
		{"glob", m{"pattern": ".env"}, "no file matches"},
		{"glob", m{"pattern": "*.ts", "path": "src"}, "x/c.ts"},
		{"grep", m{"pattern": "func \\w+"}, "a.go:2: func Foo() {}\nsrc/b.go:1: func bar() {}\n"},
		{"grep", m{"pattern": "foo", "ignore_case": true, "include": "*.ts"}, "src/x/c.ts:1: foo\n"},
		{"grep", m{"pattern": "zzz"}, "nothing matches\n"},
		{"list", m{}, ".git/\na.go\nbin\nsrc/\n"},
	} {
		if r, err := run(t, e, c.tool, c.args); err != nil || r.Text != c.want {
			t.Errorf("%s %v: %q %v", c.tool, c.args, r.Text, err)
		}
	}
	for _, bad := range []struct {
		tool string
		args m
	}{{"glob", m{"pattern": "["}}, {"grep", m{"pattern": "("}}, {"grep", m{"pattern": ""}}, {"list", m{"path": "none"}},
		{"list", m{"path": "a.go"}}} {
		if r, err := run(t, e, bad.tool, bad.args); err == nil {
			t.Errorf("%s %v: %q", bad.tool, bad.args, r.Text)
		}
	}
}

func TestTodoAndQuestion(t *testing.T) {
	e := env(t, nil)
	var kept []tool.Todo
	e.Todos = func(_ context.Context, l []tool.Todo) error { kept = l; return nil }
	if _, err := run(t, e, "todo", m{"todos": []m{{"content": "a", "status": "pending"}}}); err != nil || len(kept) != 1 ||
		kept[0].Content != "a" {
		t.Errorf("%v %v", kept, err)
	}
	if _, err := run(t, e, "todo", m{"todos": []m{{"content": "a", "status": "soon"}}}); !fault.Is(err, fault.Invalid) {
		t.Errorf("%v", err)
	}
	_, err := run(t, e, "question", m{"questions": []m{{"question": "Which?", "options": []m{{"label": "A"}}}}})
	var w *tool.Waiting
	if !errors.As(err, &w) || w.Questions[0].Options[0].Label != "A" {
		t.Errorf("%v", err)
	}
}
