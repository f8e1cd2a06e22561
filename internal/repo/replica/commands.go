package replica

import (
	"strings"

	"tandem/internal/repo"
)

// A program that is told what to do by files it finds in a repository: folders
// all of whose files count, and files, as paths from wherever they lie.
type program struct {
	name        string
	dirs, files []string
}

// commanded are the programs that we drive, and those that people run beside them.
// Files that a person runs knowingly (Makefile, package.json) are not among them.
var commanded = []program{
	{name: "Claude Code", dirs: []string{".claude"}, files: []string{"CLAUDE.md", "CLAUDE.local.md", ".mcp.json"}},
	{name: "Codex", dirs: []string{".codex", ".agents"}, files: []string{"AGENTS.md", "AGENTS.override.md"}},
	{name: "OpenCode", dirs: []string{".opencode"}, files: []string{"opencode.json", "opencode.jsonc"}},
	{name: "Gemini CLI", dirs: []string{".gemini"}, files: []string{"GEMINI.md"}},
	{name: "Qwen Code", dirs: []string{".qwen"}, files: []string{"QWEN.md"}},
	{name: "Cursor", dirs: []string{".cursor"}, files: []string{".cursorrules"}},
	{name: "Copilot", dirs: []string{".github/instructions", ".github/prompts", ".github/agents", ".github/chatmodes", ".github/hooks"},
		files: []string{".github/copilot-instructions.md"}},
	{name: "Windsurf", dirs: []string{".windsurf"}, files: []string{".windsurfrules"}},
	{name: "Cline", dirs: []string{".clinerules"}},
	{name: "Roo", dirs: []string{".roo"}, files: []string{".roomodes", ".roorules"}},
	{name: "Continue", dirs: []string{".continue"}, files: []string{".continuerules"}},
	{name: "Aider", files: []string{".aider.conf.yml"}},
	{name: "Goose", dirs: []string{".goose"}, files: []string{".goosehints"}},
	{name: "Amp", dirs: []string{".amp"}, files: []string{"AGENT.md"}},
	{name: "Crush", dirs: []string{".crush"}, files: []string{"CRUSH.md", "crush.json", ".crush.json"}},
	{name: "Junie", dirs: []string{".junie"}},
	{name: "Kiro", dirs: []string{".kiro"}},
	{name: "Amazon Q", dirs: []string{".amazonq"}},
	{name: "Warp", files: []string{"WARP.md"}},
	{name: "Visual Studio Code", dirs: []string{".vscode"}},
	{name: "Zed", dirs: []string{".zed"}, files: []string{".rules"}},
	{name: "Dev Containers", dirs: []string{".devcontainer"}, files: []string{".devcontainer.json"}},
	{name: "Husky", dirs: []string{".husky"}},
	{name: "direnv", files: []string{".envrc"}},
	{name: "mise", dirs: []string{".mise"}, files: []string{"mise.toml", ".mise.toml"}},
	{name: "Vim", files: []string{".exrc", ".vimrc", ".nvimrc", ".nvim.lua"}},
	{name: "Emacs", files: []string{".dir-locals.el"}},
}

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
