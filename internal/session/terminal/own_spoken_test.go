package terminal_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/approval"
	"tandem/internal/policy/book"
	"tandem/internal/session/terminal"
	"tandem/internal/testenv"
)

// What holds for Claude Code (TestAConfinedSessionHasAHomeOfItsOwn) holds for Codex: its box cannot change the person's CODEX_HOME,
// not even by a command that a person let out of Codex's own sandbox, and the conversation is where the person's own program resumes it.
func TestCodexHasAHomeOfItsOwn(t *testing.T) {
	if !alone(t) {
		return
	}
	h := spokenIn(t, apartDir(t), "TANDEM_CONFINE=bwrap")
	person := map[string]string{
		"home/.codex/prompts/greet.md":         "say hello\n",
		"home/.codex/history.jsonl":            `{"session_id":"x","ts":1,"text":"OTHER-CONVERSATION"}` + "\n",
		"home/.ssh/id_ed25519":                 "PRIVATE\n",
		"home/.local/share/opencode/auth.json": `{"x":{"type":"api","key":"OTHER-KEY"}}`,
	}
	for path, text := range person {
		h.write(path, text)
	}
	for _, kept := range []string{"home/.codex/config.toml", "home/.config/opencode/opencode.json"} {
		person[kept] = h.text(kept)
	}
	h.openAs("a", "codex")
	home := filepath.Join(h.dir, "home")
	h.write("home/code/attack.sh", strings.Join([]string{
		`for d in ` + home + ` ~; do cd $d || continue; echo evil >> .codex/config.toml && echo WROTE-CONFIG-$d; ` +
			`rm -f .codex/config.toml && echo WROTE-CONFIG-$d`,
		`echo evil > .codex/prompts/greet.md && echo WROTE-PROMPT; mv .codex .moved && echo MOVED-STATE; ` +
			`mkdir -p .codex && echo evil > .codex/evil`,
		`echo evil > .config/opencode/opencode.json && echo WROTE-OPENCODE; done`,
		`[ -n "$CODEX_HOME" ] && echo evil >> $CODEX_HOME/config.toml && echo WROTE-OWN-CONFIG`,
		`grep -rs OTHER[-] ` + home + ` ~ && echo SAW-OTHERS; cat ` + home + `/.ssh/* ~/.ssh/* && echo SAW-KEYS; echo END`}, "\n"))
	out := h.begin("a", "go "+escalated("sh attack.sh")+" [[result]]")
	h.decide(approval.Approve, "")
	report := h.ended("a", out.Cursor).Report
	for _, bad := range []string{"WROTE-CONFIG-" + home, "WROTE-PROMPT", "WROTE-OPENCODE", "WROTE-OWN", "MOVED-", "SAW-"} {
		if strings.Contains(report, bad) {
			t.Errorf("%s: %s", bad, report)
		}
	}
	if !strings.Contains(report, "END") {
		t.Errorf("it did not try: %s", report)
	}
	for path, text := range person {
		want(t, path, h.text(path), text)
	}
	for _, made := range []string{".codex/evil", ".moved"} {
		if _, err := os.Lstat(filepath.Join(home, made)); err == nil {
			t.Errorf("%s was made in the person's home", made)
		}
	}

	h.send("a", "remember the heron [[say noted]]")
	var conversation string
	h.eventually("the conversation is kept", func() bool {
		found, err := filepath.Glob(filepath.Join(home, ".codex", "sessions", "*", "*", "*", "rollout-*.jsonl"))
		if err != nil || len(found) != 1 {
			return false
		}
		data, err := os.ReadFile(found[0])
		name := strings.TrimSuffix(filepath.Base(found[0]), ".jsonl")
		conversation = name[max(0, len(name)-36):]
		return err == nil && strings.Contains(string(data), "noted")
	})
	h.call("session.close", terminal.NameIn{Name: "a"}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, testenv.Tool(t, "codex"), "exec", "--skip-git-repo-check", "resume", conversation,
		"and on [[say resumed]]")
	cmd.Env, cmd.Dir = h.env, h.project
	if said, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(said), "resumed") {
		t.Errorf("the person's program: %v %s", err, said)
	}
	if all := h.model.Requests(); !strings.Contains(string(all[len(all)-1].Body), "heron") {
		t.Error("it is another conversation")
	}
}

