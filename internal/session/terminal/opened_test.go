package terminal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/policy/book"
	"tandem/internal/session"
	"tandem/internal/session/relay"
	"tandem/internal/session/terminal"
	"tandem/internal/testenv"
)

// A confined session opened a wider one: inside a session of ~/code, `tandem session open x -C ~/other; tandem session send x 'read
// notes.txt'` printed the other project's file, and nobody was asked. A session opens sessions only within what it has itself, and what
// those use is part of its own budget.
func TestASessionOpensOnlyWithinItsOwn(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "TANDEM_CONFINE=bwrap")
	h.write("home/other/notes.txt", "NOTES-OF-ANOTHER-PROJECT\n")
	h.write("home/code/sub/inner.txt", "INNER-FILE\n")
	if err := os.Symlink(filepath.Join(h.dir, "home/other"), filepath.Join(h.project, "out")); err != nil {
		t.Fatal(err)
	}
	h.grantFolder(filepath.Join(h.dir, "home/other"))
	h.grantSkip(h.project)
	var s terminal.Seat
	h.call("session.open", terminal.OpenIn{Name: "a", Cwd: h.project, Budget: session.Budget{Turns: 2}}, &s)
	tandem := testenv.Tandem(t)
	h.write("home/code/wider.sh", strings.Join([]string{
		tandem + ` session open x -C ~/other && echo OPENED-ELSEWHERE; ` + tandem +
			` session send x 'go [[tool Read {"file_path":"notes.txt"}]] [[result]]'`,
		tandem + ` session open y -C ~ && echo OPENED-HOME; ` + tandem + ` session open z -C ~/code/out && echo OPENED-BEHIND-A-LINK`,
		tandem + ` session open w --agent codex && echo OPENED-ANOTHER-PROGRAM; ` + tandem +
			` relay start --cwd ~/other "read notes.txt" && echo RELAYED-ELSEWHERE`,
		tandem + ` session open in -C ~/code/sub && ` + tandem +
			` session send in 'go [[tool Read {"file_path":"inner.txt"}]] [[result]]'; echo END`,
	}, "\n"))
	out := h.begin("a", `go [[tool Bash {"command":"sh wider.sh 2>&1","description":"open others","timeout":120000}]] [[result]]`)
	h.decide(approval.Approve, "")
	report := h.ended("a", out.Cursor).Report
	for _, bad := range []string{"OPENED-", "RELAYED-", "NOTES-OF-ANOTHER"} {
		if strings.Contains(report, bad) {
			t.Errorf("%s", bad)
		}
	}
	for _, good := range []string{"END", "INNER-FILE", "lies outside of what this session was granted",
		"let a person open it: tandem session open", "opens none with codex"} {
		if !strings.Contains(report, good) {
			t.Errorf("it does not say %q", good)
		}
	}
	if t.Failed() {
		t.Log(report)
	}

	// By the session's own socket, whichever operation it is.
	own := client.Socket(h.socketOf("a"))
	other := filepath.Join(h.dir, "home/other")
	for name, in := range map[string]any{
		"session.open":   terminal.OpenIn{Name: "x", Cwd: other},
		"session.create": session.CreateIn{Directory: other},
		"session.fork":   session.ForkIn{ID: s.Session},
		"relay.do":       relay.ToolIn{Action: "start", Task: "t", StartOptions: relay.StartOptions{Cwd: other}},
		"tool.read":      map[string]any{"args": map[string]string{"path": filepath.Join(other, "notes.txt")}},
	} {
		if err := own.Call(t.Context(), name, in, nil); !fault.Is(err, fault.Denied) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := own.Call(t.Context(), "session.open", terminal.OpenIn{Name: "x", Skip: true}, nil); !fault.Is(err, fault.Denied) {
		t.Errorf("it opened one that skips permissions: %v", err)
	}
	// Its two turns were its own and that of the session which it opened.
	var end terminal.SendOut
	if err := own.Call(t.Context(), "session.send", terminal.SendIn{Name: "in", Text: "once more"}, &end); err == nil && end.Status == "done" {
		t.Errorf("a budget of two turns was three: %+v", end)
	}

	// A person can let it drive another program.
	in := book.GrantIn{Principal: "session:" + s.Session, Resource: "session:/driver/model", Permissions: []string{"edit"}}
	if err := h.c.WithPIN(pin).Call(t.Context(), "grant.add", in, nil); err != nil {
		t.Fatal(err)
	}
	var made session.Session
	if err := own.Call(t.Context(), "session.create", session.CreateIn{Directory: filepath.Join(h.project, "sub")}, &made); err != nil {
		t.Errorf("a granted driver: %v", err)
	}
	if err := own.Call(t.Context(), "session.update", session.UpdateIn{ID: made.ID, Directory: &other}, nil); !fault.Is(err, fault.Denied) {
		t.Errorf("it moved one out: %v", err)
	}
}

// The same for our own loop, which opens sessions by a relay: not in another folder, not with a program, and not to write where it reads.
func TestALoopOpensOnlyWithinItsOwn(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "TANDEM_CONFINE=bwrap")
	h.addModel()
	h.write("home/other/notes.txt", "x")
	h.grantFolder(h.project)
	h.grantFolder(filepath.Join(h.dir, "home/other"))
	start := func(options string) string {
		t.Helper()
		return h.tandem(h.project, "run", "-m", "mine/scripted",
			`go [[tool tandem {"operation":"relay.do","input":{"action":"start","task":"work","lead":{"agent":"model"},"worker":{"agent":"model"}`+
				options+`}}]] [[result]]`)
	}
	if got := start(`,"cwd":` + quote(filepath.Join(h.dir, "home/other"))); !strings.Contains(got,
		"lies outside of what this session was granted") {
		t.Error(got)
	}
	if got := start(`,"cwd":` + quote(h.project) + `,"lead":{"agent":"claude"}`); !strings.Contains(got, "opens none with claude") {
		t.Error(got)
	}
	if got := start(`,"cwd":` + quote(h.project)); !strings.Contains(got, "loopId") {
		t.Error(got)
	}
}

// grantFolder grants a folder to sessions, as a person.
func (h *house) grantFolder(path string) {
	h.t.Helper()
	if err := h.c.WithPIN(pin).Call(h.t.Context(), "folder.grant", session.FolderIn{Path: path}, nil); err != nil {
		h.t.Fatal(err)
	}
}
