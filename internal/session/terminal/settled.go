package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/policy"
	"tandem/internal/session/agents"
	"tandem/internal/session/terminal/codex"
	"tandem/internal/spelling"
)

// A yes at a program's own dialog may have been meant for later calls, too ("don't ask again"). The program then asks nobody about those,
// and does not tell. So calls like one that was settled there come up again wherever policy asks, and "always" at the dialog is worth one
// call.

// anyProgram stands for a call of which nobody knows which programs it runs, and for tools that run none.
const anyProgram = "*"

// verbed are programs of which each verb is a matter of its own: who lets a commit pass has said nothing of a push, nor of looking.
var verbed = map[string]bool{"git": true, "jj": true, "gh": true, "docker": true, "npm": true, "go": true, "cargo": true}

// looking are programs that agents run without asking anybody; beside others in a line they are not what was asked about.
var looking = map[string]bool{"cd": true, "ls": true, "cat": true, "head": true, "tail": true, "wc": true, "grep": true, "pwd": true,
	"sort": true}

// programs are what a tool's call runs, as far as its arguments show.
func programs(tool string, input json.RawMessage) (out []string) {
	var a struct {
		Command string `json:"command"`
	}
	if _, ok := exact(input); !ok || toolName(tool) != "bash" || json.Unmarshal(input, &a) != nil {
		return []string{anyProgram}
	}
	runs, _, followed := policy.Runs(a.Command)
	for _, words := range runs {
		name := path.Base(words[0])
		if verbed[name] && len(words) > 1 {
			name += " " + words[1]
		}
		out = append(out, name)
	}
	if only := slices.DeleteFunc(slices.Clone(out), func(p string) bool { return looking[p] }); len(only) > 0 {
		out = only
	}
	if !followed || len(out) == 0 {
		out = append(out, anyProgram)
	}
	return out
}

// settledAs is the name under which a tool's dialogs are settled: "allow all edits" is of every tool that changes files.
func settledAs(tool string) string {
	if name := toolName(tool); name != "write" {
		return name
	}
	return "edit"
}

// noteSettled remembers a dialog that was settled at the terminal. The caller holds s.mu.
func (s *seat) noteSettled(tool string, input json.RawMessage) {
	if tool == "AskUserQuestion" || tool == "ExitPlanMode" { // answered each time
		return
	}
	if s.settled == nil {
		s.settled = map[string]bool{}
	}
	name := settledAs(tool)
	s.settled[name] = true
	for _, file := range changed(input) {
		s.settled[changing+file] = true
	}
	for _, p := range programs(tool, input) {
		s.settled[name+" "+p] = true
	}
}

// settledBefore says whether a call is like one that was settled at the terminal: of the same tool, and of a shell with the same programs.
func (s *seat) settledBefore(ctx context.Context, h hooked) (bool, error) {
	s.mu.Lock()
	loaded := s.recalled
	s.mu.Unlock()
	var inputs []json.RawMessage
	if !loaded { // by a server that ran before
		var err error
		if inputs, err = s.d.asks.WithdrawnBy(ctx, s.row.Tenant, s.row.Session, string(SessionTool)); err != nil {
			return false, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, raw := range inputs {
		var in UseIn
		if json.Unmarshal(raw, &in) == nil {
			s.noteSettled(in.Tool, in.Input)
		}
	}
	s.recalled = true
	tool := settledAs(h.Tool)
	codex := s.row.Agent == agents.CodexName
	if codex && s.patchesSettled(h) {
		return true, nil
	}
	if !s.settled[tool] || codex && !keepsRules(s.host(filepath.Join(s.configAt(), "rules"))) {
		return false, nil
	}
	if s.settled[tool+" "+anyProgram] {
		return true, nil
	}
	for _, p := range programs(h.Tool, h.ToolInput) {
		if p == anyProgram || s.settled[tool+" "+p] {
			return true, nil
		}
	}
	return false, nil
}

// changing begins what is kept of files whose change was settled: Codex asks no more about those, and writes that down nowhere.
const changing = "changes "

// changed are the names of the files that a request of Codex's is about, without their folders: a patch spells those as it likes. Where it
// cannot be read as Codex reads it, it may be about any.
func changed(input json.RawMessage) (out []string) {
	args, ok := exact(input)
	files, err := codex.Files(args["changes"])
	if (!ok || err != nil) && bytes.HasPrefix(bytes.TrimSpace(input), []byte("{")) {
		return []string{""}
	}
	for _, f := range files {
		out = append(out, filepath.Base(f))
	}
	return out
}

// patchesSettled says whether Codex is about to change a file whose change was settled at its dialog, by its tool for that or by a command
// of that name: whatever the case of the letters, which to some systems are the same file's. The caller holds s.mu.
func (s *seat) patchesSettled(h hooked) bool {
	var a struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(h.ToolInput, &a) != nil || !strings.Contains(strings.ReplaceAll(h.Tool+a.Command, "_", ""), "applypatch") {
		return false
	}
	for name := range s.settled {
		if file, ok := strings.CutPrefix(name, changing); ok && strings.Contains(spelling.Folded(a.Command), spelling.Folded(file)) {
			return true
		}
	}
	return false
}

// keepsRules says whether Codex was told of anything that it asks no more about: it writes that down.
func keepsRules(folder string) bool {
	list, err := os.ReadDir(folder)
	return err == nil && len(list) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// line is the command of a call that wants nothing beside it.
func line(h hooked) string {
	var a struct {
		Command string          `json:"command"`
		More    json.RawMessage `json:"additional_permissions"`
		Network json.RawMessage `json:"network"`
	}
	if _, ok := exact(h.ToolInput); !ok || h.Tool != "Bash" || json.Unmarshal(h.ToolInput, &a) != nil || a.More != nil || a.Network != nil {
		return ""
	}
	return policy.Told(a.Command)
}

// pass remembers the line that people let run while its hook waited.
func (s *seat) pass(h hooked) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.approved = line(h)
}

// unpass forgets it: with the turn's end, and when the same line comes up anew, for nothing was said of that yet.
func (s *seat) unpass(again *hooked) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if again == nil || line(*again) == s.approved {
		s.approved = ""
	}
}

// passed says, once, that this is that line: Codex may ask at its server, too, about what its own sandbox would not let it do.
func (s *seat) passed(h hooked) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ok := s.approved != "" && line(h) == s.approved
	s.approved = ""
	return ok
}
