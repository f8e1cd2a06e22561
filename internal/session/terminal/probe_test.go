package terminal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/session"
	"tandem/internal/session/terminal"
	"tandem/internal/testenv"
)

// A version is probed when it is first used: before anybody's turn it is known which of its signals work, no model was asked,
// and nothing is left of the probe. A program that does not call its hooks is warned of, and is not sent anything.
func TestAVersionIsProbedAtFirstUse(t *testing.T) {
	t.Parallel()
	dir := testenv.Dir(t)
	deaf, wrapper := filepath.Join(dir, "deaf"), filepath.Join(dir, "claude")
	script := "#!/bin/sh\n[ -e " + deaf + " ] && shift 2 # its hooks are the first flag\nexec " + testenv.Tool(t, "claude") + " \"$@\"\n"
	if err := os.WriteFile(wrapper, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	h := houseIn(t, dir, "TANDEM_PROBE=1", "TANDEM_CLAUDE="+wrapper)
	h.open("a")
	h.eventually("it is known what works", func() bool { return h.seat("a").Check == "all signals of claude 2.1.197 work" })
	var known terminal.ChecksOut
	h.call("session.programs", nil, &known)
	if len(known.Programs) != 1 || known.Programs[0].ProbedAt.IsZero() || len(known.Programs[0].Works) != 8 {
		t.Errorf("%+v", known)
	}
	want(t, "requests at the model", len(h.model.Requests()), 0)
	h.eventually("nothing is left of the probe", func() bool {
		left, err := filepath.Glob(filepath.Join(dir, "home", ".tandem", "terminals", "*"))
		return err == nil && len(left) == 1 && h.tmux("list-sessions", "-F", "#{session_name}") == "ccm-a"
	})
	var list session.ListOut
	h.call("session.list", session.ListIn{}, &list)
	want(t, "sessions", len(list.Sessions), 1)

	if err := os.WriteFile(deaf, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	probed := make(chan error, 1)
	var c terminal.Checked
	go func() { probed <- h.c.Call(t.Context(), "session.probe", terminal.ProbeIn{}, &c) }()
	s := h.open("b")
	if !strings.Contains(s.Detail, "hooks are not heard") {
		t.Errorf("%+v", s)
	}
	if out := h.send("b", "go [[say unguarded]]"); out.Status != "failed" || !strings.Contains(out.Reason, "cannot be guarded") ||
		h.prompts("go ") != 0 {
		t.Errorf("%+v", out)
	}
	if err := <-probed; err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(c.Verdict, "warning: claude 2.1.197 did not show hook SessionStart") || len(c.Works) == 0 {
		t.Errorf("%+v", c)
	}
	want(t, "what the others say", h.seat("a").Check, c.Verdict)
	if err := h.c.Call(t.Context(), "session.probe", terminal.ProbeIn{Agent: "parrot"}, nil); !fault.Is(err, fault.Invalid) {
		t.Errorf("probe a parrot: %v", err)
	}
}
