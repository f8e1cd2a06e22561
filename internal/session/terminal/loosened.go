package terminal

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"tandem/internal/session/agents"
)

// A program can be made to ask less than when it was opened: by a key at its terminal that changes its mode, by a plan that somebody lets
// pass "and accepts edits", and by what a person's own settings for it allow. None of it is policy's word. What such a mode or entry lets
// pass comes up wherever policy asks, as after a yes that was meant for good.

// loosened says that the program would let a call pass which it asks about as it is started.
func (s *seat) loosened(h hooked) bool {
	tool, runs := settledAs(h.Tool), programs(h.Tool, h.ToolInput)
	looks := tool == "bash" && !slices.ContainsFunc(runs, func(p string) bool { return !looking[p] })
	if s.row.Skip || looks { // the one a person granted, the other it never asks about
		return false
	}
	switch h.Mode {
	case "", "default", "plan": // plan adds a refusal of edits, and loosens nothing
	case "acceptEdits": // of files, and of commands that change them
		if tool == "edit" || tool == "bash" {
			return true
		}
	default:
		return true
	}
	allowed := s.unasked()
	return allowed[tool+" "+anyProgram] || tool == "bash" && slices.ContainsFunc(runs, func(p string) bool {
		first, _, _ := strings.Cut(p, " ")
		return allowed["bash "+p] || allowed["bash "+first] || p == anyProgram && allowed["bash"]
	})
}

// maxAllowing bounds settings that are read for what they allow.
const maxAllowing = 1 << 20

// unasked is what settings let Claude Code do without asking, the person's and the machine's: tools, and tools with a program.
func (s *seat) unasked() map[string]bool {
	out := map[string]bool{}
	if s.row.Agent != agents.ClaudeName {
		return out
	}
	for _, path := range []string{filepath.Join(s.row.Config, "settings.json"), "/etc/claude-code/managed-settings.json"} {
		if data, err := readSmall(path, maxAllowing); err == nil {
			allows(data, out)
		}
	}
	return out
}

// entry is one line of what is allowed: a tool, and in brackets which of its calls, by how they begin.
var entry = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\w+)(?:\(([^*:]*).*\))?$`) })

// allows adds what settings allow. What cannot be read the program does not read either.
func allows(settings []byte, out map[string]bool) {
	var set struct {
		Permissions struct {
			Allow []string `json:"allow"`
		} `json:"permissions"`
		Sandbox struct {
			Enabled bool  `json:"enabled"`
			Auto    *bool `json:"autoAllowBashIfSandboxed"`
		} `json:"sandbox"`
	}
	if json.Unmarshal(settings, &set) != nil {
		return
	}
	if set.Sandbox.Enabled && (set.Sandbox.Auto == nil || *set.Sandbox.Auto) {
		out["bash"], out["bash "+anyProgram] = true, true
	}
	for _, rule := range set.Permissions.Allow {
		m := entry().FindStringSubmatch(rule)
		if m == nil {
			continue
		}
		line, err := json.Marshal(map[string]string{"command": m[2]})
		if err != nil {
			continue
		}
		tool := settledAs(m[1])
		out[tool] = true
		for _, p := range programs(m[1], line) {
			out[tool+" "+p] = true
		}
	}
}