// What holds for Claude Code (TestANetworkDenialEndsTheTurn) holds for those that are spoken to.
func TestNetworkDenialsBindCodex(t *testing.T) { networkDenialsBind(t, "codex") }

func TestNetworkDenialsBindOpenCode(t *testing.T) {
	if !testenv.Soak() {
		t.Skip("it starts three times, which takes it minutes on a busy machine: make soak ROOM=./internal/session/terminal")
	}
	networkDenialsBind(t, "opencode")
}

// networkDenialsBind denies a host while a program's command runs, and then the network: its turn ends with that reason, a line that names
// the host is refused in the new box, and where the network is denied each command asks. What is tracked and denied is not in the
// repository that its box shows.
func networkDenialsBind(t *testing.T, agent string) {
	if !alone(t) {
		return
	}
	h := spokenIn(t, apartDir(t), "TANDEM_CONFINE=bwrap", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS=1")
	h.write("home/code/priv/p.txt", "word of priv\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"},
		{"-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "all"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = h.project, h.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	grant := func(in book.GrantIn) {
		t.Helper()
		in.Principal = "session:*"
		if err := h.c.WithPIN(pin).Call(t.Context(), "grant.add", in, nil); err != nil {
			t.Fatal(err)
		}
	}
	grant(book.GrantIn{Resource: "tool:/", Permissions: []string{"execute"}})
	grant(book.GrantIn{Effect: "deny", Resource: "folder:" + filepath.Join(h.project, "priv"), Permissions: []string{"view"}})
	h.openAs("a", agent)
	const look = "git show HEAD:priv/p.txt; git log -p --all; git cat-file --batch-all-objects --batch; cat priv/p.txt; " +
		"python3 -c \"import glob,zlib;[print(zlib.decompress(open(f,'rb').read())) for f in glob.glob('.git/objects/??/*')]\"; echo END"
	got := h.send("a", "look "+ownShell(agent, look)+" [[result]]").Report
	if strings.Contains(got, "word of priv") || !strings.Contains(got, "END") {
		t.Errorf("what is tracked: %s", got)
	}

	began := h.begin("a", "remember heron "+ownShell(agent, "while sleep 0.1; do date >> days; done")+" [[result]]")
	days := filepath.Join(h.project, "days")
	there := func() bool { _, err := os.Stat(days); return err == nil }
	h.eventually("its command runs", there)
	grant(book.GrantIn{Effect: "deny", Resource: "tool:/", Permissions: []string{"execute"}, Tools: []string{"bash(host: b.example)"}})
	out := h.ended("a", began.Cursor)
	if out.Status != "failed" || !strings.Contains(out.Reason, "host b.example was denied while the program ran") {
		t.Fatalf("the turn did not end with that reason: %+v", out)
	}
	if err := os.Remove(days); err != nil {
		t.Fatal(err)
	}
	h.eventually("it is there again", func() bool {
		s := h.seat("a")
		return s.State == terminal.Ready && strings.Contains(s.Boundary, "within reach of what it runs: host b.example")
	})
	if got := h.send("a", "look "+ownShell(agent, "curl http://b.example/")+" [[result]]").Report; !strings.Contains(got, "denies it") {
		t.Errorf("a line that names it: %s", got)
	}
	if all := h.model.Requests(); !strings.Contains(string(all[len(all)-1].Body), "heron") {
		t.Error("it is another conversation")
	}
	if there() {
		t.Error("its command ran on")
	}
	readable := ownShell(agent, "ls | head; printf %s%s read able")
	if agent == "codex" { // out of its own sandbox: Codex asks then, and hands the line over as a shell's
		readable = escalated("ls | head; printf %s%s read able")
	}
	if got := h.send("a", "look "+readable+" [[result]]"); !strings.Contains(got.Report, "readable") {
		t.Errorf("a line that can be read and names no host: %+v", got)
	}
	grant(book.GrantIn{Effect: "deny", Resource: "tool:/network", Permissions: []string{"execute"}})
	h.eventually("it is in a new box", func() bool {
		s := h.seat("a")
		return s.State == terminal.Ready && strings.Contains(s.Boundary, "the network")
	})
	began = h.begin("a", "look "+ownShell(agent, "echo over")+" [[result]]")
	h.decide(approval.Cancel, "")
	h.ended("a", began.Cursor)
}
