package terminal_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/session/terminal"
	"tandem/internal/testenv"
)

func (h *house) text(path string) string {
	h.t.Helper()
	data, err := os.ReadFile(filepath.Join(h.dir, path))
	if err != nil && !os.IsNotExist(err) {
		h.t.Fatal(err)
	}
	return string(data)
}

// grantSkip lets sessions in a folder skip their permissions.
func (h *house) grantSkip(folder string) {
	h.t.Helper()
	in := terminal.SkipIn{Folder: folder}
	if err := h.c.Call(h.t.Context(), "session.skip", in, nil); err == nil {
		h.t.Fatal("granted without a person")
	}
	h.decide(approval.Approve, "")
	h.call("session.skip", in, nil)
}

// The person's ~/.claude and ~/.claude.json were writable in a session's box, and what an agent wrote there (a hook, an MCP server) ran
// outside of it, in the person's own program and in later sessions. Also two sessions that opened at once lost each other's entry in
// that file. A confined session has a home of its own: settings, commands and skills come in read-only, the sign-in without what renews
// it, and of all that is written there only the session's own conversation goes out, where the person's program can resume it.
// Root's Claude Code, too, starts with a grant to skip permissions: its box is the sandbox that it asks for.
func TestAConfinedSessionHasAHomeOfItsOwn(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "TANDEM_CONFINE=bwrap", "IS_SANDBOX=")
	person := map[string]string{
		"home/.claude/settings.json":          `{"cleanupPeriodDays":99}`,
		"home/.claude/CLAUDE.md":              "The person's favourite bird is the dipper.\n",
		"home/.claude/commands/greet.md":      "say hello\n",
		"home/.claude/history.jsonl":          "OTHER-CONVERSATION\n",
		"home/.claude/projects/-other/x.json": "OTHER-CONVERSATION\n",
		"home/.claude/.credentials.json": `{"claudeAiOauth":{"accessToken":"lent","refreshToken":"RENEWING","expiresAt":4102444800000,"sc` +
			`opes":["user:inference"]}}`,
		"home/.claude.json": `{"hasCompletedOnboarding":true,"mcpServers":{"mine":{"command":"OTHER-SERVER"}},"projects":{"/` +
			`other":{"allowedTools":["OTHER-PROJECT"]}}}`,
		"home/.ssh/id_ed25519": "PRIVATE\n",
	}
	for path, text := range person {
		h.write(path, text)
	}
	h.grantSkip(h.project)
	var s terminal.Seat
	h.call("session.open", terminal.OpenIn{Name: "a", Cwd: h.project, Skip: true}, &s)
	if s.State != terminal.Ready || s.Confined != "bwrap" || !s.Skip {
		t.Fatalf("%+v\n%s", s, h.shown("a"))
	}
	attack := strings.Join([]string{
		`cd ~; echo '{"hooks":{}}' > .claude/settings.json && echo WROTE-SETTINGS; rm -f .claude/settings.json && echo WROTE-SETTINGS`,
		`mv .claude .moved && echo MOVED-STATE; mv .claude/commands .claude/x && echo MOVED-STATE; ` +
			`echo x > .claude/commands/greet.md && echo WROTE-COMMAND`,
		`echo '{"mcpServers":{"evil":{"command":"touch"}}}' > .claude.json; mkdir -p .claude/hooks .config/systemd .local/bin; ` +
			`echo evil > .claude/evil; echo evil > .bashrc; echo evil > .local/bin/ls`,
		`grep -rs RENEW[I]NG . && echo SAW-TOKEN; grep -rs OTHER[-] . && echo SAW-OTHERS; cat .ssh/* && echo SAW-KEYS; ` +
			`cat .claude/.credentials.json; cat .claude/CLAUDE.md .claude/commands/greet.md; echo END`,
	}, "; ")
	h.write("home/code/attack.sh", attack)
	out := h.send("a", `go [[tool Bash {"command":"sh attack.sh","description":"look around"}]] [[result]]`)
	for _, bad := range []string{"WROTE-", "MOVED-", "SAW-"} {
		if strings.Contains(out.Report, bad) {
			t.Errorf("%s: %s", bad, out.Report)
		}
	}
	for _, good := range []string{"END", `"accessToken":"lent"`, "dipper", "say hello"} {
		if !strings.Contains(out.Report, good) {
			t.Errorf("no %s: %s", good, out.Report)
		}
	}
	for path, text := range person {
		want(t, path, h.text(path), text)
	}
	for _, made := range []string{".bashrc", ".local", ".claude/evil", ".claude/hooks", ".moved"} {
		if _, err := os.Lstat(filepath.Join(h.dir, "home", made)); err == nil {
			t.Errorf("%s was made in the person's home", made)
		}
	}

	// A sign-in that was renewed outside reaches the session; what the session made of its own does not come out.
	h.write("home/.claude/.credentials.json", strings.Replace(person["home/.claude/.credentials.json"], "lent", "lent-anew", 1))
	h.eventually("the new sign-in is lent", func() bool {
		own, err := filepath.Glob(filepath.Join(h.dir, "home", ".tandem", "terminals", s.Session+".home", "state", ".credentials.json"))
		if err != nil || len(own) != 1 {
			return false
		}
		data, err := os.ReadFile(own[0])
		return err == nil && strings.Contains(string(data), "lent-anew") && !strings.Contains(string(data), "RENEWING")
	})

	// The person resumes the conversation with their own program.
	h.send("a", "remember the heron [[say noted]]")
	var conversation string
	h.eventually("the conversation is kept", func() bool {
		found, err := filepath.Glob(filepath.Join(h.dir, "home", ".claude", "projects", "*", "*.jsonl"))
		if err != nil || len(found) != 1 {
			return false
		}
		data, err := os.ReadFile(found[0])
		conversation = strings.TrimSuffix(filepath.Base(found[0]), ".jsonl")
		return err == nil && strings.Contains(string(data), "noted")
	})
	h.call("session.close", terminal.NameIn{Name: "a"}, nil)
	cmd := exec.CommandContext(t.Context(), testenv.Tool(t, "claude"), "-p", "and on [[say resumed]]", "--resume", conversation)
	cmd.Env, cmd.Dir = h.env, h.project
	if said, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(said), "resumed") {
		t.Errorf("the person's program: %v %s", err, said)
	}
	if left, err := filepath.Glob(filepath.Join(h.dir, "home", ".tandem", "terminals", s.Session+"*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}

	// In the home folder itself it works as well: its own home is elsewhere, and the person's settings cannot be changed.
	home := filepath.Join(h.dir, "home")
	h.grantSkip(home)
	h.call("session.open", terminal.OpenIn{Name: "b", Cwd: home, Skip: true}, &s)
	if s.State != terminal.Ready || s.Signal != "registry" || strings.Contains(s.Detail, "warning") {
		t.Fatalf("%+v\n%s", s, h.shown("b"))
	}
	h.write("home/code/attack.sh",
		"cd "+home+`; echo x > .claude/settings.json && echo WROTE-SETTINGS; echo x > .claude.json && echo WROTE-SETTINGS
		mv .claude c && echo MOVED-STATE; cat .claude/.credentials.json; ls .tandem; echo made > made.txt; echo END`)
	out = h.send("b", `go [[tool Bash {"command":"sh code/attack.sh","description":"look around"}]] [[result]]`)
	for _, bad := range []string{"WROTE-", "MOVED-", "RENEWING", "tandem.db"} {
		if strings.Contains(out.Report, bad) {
			t.Errorf("%s: %s", bad, out.Report)
		}
	}
	want(t, "what it made", h.text("home/made.txt"), "made\n")
	want(t, "settings", h.text("home/.claude/settings.json"), person["home/.claude/settings.json"])
	if err := h.c.Call(t.Context(), "session.open", terminal.OpenIn{Name: "c", Cwd: filepath.Join(home, ".claude")}, nil); err == nil ||
		!strings.Contains(err.Error(), "holds settings of an agent program") {
		t.Errorf("opened among the settings: %v", err)
	}
}
