package terminal

import (
	"encoding/json"
	"testing"

	"tandem/internal/session/agents"
)

// Codex asks no more about files that somebody settled "for good", and tells nobody: a change of one of them comes up again, however the
// patch spells its folder, and of others it does not.
func TestAPatchOfASettledFileComesUpAgain(t *testing.T) {
	s := &seat{recalled: true, d: &Driver{}, row: row{Seat: Seat{Agent: agents.CodexName}, Config: t.TempDir()}}
	s.noteSettled("Edit", json.RawMessage(`{"changes":[{"path":"/home/ann/notes.txt"}]}`))
	for _, c := range []struct {
		tool, command string
		want          bool
	}{
		{"apply_patch", "*** Begin Patch\n*** Update File: ../notes.txt\n", true},
		{"Bash", "cd /home && apply_patch <<EOF\n*** Update File: ann/notes.txt\nEOF", true},
		{"Bash", "applypatch <<EOF\n*** Update File: /home/ann/x/../notes.txt\nEOF", true},
		{"apply_patch", "*** Begin Patch\n*** Update File: main.go\n", false},
		{"Bash", "cat notes.txt", false},
	} {
		input, err := json.Marshal(map[string]string{"command": c.command})
		if err != nil {
			t.Fatal(err)
		}
		if again, err := s.settledBefore(t.Context(), hooked{Tool: c.tool, ToolInput: input}); err != nil || again != c.want {
			t.Errorf("%s %q: %t %v", c.tool, c.command, again, err)
		}
	}
}

// A line that people let pass while Codex's hook waited is let pass once when its server asks, too: not after its turn, and not when the
// same line comes up anew, of which nobody was asked yet.
func TestWhatWasLetPassIsForgotten(t *testing.T) {
	call := func(line string) hooked {
		return hooked{Tool: "Bash", ToolInput: json.RawMessage(`{"command":"` + line + `"}`)}
	}
	make, other := call("make"), call("make all")
	for what, c := range map[string]struct {
		between func(s *seat)
		want    bool
	}{
		"at once":                  {func(*seat) {}, true},
		"the same line comes anew": {func(s *seat) { s.unpass(&make) }, false},
		"another line comes":       {func(s *seat) { s.unpass(&other) }, true},
		"the turn ended":           {func(s *seat) { s.unpass(nil) }, false},
		"it was used":              {func(s *seat) { s.passed(make) }, false},
	} {
		s := &seat{}
		s.pass(make)
		c.between(s)
		if got := s.passed(make); got != c.want {
			t.Errorf("%s: %t", what, got)
		}
	}
}

// Who says "allow all edits" at Claude Code's dialog has allowed every tool that changes files: each of them comes up again.
func TestOneEditStandsForAllThatChangesFiles(t *testing.T) {
	for _, settled := range []string{"Edit", "MultiEdit", "NotebookEdit", "Write"} {
		s := &seat{recalled: true}
		s.noteSettled(settled, json.RawMessage(`{"file_path":"/w/a"}`))
		for tool, want := range map[string]bool{"Edit": true, "MultiEdit": true, "NotebookEdit": true, "Write": true, "WebFetch": false,
			"Bash": false} {
			again, err := s.settledBefore(t.Context(), hooked{Tool: tool, ToolInput: json.RawMessage(`{"command":"ls"}`)})
			if err != nil || again != want {
				t.Errorf("%s after %s: %t %v", tool, settled, again, err)
			}
		}
	}
}
