package terminal

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What Claude Code would change was shown to whoever approves it as two texts, without line numbers and what stands around them.
func TestAProgramsEditIsShownInItsPlace(t *testing.T) {
	folder, outside := t.TempDir(), t.TempDir()
	file, other := filepath.Join(folder, "main.go"), filepath.Join(outside, "other.txt")
	for path, text := range map[string]string{file: "one\ntwo\nthree\nfour\nfive\nsix\n", other: "one\n",
		filepath.Join(folder, ".env"):  "K=1\n",
		filepath.Join(folder, "twice"): "a\na\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(other, filepath.Join(folder, "link")); err != nil {
		t.Fatal(err)
	}
	shown := func(tool string, args map[string]any) string {
		in, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		all := edits(UseIn{Tool: tool, Folder: folder, Input: in})
		if len(all) == 0 {
			return ""
		}
		if !all[0].Shown || !all[0].Diff {
			t.Errorf("%+v is bound", all[0])
		}
		return all[0].Value
	}
	for tool, raw := range map[string]string{ // the program makes of file what it reads in its own words, and not in words like them
		"edit":        `"oldString":"five","newString":"EVIL","newstring":"harmless"`,
		"Edit":        `"old_string":"five","new_string":"EVIL","New_String":"harmless"`,
		"Write":       `"content":"EVIL","Content":"harmless"`,
		"edit__write": `"content":"EVIL","\u0063ontent":"harmless"`,
	} {
		if all := edits(UseIn{Tool: tool, Folder: folder, Input: json.RawMessage(`{"file_path":"` + file + `",` + raw + `}`)}); all != nil {
			t.Errorf("of two words that are like one, %s shows %+v", tool, all)
		}
	}
	raw := json.RawMessage(`{"command":"rm -r x","Command":"ls"}`)
	if at := touch(UseIn{Tool: "Bash", Folder: folder, Input: raw}); !at.Opaque || at.Shell != "" {
		t.Errorf("of two commands one is judged: %+v", at)
	}
	for what, one := range map[string]string{
		"two paths":        `"path":"main.go","Path":"harmless.go","kind":{"type":"update"},"diff":"@@ -1 +1 @@\n-one\n+EVIL\n"`,
		"two diffs":        `"path":"main.go","kind":{"type":"update"},"diff":"@@ -1 +1 @@\n-one\n+EVIL\n","DIFF":"@@ -1 +1 @@\n-one\n+uno\n"`,
		"two kinds within": `"path":"main.go","kind":{"type":"delete","Type":"update"},"diff":"one\n"`,
	} {
		in := UseIn{Tool: "Edit", Folder: folder, Input: json.RawMessage(`{"changes":[{` + one + `}]}`)}
		if all := edits(in); all != nil {
			t.Errorf("%s of a change of Codex's show %+v", what, all)
		}
		if at := touch(in); !at.Opaque || len(at.Paths) > 0 {
			t.Errorf("%s: one of them is judged: %+v", what, at)
		}
		if names := changed(in.Input); len(names) != 1 || names[0] != "" {
			t.Errorf("%s settle %q", what, names)
		}
	}
	moves := UseIn{Tool: "Edit", Folder: folder, Input: json.RawMessage(
		`{"changes":[{"path":"main.go","kind":{"type":"update","move_path":"priv/key"},"diff":""}]}`)}
	if at := touch(moves); at.Opaque || !slices.Contains(at.Paths, filepath.Join(folder, "priv/key")) || !slices.Contains(at.Paths, file) {
		t.Errorf("a file that goes elsewhere touches %+v", at)
	}
	s := &seat{}
	s.noteSettled("Edit", moves.Input)
	for command, want := range map[string]bool{"*** Update File: MAIN.go": true, "*** Add File: x/Key": true, "*** Add File: other": false} {
		if got := s.patchesSettled(hooked{Tool: "apply_patch", ToolInput: json.RawMessage(`{"command":"` + command + `"}`)}); got != want {
			t.Errorf("%s is asked about: %v", command, got)
		}
	}
	got := shown("Edit", map[string]any{"file_path": file, "old_string": "five", "new_string": "FIVE"})
	if !strings.Contains(got, "@@ -2,5 +2,5 @@\n two\n three\n four\n-five\n+FIVE\n six\n") {
		t.Errorf("the edit is shown as\n%s", got)
	}
	got = shown("Write", map[string]any{"file_path": filepath.Join(folder, "new.txt"), "content": "hello\n"})
	if !strings.Contains(got, "+hello\n") {
		t.Errorf("a new file is shown as\n%s", got)
	}
	got = shown("edit", map[string]any{"file_path": file, "filePath": file, "oldString": "five", "newString": "FIVE",
		"patterns": []string{"main.go"}}) // OpenCode
	if !strings.Contains(got, "@@ -2,5 +2,5 @@\n two\n three\n four\n-five\n+FIVE\n six\n") {
		t.Errorf("OpenCode's edit is shown as\n%s", got)
	}
	if got = shown("edit__write", map[string]any{"file_path": filepath.Join(folder, "new.txt"), "content": "hello\n"}); !strings.Contains(got,
		"+hello\n") {
		t.Errorf("OpenCode's new file is shown as\n%s", got)
	}
	got = shown("Edit", map[string]any{"changes": []any{
		map[string]any{"path": file, "kind": map[string]any{"type": "update"}, "diff": "@@ -4,3 +4,3 @@\n four\n-five\n+FIVE\n six\n"},
		map[string]any{"path": filepath.Join(folder, "new.txt"), "kind": map[string]any{"type": "add"}, "diff": "hello\n"}}}) // Codex
	for _, want := range []string{"--- a/main.go\n+++ b/main.go\n@@ -4,3 +4,3 @@\n four\n-five",
		"--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,1 @@\n+hello\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("Codex's patch is shown as\n%s", got)
		}
	}
	for what, args := range map[string]map[string]any{
		"outside":        {"file_path": other, "old_string": "one", "new_string": "x"},
		"a link out":     {"file_path": filepath.Join(folder, "link"), "old_string": "one", "new_string": "x"},
		"a file of keys": {"file_path": filepath.Join(folder, ".env"), "old_string": "K", "new_string": "x"},
		"not there":      {"file_path": file, "old_string": "seven", "new_string": "x"},
		"not the one":    {"file_path": filepath.Join(folder, "twice"), "old_string": "a", "new_string": "x"},
		"above":          {"file_path": folder + "/../x", "old_string": "one", "new_string": "x"},
	} {
		if got := shown("Edit", args); got != "" {
			t.Errorf("%s is shown as\n%s", what, got)
		}
	}
}
