package builtin

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/tool"
)

func TestPatchesApply(t *testing.T) {
	for _, c := range []struct{ name, before, body, want string }{
		{"in the middle", "a\nb\nc\n", "@@\n a\n-b\n+B\n c", "a\nB\nc\n"},
		{"below a line", "f() {\n x\n}\ng() {\n x\n}\n", "@@ g() {\n- x\n+ y", "f() {\n x\n}\ng() {\n y\n}\n"},
		{"twice", "a\nb\na\nb\n", "@@\n-a\n+1\n@@\n-a\n+2", "1\nb\n2\nb\n"},
		{"at the end", "x\ny\nx\n", "@@\n-x\n+z\n*** End of File", "x\ny\nz\n"},
		{"added below", "a\nb\n", "@@ a\n+new", "a\nnew\nb\n"},
		{"added at the end", "a\n", "@@\n+new", "a\nnew\n"},
		{"without a newline at the end", "a\nb", "@@\n-b\n+c", "a\nc"},
		{"blanks at the end of a line", "a  \nb\n", "@@\n-a\n+A", "A\nb\n"},
		{"the first without @@", "a\n", "-a\n+b", "b\n"},
		{"all gone", "a\n", "@@\n-a", ""},
	} {
		cs, err := parsePatch(patchBegin + "\n" + patchUpdate + "f\n" + c.body + "\n" + patchEnd)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got, err := cs[0].apply(c.before); err != nil || got != c.want {
			t.Errorf("%s: %q %v", c.name, got, err)
		}
	}
}

func TestBadPatchesAreRefused(t *testing.T) {
	for _, p := range []string{"", "x", patchBegin + "\n" + patchEnd, patchBegin + "\nhello\n" + patchEnd,
		patchBegin + "\n" + patchUpdate + "f\n" + patchEnd,
		patchBegin + "\n" + patchUpdate + "f\n@@\n same\n" + patchEnd, patchBegin + "\n" + patchUpdate + "f\n@@\n*odd\n" + patchEnd,
		patchBegin + "\n" + patchDelete + " \n" + patchEnd} {
		if _, err := parsePatch(p); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", p, err)
		}
	}
	cs, err := parsePatch(patchBegin + "\n" + patchUpdate + "f\n@@\n-gone\n+new\n" + patchEnd)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cs[0].apply("other\n"); !fault.Is(err, fault.Conflict) {
		t.Errorf("%v", err)
	}
}

func FuzzPatch(f *testing.F) {
	f.Add(patchBegin+"\n"+patchUpdate+"f\n@@ x\n a\n-b\n+c\n"+patchEOF+"\n"+patchAdd+"g\n+h\n"+patchEnd, "x\na\nb\n")
	f.Fuzz(func(_ *testing.T, patch, text string) {
		cs, err := parsePatch(patch)
		if err != nil {
			return
		}
		for _, c := range cs {
			c.apply(text) //nolint:errcheck // it must not panic
		}
	})
}

// A patch touches what it names, and nothing is written when one of its files is out of reach or does not fit.
func TestPatchIsAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	dir, _ = filepath.EvalSymlinks(dir)
	env := &tool.Env{Dir: dir, Scope: tool.NewScope([]tool.Folder{{Path: dir}})}
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	plan := func(body string) (*tool.Plan, error) {
		args, _ := json.Marshal(applyPatchArgs{patchBegin + "\n" + body + "\n" + patchEnd})
		return applyPatch{}.Plan(env, args)
	}
	for _, out := range []string{"../x", ".env", "secrets/k", "/etc/passwd"} {
		if _, err := plan(patchAdd + out + "\n+x"); !fault.Is(err, fault.Denied) {
			t.Errorf("%s: %v", out, err)
		}
	}
	if _, err := plan(patchUpdate + "a\n" + patchMove + ".env\n@@\n-1\n+2"); !fault.Is(err, fault.Denied) {
		t.Errorf("a move to a sensitive file: %v", err)
	}
	if _, err := plan(patchUpdate + "a\n@@\n-1\n+2\n" + patchDelete + "./a"); !fault.Is(err, fault.Invalid) {
		t.Errorf("twice: %v", err)
	}
	p, err := plan(patchUpdate + "a\n@@\n-1\n+2\n" + patchDelete + "missing")
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Touch.Also) != 2 || len(p.Touch.Paths) != 2 {
		t.Errorf("%+v", p.Touch)
	}
	if _, err := p.Run(t.Context(), nil); !fault.Is(err, fault.NotFound) {
		t.Errorf("%v", err)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "a")); string(b) != "1\n" {
		t.Errorf("half of it was written: %q", b)
	}
	p, err = plan(patchUpdate + "a\n" + patchMove + "sub/b\n@@\n-1\n+2")
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Run(t.Context(), nil)
	if err != nil || !strings.Contains(r.Text, "created") || !strings.Contains(r.Text, "deleted") {
		t.Errorf("%+v %v", r, err)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "sub", "b")); string(b) != "2\n" {
		t.Errorf("%q", b)
	}
	// Completed again after a crash, it finds everything done.
	kept := map[string]string{filepath.Join(dir, "a"): "1\n"}
	env.Kept = func(_ context.Context, path string) ([]byte, bool, bool, error) {
		text, was := kept[path]
		return []byte(text), was, true, nil
	}
	if p, err = plan(patchUpdate + "a\n" + patchMove + "sub/b\n@@\n-1\n+2"); err != nil {
		t.Fatal(err)
	}
	if _, done, err := p.Recover(t.Context()); !done || err != nil {
		t.Errorf("%v %v", done, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sub", "b"), []byte("somebody else's\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, done, err := p.Recover(t.Context()); done || !fault.Is(err, fault.Conflict) {
		t.Errorf("%v %v", done, err)
	}
}
