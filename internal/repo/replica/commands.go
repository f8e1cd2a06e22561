package replica

import (
	"strings"

	"tandem/internal/repo"
)

// A program that is told what to do by files it finds in a repository: folders
// all of whose files count, and files, as paths from wherever they lie.
type program struct {
	name string
	// asOf is the version in which it was looked up what the program reads: a
	// test runs that one, and shows it.
	asOf        string
	dirs, files []string
}

// commanded are the programs that we drive, and those that people run beside them.
// Files that a person runs knowingly (Makefile, package.json) are not among them.
var commanded = []program{
	{name: "Claude Code", asOf: "2.1.197", dirs: []string{".claude"}, files: []string{"CLAUDE.md", "CLAUDE.local.md", ".mcp.json"}},
	{name: "Codex", asOf: "0.166.0", dirs: []string{".codex", ".agents"}, files: []string{"AGENTS.md", "AGENTS.override.md"}},
	{name: "OpenCode", asOf: "1.18.33", dirs: []string{".opencode"}, files: []string{"opencode.json", "opencode.jsonc"}},
	{name: "Gemini CLI", asOf: unseen, dirs: []string{".gemini"}, files: []string{"GEMINI.md"}},
	{name: "Qwen Code", asOf: unseen, dirs: []string{".qwen"}, files: []string{"QWEN.md"}},
	{name: "Cursor", asOf: unseen, dirs: []string{".cursor"}, files: []string{".cursorrules"}},
	{name: "Copilot", asOf: unseen,
		dirs:  []string{".github/instructions", ".github/prompts", ".github/agents", ".github/chatmodes", ".github/hooks"},
		files: []string{".github/copilot-instructions.md"}},
	{name: "Windsurf", asOf: unseen, dirs: []string{".windsurf"}, files: []string{".windsurfrules"}},
	{name: "Cline", asOf: unseen, dirs: []string{".clinerules"}},
	{name: "Roo", asOf: unseen, dirs: []string{".roo"}, files: []string{".roomodes", ".roorules"}},
	{name: "Continue", asOf: unseen, dirs: []string{".continue"}, files: []string{".continuerules"}},
	{name: "Aider", asOf: unseen, files: []string{".aider.conf.yml"}},
	{name: "Goose", asOf: unseen, dirs: []string{".goose"}, files: []string{".goosehints"}},
	{name: "Amp", asOf: unseen, dirs: []string{".amp"}, files: []string{"AGENT.md"}},
	{name: "Crush", asOf: unseen, dirs: []string{".crush"}, files: []string{"CRUSH.md", "crush.json", ".crush.json"}},
	{name: "Junie", asOf: unseen, dirs: []string{".junie"}},
	{name: "Kiro", asOf: unseen, dirs: []string{".kiro"}},
	{name: "Amazon Q", asOf: unseen, dirs: []string{".amazonq"}},
	{name: "Warp", asOf: unseen, files: []string{"WARP.md"}},
	{name: "Visual Studio Code", asOf: unseen, dirs: []string{".vscode"}},
	{name: "Zed", asOf: unseen, dirs: []string{".zed"}, files: []string{".rules"}},
	{name: "Dev Containers", asOf: unseen, dirs: []string{".devcontainer"}, files: []string{".devcontainer.json"}},
	{name: "Husky", asOf: unseen, dirs: []string{".husky"}},
	{name: "direnv", asOf: unseen, files: []string{".envrc"}},
	{name: "mise", asOf: unseen, dirs: []string{".mise"}, files: []string{"mise.toml", ".mise.toml"}},
	{name: "Vim", asOf: unseen, files: []string{".exrc", ".vimrc", ".nvimrc", ".nvim.lua"}},
	{name: "Emacs", asOf: unseen, files: []string{".dir-locals.el"}},
}

// unseen is said of programs that we do not drive: their files are known by name, and no version of them was run.
const unseen = "no version"

// commanding matches the files that tell agents and tools what to do: by their
// names, anywhere in the tree and in whatever spelling some file system takes for
// the same, and what links of such names lead to.
type commanding struct {
	behind []repo.Path
}

// Match is true for such a file, and for a link in the place of such a folder.
func (c commanding) Match(p repo.Path) bool {
	for _, b := range c.behind {
		if b.Contains(p) {
			return true
		}
	}
	return commandingName(p)
}

// Visit is always true: they may lie anywhere.
func (commanding) Visit(repo.Path) bool { return true }

func commandingName(p repo.Path) bool {
	parts := seenAs(p)
	for i := range parts {
		for _, x := range commanded {
			for _, f := range x.files {
				if n, ok := begins(parts[i:], f); ok && i+n == len(parts) {
					return true
				}
			}
			for _, d := range x.dirs {
				if _, ok := begins(parts[i:], d); ok {
					return true
				}
			}
		}
	}
	return false
}

// leadsTo says whether a link at a path is in the place of such a file or folder,
// or of a folder on the way to one.
func leadsTo(p repo.Path) bool {
	if commandingName(p) {
		return true
	}
	parts := seenAs(p)
	if len(parts) == 0 {
		return false
	}
	last := parts[len(parts)-1]
	for _, x := range commanded {
		for _, path := range append(append([]string{}, x.dirs...), x.files...) {
			if first, _, deeper := strings.Cut(path, "/"); deeper && strings.EqualFold(first, last) {
				return true
			}
		}
	}
	return false
}

// begins says whether names begin with those of a path, and how many it has.
func begins(names []string, path string) (int, bool) {
	want := strings.Split(path, "/")
	if len(names) < len(want) {
		return 0, false
	}
	for i, w := range want {
		if !strings.EqualFold(names[i], w) {
			return 0, false
		}
	}
	return len(want), true
}

// seenAs are a path's names as the least particular file system sees them.
func seenAs(p repo.Path) []string {
	var out []string
	for _, name := range p.Components() {
		for _, part := range strings.Split(name, "\\") {
			out = append(out, repo.SeenName(part))
		}
	}
	return out
}
