package terminal_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/fault"
	"tandem/internal/session/terminal"
)

// Skipping permissions is a grant of a person, for a folder, with an end. The setting asks for it once; taken back, the
// session has its permissions again at its next turn.
func TestSkippingPermissionsIsAGrant(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "TANDEM_SKIP_PERMISSIONS=1")
	in := terminal.OpenIn{Name: "a", Cwd: h.project, Skip: true}
	err := h.c.Call(t.Context(), "session.open", in, nil)
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Pending {
		t.Fatalf("opened without a grant: %v", err)
	}
	a := h.decide(approval.Approve, "")
	want(t, "asked about", a.Op, "session.skip")
	var s terminal.Seat
	h.call("session.open", in, &s)
	want(t, "state", s.State, terminal.Ready)
	want(t, "skips", s.Skip, true)
	if out := h.send("a", `go [[tool Bash {"command":"echo y > unasked.txt","description":"make a file"}]] [[say ran]]`); out.Report != "ran" {
		t.Errorf("%+v\n%s", out, h.shown("a"))
	}
	if _, err := os.Stat(filepath.Join(h.project, "unasked.txt")); err != nil {
		t.Error(err)
	}
	// Once: another session in the folder needs no new answer; what policy denies is denied all the same.
	h.call("session.open", terminal.OpenIn{Name: "b", Cwd: h.project, Skip: true}, &s)
	want(t, "skips", s.Skip, true)
	h.call("session.close", terminal.NameIn{Name: "b"}, nil)

	var out terminal.SkipsOut
	h.call("session.skips", terminal.LiveIn{}, &out)
	if len(out.Skips) != 1 || out.Skips[0].Folder != h.project || out.Skips[0].Owner == "" || out.Skips[0].ExpiresAt.IsZero() {
		t.Fatalf("%+v", out)
	}
	h.call("session.unskip", terminal.SkipIDIn{ID: out.Skips[0].ID}, nil)
	end := h.begin("a", `again [[tool Bash {"command":"echo y > asked.txt","description":"make a file"}]] [[say ran]]`)
	h.decide(approval.Cancel, "no")
	h.ended("a", end.Cursor)
	want(t, "skips", h.seat("a").Skip, false)
	if _, err := os.Stat(filepath.Join(h.project, "asked.txt")); err == nil {
		t.Error("it ran")
	}

	// A grant ends by itself when its time is over.
	short := terminal.SkipIn{Folder: h.project, Seconds: 2}
	if err := h.c.Call(t.Context(), "session.skip", short, nil); !fault.Is(err, fault.Pending) {
		t.Fatalf("granted without a person: %v", err)
	}
	h.decide(approval.Approve, "")
	h.call("session.skip", short, nil)
	h.eventually("the grant ends", func() bool { h.call("session.skips", terminal.LiveIn{}, &out); return len(out.Skips) == 0 })
	if err := h.c.Call(t.Context(), "session.open", terminal.OpenIn{Name: "c", Cwd: h.project, Skip: true}, nil); !fault.Is(err,
		fault.Pending) {
		t.Errorf("opened with a grant that ended: %v", err)
	}
}
