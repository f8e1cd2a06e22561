package terminal

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"tandem/internal/session/agents"
)

// What a mode or a person's own settings let Claude Code pass is no word of policy's: it comes up where policy asks.
func TestWhatLoosensAProgram(t *testing.T) {
	dir := t.TempDir()
	bash := func(line string) hooked {
		in, err := json.Marshal(map[string]string{"command": line})
		if err != nil {
			t.Fatal(err)
		}
		return hooked{Tool: "Bash", ToolInput: in}
	}
	edit, fetch := hooked{Tool: "Edit", ToolInput: json.RawMessage(`{}`)}, hooked{Tool: "WebFetch", ToolInput: json.RawMessage(`{}`)}
	for _, c := range []struct {
		mode, settings string
		call           hooked
		want           bool
	}{
		{"default", `{}`, edit, false},
		{"", `{}`, edit, false},
		{"plan", `{}`, edit, false},
		{"acceptEdits", `{}`, edit, true},
		{"acceptEdits", `{}`, bash("rm a.txt"), true},
		{"acceptEdits", `{}`, bash("ls -l | wc"), false},
		{"acceptEdits", `{}`, bash("ls $(rm a)"), true},
		{"acceptEdits", `{}`, fetch, false},
		{"auto", `{}`, fetch, true},
		{"something new", `{}`, fetch, true},
		{"bypassPermissions", `{}`, bash("make"), true},
		{"default", `{"permissions":{"allow":["Edit(src/**)"]}}`, hooked{Tool: "Write", ToolInput: json.RawMessage(`{}`)}, true},
		{"default", `{"permissions":{"allow":["WebFetch(domain:example.com)"]}}`, fetch, true},
		{"default", `{"permissions":{"allow":["Bash(npm run test:*)"]}}`, bash("npm run test x"), true},
		{"default", `{"permissions":{"allow":["Bash(npm run test:*)"]}}`, bash("make"), false},
		{"default", `{"permissions":{"allow":["Bash(git:*)"]}}`, bash("cd a && git push"), true},
		{"default", `{"permissions":{"allow":["Bash(git:*)"]}}`, edit, false},
		{"default", `{"permissions":{"allow":["Bash"]}}`, bash("make"), true},
		{"default", `{"permissions":{"allow":["Bash(*)"]}}`, bash("make"), true},
		{"default", `{"permissions":{"allow":["Bash(ls:*)"]}}`, bash("ls"), false},
		{"default", `{"sandbox":{"enabled":true}}`, bash("make"), true},
		{"default", `{"sandbox":{"enabled":true,"autoAllowBashIfSandboxed":false}}`, bash("make"), false},
		{"default", `not JSON`, bash("make"), false},
	} {
		if err := os.WriteFile(filepath.Join(dir, "settings.json"), []byte(c.settings), 0o600); err != nil {
			t.Fatal(err)
		}
		s := &seat{row: row{Seat: Seat{Agent: agents.ClaudeName}, Config: dir}}
		c.call.Mode = c.mode
		if got := s.loosened(c.call); got != c.want {
			t.Errorf("%s %s in %q with %s: %t", c.call.Tool, c.call.ToolInput, c.mode, c.settings, got)
		}
		s.row.Skip = true
		if s.loosened(c.call) {
			t.Errorf("%s %s in %q comes up though a person granted that it skips permissions", c.call.Tool, c.call.ToolInput, c.mode)
		}
	}
}
