package terminal

import (
	"encoding/json"
	"testing"
)

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
