package terminal_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/policy/book"
	"tandem/internal/session/terminal"
)

// A folder that a person denied was open to real agents: their boxes hid nothing. Now it is not there in the box of one that is opened,
// the session says so, and of a denial that comes later a call that could reach it asks.
func TestADeniedTreeIsHiddenFromARealAgent(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "TANDEM_CONFINE=bwrap")
	for _, name := range []string{"priv/p.txt", "later/p.txt", "open.txt"} {
		p := filepath.Join(h.project, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte("word of "+name+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	deny := func(tree string) {
		t.Helper()
		in := book.GrantIn{Principal: "session:*", Effect: "deny", Resource: "folder:" + filepath.Join(h.project, tree),
			Permissions: []string{"view"}}
		if err := h.c.WithPIN(pin).Call(t.Context(), "grant.add", in, nil); err != nil {
			t.Fatal(err)
		}
	}
	deny("priv")
	s := h.open("a")
	if !strings.Contains(s.Boundary, "hidden from it: ") || !strings.Contains(s.Boundary, "priv") {
		t.Errorf("it does not say what is hidden: %s", s.Boundary)
	}
	got := h.send("a", `go [[tool Bash {"command":"cat open.txt priv/p.txt later/p.txt; grep -r 'word of priv' . && echo FOUND; `+
		`echo END","description":"look"}]] [[result]]`).Report
	if !strings.Contains(got, "word of open.txt") || !strings.Contains(got, "word of later") || !strings.Contains(got, "END") ||
		strings.Contains(got, "word of priv/p") || strings.Contains(got, "FOUND") {
		t.Errorf("%s", got)
	}
	// The same line, once granted, asks again when something is denied that the box does not hide.
	if err := h.c.WithPIN(pin).Call(t.Context(), "grant.add",
		book.GrantIn{Principal: "session:*", Resource: "tool:/", Permissions: []string{"execute"}}, nil); err != nil {
		t.Fatal(err)
	}
	// Nor is it in the repository that its box shows, and a subagent has the same eyes and is held to the same denials.
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"},
		{"-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "all"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = h.project, h.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	h.call("session.close", terminal.NameIn{Name: "a"}, nil)
	if s := h.open("b"); !strings.Contains(s.Boundary, "priv") || !strings.Contains(s.Boundary, "the stores of version control hold") {
		t.Errorf("it does not say what is hidden: %s", s.Boundary)
	}
	const objects = "git show HEAD:priv/p.txt; git log -p --all; git cat-file --batch-all-objects --batch; cat priv/p.txt; " +
		"python3 -c \"import glob,zlib;[print(zlib.decompress(open(f,'rb').read())) for f in glob.glob('.git/objects/??/*')]\"; echo E''ND"
	task := func(command string) string {
		return `[[tool Agent {"description":"look","subagent_type":"general-purpose","prompt":` +
			quote("look "+ownShell("claude", command)+" [[result]]") + `}]]`
	}
	for who, line := range map[string]string{"the agent": ownShell("claude", objects), "its subagent": task(objects)} {
		if got := h.send("b", "look "+line+" [[result]]").Report; strings.Contains(got, "word of priv") || !strings.Contains(got, "END") {
			t.Errorf("what is tracked, for %s: %s", who, got)
		}
	}
	if err := h.c.WithPIN(pin).Call(t.Context(), "grant.add", book.GrantIn{Principal: "session:*", Effect: "deny", Resource: "tool:/",
		Permissions: []string{"execute"}, Tools: []string{"bash(command: touch)"}}, nil); err != nil {
		t.Fatal(err)
	}
	if got := h.send("b", "make "+task("touch made")+" [[result]]").Report; !strings.Contains(got, "denies it") {
		t.Errorf("a subagent's denied command: %s", got)
	}
	if _, err := os.Stat(filepath.Join(h.project, "made")); err == nil {
		t.Error("a subagent ran what is denied")
	}
	h.call("session.close", terminal.NameIn{Name: "b"}, nil)
	h.open("a")
	deny("later")
	got = h.send("a", `go [[tool Read {"file_path":`+quote(filepath.Join(h.project, "later/p.txt"))+`}]] [[result]]`).Report
	if strings.Contains(got, "word of later") || got == "" {
		t.Errorf("%s", got)
	}
	h.call("session.close", terminal.NameIn{Name: "a"}, nil)
}
