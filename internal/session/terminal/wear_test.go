package terminal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/session"
	"tandem/internal/session/terminal"
	"tandem/internal/tool"
)

// ownShell is a scripted call of a program's own shell.
func ownShell(agent, command string) string {
	switch agent {
	case "codex":
		return `[[tool exec_command {"cmd":` + quote(command) + `,"yield_time_ms":30000}]]`
	case "opencode":
		return shell(command)
	}
	return `[[tool Bash {"command":` + quote(command) + `,"description":"a command"}]]`
}

// outfitted puts toolchains into a home and a few things beside it, and returns the path on which the toolchains are.
func outfitted(t *testing.T, dir string) (path string) {
	t.Helper()
	for name, text := range map[string]string{
		"home/.nvm/versions/node/v1/bin/node":  "#!/bin/sh\necho node-of-nvm\n",
		"home/.nvm/alias/default":              "CANARY\n",
		"home/.pyenv/version":                  "3.1\n",
		"home/.pyenv/versions/3.1/bin/python3": "#!/bin/sh\necho python-of-pyenv\n",
		"home/.pyenv/shims/python3":            "#!/bin/sh\necho CANARY\n",
		"home/.cargo/credentials.toml":         "CANARY\n",
		"tools/greet":                          "#!/bin/sh\necho GREETED $WORD\n",
		"shared/notes.txt":                     "a note\n",
		"shared/.env":                          "CANARY\n",
	} {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprintf("PATH=%[1]s/home/.nvm/versions/node/v1/bin:%[1]s/home/.pyenv/shims:%s", dir, os.Getenv("PATH"))
}

// give grants the project with an outfit, which also tries to move the program's own state.
func (h *house) give() {
	h.t.Helper()
	in := session.FolderIn{Path: h.project, Outfit: tool.Outfit{Path: []string{filepath.Join(h.dir, "tools")},
		See: []string{filepath.Join(h.dir, "shared")},
		Env: []string{"WORD=hello", "CODEX_HOME=/nowhere", "CLAUDE_CONFIG_DIR=/nowhere", "XDG_DATA_HOME=/nowhere", "HOME=" + h.project}}}
	if err := h.c.WithPIN(pin).Call(h.t.Context(), "folder.grant", in, nil); err != nil {
		h.t.Fatal(err)
	}
}

// wears shows what a real agent's own shell has. Commands of our own loop had the toolchains that lie in a person's home, caches, and what
// the person gave a folder; the programs of agents had the system's alone and an empty home: `node: command not found`, everything built
// anew. They have the same by the same function: a node of nvm, a Python of pyenv, the folder's programs, places and variables, a cache
// that can be written, and nothing of a tool's own home. What steers the program itself is not a folder's to set.
func (h *house) wears(s terminal.Seat) {
	h.t.Helper()
	in := func(name string) string { return filepath.Join(h.dir, name) }
	h.write("home/code/look.sh", strings.Join([]string{"node", "python3", "greet", "cat " + in("shared/notes.txt"),
		"echo built > $GOCACHE/one && echo cached-$(cat $GOCACHE/one)",
		"grep -rs CANAR[Y] " + in("home") + " " + in("shared") + " && echo SAW-A-KEY",
		"touch " + in("shared/made") + " 2>/dev/null && echo CHANGED-SHARED",
		"[ $HOME = " + h.project + " ] && echo MOVED-HOME", "sh bounds.sh", "echo end"}, "\n"))
	h.write("home/code/bounds.sh", bounds)
	out := h.begin(s.Name, "look "+ownShell(s.Agent, "sh look.sh")+" [[result]]")
	h.decide(approval.Approve, "")
	out = h.ended(s.Name, out.Cursor)
	for _, good := range []string{"node-of-nvm", "python-of-pyenv", "GREETED hello", "a note", "cached-built", "end"} {
		if !strings.Contains(out.Report, good) {
			h.t.Errorf("%s: no %s in %s", s.Agent, good, out.Report)
		}
	}
	for _, bad := range []string{"SAW-", "CHANGED-", "MOVED-"} {
		if strings.Contains(out.Report, bad) {
			h.t.Errorf("%s: %s: %s", s.Agent, bad, out.Report)
		}
	}
	if s.Agent != "codex" { // this was in a sandbox of its own, inside of ours
		h.bounded(s, out.Report)
	}
}

// bounds says who a command is, and what it could do.
const bounds = `echo uid-$(id -u) zero-$(grep -cE '^Cap(Inh|Prm|Eff|Amb):.0000000000000000$' /proc/self/status)
echo privileges-$(grep -c '^NoNewPrivs:.1$' /proc/self/status); unshare -U true 2> /dev/null && echo NESTED
`

// bounded shows who a program of an agent is in its box: the user of the server, or root without a capability where that is root, who can
// gain none; and it makes no namespace of users, but for the one that brings a sandbox of its own, which is nobody special in there.
func (h *house) bounded(s terminal.Seat, report string) {
	h.t.Helper()
	uid := os.Getuid()
	if uid == 0 && s.Agent == "codex" {
		uid = 1000
	}
	for _, good := range []string{fmt.Sprintf("uid-%d zero-4", uid), "privileges-1"} {
		if !strings.Contains(report, good) {
			h.t.Errorf("%s: no %s in %s", s.Agent, good, report)
		}
	}
	if strings.Contains(report, "NESTED") != (s.Agent == "codex") {
		h.t.Errorf("%s: namespaces of users: %s", s.Agent, report)
	}
}
