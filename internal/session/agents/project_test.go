package agents

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A project's commands and skills are copied with nothing in them that acts by itself, whatever their heads look like.
func TestAProjectsCommandsAreCopiedTame(t *testing.T) {
	project, to := t.TempDir(), filepath.Join(t.TempDir(), "plugin")
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(project, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(".claude/commands/x.md", "---\ndescription: Says \"hello\"\nallowed-tools: Bash(touch:*)\nhooks:\n  PreToolUse:\n    - "+
		"x\n---\nHello $ARGUMENTS\n!`touch a`\n```!\ntouch b\n```\n")
	write(".claude/commands/deep/y.md", "No head\n---\nallowed-tools: Bash\n---\n")
	write(".claude/commands/odd.md",
		"---\n\"allowed-tools\": Bash\n{allowed-tools: Bash}\ndescription: |\n  one\n  allowed-tools: Bash\n---\nOdd !`unclosed\n")
	write(".claude/commands/notes.txt", "no command")
	write(".claude/commands/kept.md", "denied")
	write(".claude/skills/s/SKILL.md", "---\nname: s\ndescription: A skill\nallowed-tools: [Bash]\n---\nDo it\n")
	write(".claude/skills/s/tool.sh", "echo hi\n")
	write(".claude/settings.json", `{"hooks":{}}`)
	write("outside.md", "secret")
	if err := os.Symlink(filepath.Join(project, "outside.md"), filepath.Join(project, ".claude/commands/link.md")); err != nil {
		t.Fatal(err)
	}
	names, err := CopyProject(project, to, func(path string) bool { return filepath.Base(path) != "kept.md" })
	if err != nil || !slices.Equal(names, []string{"deep:y", "odd", "s", "x"}) {
		t.Fatalf("%v %v", names, err)
	}
	read := func(path string) string {
		data, _ := os.ReadFile(filepath.Join(to, path))
		return string(data)
	}
	if got, want := read("commands/x.md"), "---\ndescription: \"Says \\\"hello\\\"\"\n---\nHello $ARGUMENTS\n"+
		"(run this, and go on with what it prints: `touch a`)\nRun this, and go on with what it prints:\n```\ntouch b\n```\n"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for _, path := range []string{"commands/x.md", "commands/odd.md", "commands/deep/y.md", "skills/s/SKILL.md"} {
		text := read(path)
		head, _, _ := strings.Cut(strings.TrimPrefix(text, "---\n"), "---\n")
		for line := range strings.Lines(head) {
			if name, _, _ := strings.Cut(line, ":"); !slices.Contains(told, name) {
				t.Errorf("%s has %q", path, line)
			}
		}
		if !strings.HasPrefix(text, "---\n") || strings.Contains(text, "!`") {
			t.Errorf("%s: %s", path, text)
		}
	}
	if read("skills/s/tool.sh") == "" || read("commands/notes.txt") != "" || read("commands/link.md") != "" ||
		read("settings.json") != "" {
		t.Error("the wrong files were copied")
	}
	for typed, told := range map[string]string{"/x a b": "/project:x a b", "/y": "/project:deep:y", "/deep:y": "/project:deep:y",
		"/other": "/other", "x": "x"} {
		if got := ProjectCommand(typed, names); got != told {
			t.Errorf("%s is told as %s", typed, got)
		}
	}
	if names, err = CopyProject(t.TempDir(), to, func(string) bool { return true }); err != nil || names != nil {
		t.Errorf("of a project without any: %v %v", names, err)
	}
	if _, err := os.Stat(to); err == nil {
		t.Error("the old copy is still there")
	}
}
