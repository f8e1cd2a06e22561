package panel

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/panel/browsertest"
	"tandem/internal/provider/scripted"
	"tandem/internal/testenv"
)

// A person opens the real Claude Code from the panel, watches it work, answers
// its dialog, interrupts it, takes its terminal over and gives it back; and
// runs a relay. Who only looks types nothing: not without presence, not from
// another browser, not from a page of another origin.
func TestTerminalAndRelay(t *testing.T) {
	home, sock := testenv.Dir(t), filepath.Join(testenv.Dir(t), "tmux.sock")
	project := filepath.Join(home, "code")
	model := &scripted.Server{Script: scripted.Script{Rules: []scripted.Rule{
		{Prompt: `You lead a relay(?s:.*)The answer to your question`, Turns: []scripted.Turn{{{Say: "it is blue\nRELAY_DONE"}}}},
		{Prompt: `You lead a relay(?s:.*)Turn 2 of`, Turns: []scripted.Turn{{{Say: "NEEDS_INPUT: Which colour?"}}}},
		{Prompt: `You lead a relay`, Turns: []scripted.Turn{{{Say: "paint the door"}}}},
		{Prompt: `paint the door`, Turns: []scripted.Turn{{{Say: "painted it"}}}},
	}}}
	if err := model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	if err := os.MkdirAll(project, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".claude.json"), []byte(`{"hasCompletedOnboarding":true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { testenv.EndTerminals(sock) })
	h := startHouse(t, "HOME="+home, "ANTHROPIC_BASE_URL="+model.URL(), "ANTHROPIC_AUTH_TOKEN=dummy", "DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_MAX_RETRIES=1", "IS_SANDBOX=1", "TANDEM_CLAUDE="+testenv.Tool(t, "claude"),
		"TANDEM_TMUX_SOCKET="+sock, "TANDEM_CONFINE=none", "TANDEM_PROBE=0")
	h.do(t, "provider.add", testPIN, map[string]any{"id": "mine", "base": model.URL(), "wire": "anthropic", "keyless": true})
	var got struct {
		Seen     map[string]any
		Problems []string
	}
	browsertest.Run(t, "testdata/terminal.cjs", map[string]any{"base": h.base, "near": h.near, "code": h.code(t), "other": h.code(t),
		"pin": testPIN, "project": project, "tmux": sock, "shots": browsertest.Shots(t, "panel")}, &got)
	for _, p := range got.Problems {
		t.Error(p)
	}
	for name, want := range map[string]string{
		"ready": "ready", "looking": "For looking only.", "live": "true", "said": "the word is plover", "row": "ready",
		"driver":      "claude in a terminal",
		"typedUnheld": "403 the terminal is not taken over", "typedWhileLooking": "false",
		"wrongPin": "That was refused", "wrongPinSaid": "the PIN is wrong",
		"held":      "owner has it",
		"typed":     "true",
		"clipboard": "mine", "printedTitle": "true", "printedLinks": "0", "printedPages": "0",
		"otherSees": "owner has the terminal, elsewhere.", "otherTypes": "403 owner has the terminal, in another browser", "foreign": "403",
		"back":  "The terminal is given back.",
		"asked": "true", "answered": "hi from a shell", "interrupted": "ready", "title": "true", "closed": "The terminal is closed",
		"relayAsks": "It asks: Which colour?", "relayParked": "parked", "relayLog": "true", "relayStopped": "stopped", "overview": "true",
	} {
		if s := fmt.Sprint(got.Seen[name]); s != want {
			t.Errorf("%s: %q, want %q", name, s, want)
		}
	}
	log := fmt.Sprint(h.do(t, "audit.log", "", map[string]any{"type": "session.take"}))
	if strings.Count(log, "present:pin") != 1 {
		t.Errorf("the journal says of taking over: %s", log)
	}
}
