package terminal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/approval"
)

// One smoke test of a real OpenCode, which takes its time: a text turn, a permission answered from elsewhere, the end of it.
func TestOpenCode(t *testing.T) {
	if !alone(t) {
		return
	}
	h := spokenHouse(t, "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1")
	s := h.openAs("a", "opencode")
	want(t, "version", s.Version, "1.18.33")
	out := h.send("a", "hi [[say plain words]]")
	if out.Status != "done" || out.Report != "plain words" || out.Signal != "event stream turn end" {
		t.Errorf("%+v\n%s", out, h.shown("a"))
	}
	h.eventually("the terminal shows it", func() bool { return strings.Contains(h.shown("a"), "plain words") })
	out = h.begin("a", `make it [[tool bash {"command":"echo made > made.txt","description":"make a file"}]] [[say done then]]`)
	a := h.decide(approval.Approve, "")
	if !strings.Contains(string(a.Input), `echo made \u003e made.txt`) {
		t.Errorf("the ask shows %s", a.Input)
	}
	if out = h.ended("a", out.Cursor); !strings.Contains(out.Report, "done then") || h.seat("a").Outcome != "ok" {
		t.Errorf("%+v\n%s", out, h.shown("a"))
	}
	if _, err := os.Stat(filepath.Join(h.project, "made.txt")); err != nil {
		t.Error(err)
	}
}
