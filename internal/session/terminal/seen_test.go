package terminal_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/session"
	"tandem/internal/session/terminal"
)

// seen is a conversation as people read it on the command line.
func (h *house) seen(name string) string {
	h.t.Helper()
	return h.tandem(h.project, "session", "show", name)
}

// What a real Claude Code does is in its conversation: each tool with its arguments and its result, and what an edit changed.
func TestWhatClaudeDoesIsSeen(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s := h.open("builder")
	file := filepath.Join(h.project, "a.txt")
	out := h.begin("builder", `edit [[tool Read {"file_path":`+quote(file)+`}]] [[tool Edit {"file_path":`+quote(file)+
		`,"old_string":"hello","new_string":"good day"}]] [[say edited]]`)
	h.decide(approval.Approve, "")
	h.ended("builder", out.Cursor)
	shown := h.seen("builder")
	for _, part := range []string{"→ Read", "hello from a file", "→ Edit", "old_string: hello", "--- a/a.txt", "+++ b/a.txt",
		"-hello from a file", "+good day from a file", "edited"} {
		if !strings.Contains(shown, part) {
			t.Errorf("%q is missing:\n%s", part, shown)
		}
	}
	if again := h.seen(s.Session); again != shown {
		t.Errorf("by its id it shows\n%s", again)
	}
	if followed := h.tandem(h.project, "session", "follow", "builder"); !strings.Contains(followed, "→ Edit") ||
		!strings.Contains(followed, "+good day") || !strings.Contains(followed, "edited") {
		t.Errorf("followed:\n%s", followed)
	}
	// What changed in the folder since it was opened, also by commands and in files that are new, is a patch for git.
	out = h.begin("builder", `new [[tool Bash {"command":"echo fresh > fresh.txt","description":"make a file"}]] [[say made]]`)
	h.decide(approval.Approve, "")
	h.ended("builder", out.Cursor)
	patch := h.tandem(h.project, "session", "diff", "builder")
	if !strings.Contains(patch, "-hello from a file\n+good day from a file") ||
		!strings.Contains(patch, "+++ b/fresh.txt\n@@ -0,0 +1,1 @@\n+fresh") {
		t.Errorf("%s", patch)
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "a.txt"), []byte("hello from a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	apply := exec.Command("git", "apply", "-")
	apply.Dir, apply.Stdin = other, strings.NewReader(patch)
	if said, err := apply.CombinedOutput(); err != nil {
		t.Errorf("git apply: %v %s\n%s", err, said, patch)
	}
	told, err := os.ReadFile(filepath.Join(h.dir, "home", ".tandem", "events.log"))
	if err != nil || strings.Count(string(told), `Commit: none\nFiles changed: 1\n`) != 2 {
		t.Errorf("%v\n%s", err, told)
	}
	h.tandem(h.project, "session", "send", s.Session, "more [[say by its id]]")
	h.tandem(h.project, "session", "close", s.Session)
	if closed := h.seen("builder"); !strings.Contains(closed, "by its id") {
		t.Errorf("closed:\n%s", closed)
	}
	var turns session.TurnsOut
	h.call("session.turns", session.TurnIn{ID: s.Session}, &turns)
	if first := turns.Turns[len(turns.Turns)-1]; first.Calls != 2 || first.Usage.Output == 0 {
		t.Errorf("%+v", first)
	}
}

// The same of Codex, which tells of its commands by itself.
func TestWhatCodexDoesIsSeen(t *testing.T) {
	if !alone(t) {
		return
	}
	h := spokenHouse(t)
	h.openAs("c", "codex")
	out := h.begin("c", "make it "+execute("echo made | tee made.txt")+" [[say done then]]")
	h.decide(approval.Approve, "")
	h.ended("c", out.Cursor)
	if shown := h.seen("c"); !strings.Contains(shown, "→ Bash") || !strings.Contains(shown, "echo made | tee made.txt") ||
		!strings.Contains(shown, "← made") {
		t.Errorf("%s", shown)
	}
}

// And of OpenCode, whose tokens count.
func TestWhatOpenCodeDoesIsSeen(t *testing.T) {
	if !alone(t) {
		return
	}
	h := spokenHouse(t, "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1")
	var s terminal.Seat
	h.call("session.open", terminal.OpenIn{Name: "o", Cwd: h.project, Agent: "opencode", Budget: session.Budget{Tokens: 100}}, &s)
	h.eventually("it is ready", func() bool { s = h.seat("o"); return s.State != terminal.Starting })
	out := h.begin("o", `write [[tool write {"filePath":`+quote(filepath.Join(h.project, "new.txt"))+
		`,"content":"one line\n"}]] [[say done then]]`)
	h.decide(approval.Approve, "")
	h.ended("o", out.Cursor)
	shown := h.seen("o")
	for _, part := range []string{"→ write", "content:", "+++ b/new.txt", "+one line", "done then"} {
		if !strings.Contains(shown, part) {
			t.Errorf("%q is missing:\n%s", part, shown)
		}
	}
	if out = h.send("o", "more [[say too much]]"); out.Status != "failed" || !strings.Contains(out.Reason, "budget of tokens") {
		t.Errorf("its tokens were not counted: %+v", out)
	}
}
