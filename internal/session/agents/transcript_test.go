package agents

import (
	"os"
	"path/filepath"
	"testing"
)

// Claude Code writes notes to itself before the first prompt, and finds no conversation in a file that has nothing else.
func TestAConversationBeginsWithItsFirstPrompt(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "talk.jsonl")
	notes := `{"type":"custom-title","customTitle":"job-1","sessionId":"c4"}` + "\n" +
		`{"type":"queue-operation","operation":"enqueue","content":"make it"}` + "\n"
	prompt := `{"type":"user","uuid":"u1","promptId":"p1","message":{"role":"user","content":"make it"}}` + "\n"
	for text, want := range map[string]bool{"": false, notes: false, notes + prompt[:40]: false, notes + prompt: true} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := (&Transcript{Path: path, Root: dir}).Begun(); got != want {
			t.Errorf("%q begins a conversation: %t", text, got)
		}
	}
	os.Remove(path)
	if err := os.Symlink("/etc/passwd", path); err != nil {
		t.Fatal(err)
	}
	if (&Transcript{Path: path, Root: dir}).Begun() {
		t.Error("a link is a conversation")
	}
}
