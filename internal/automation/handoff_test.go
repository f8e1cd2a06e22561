package automation

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

const handing = `
name = "all"
[limits]
runs = 10
[[node]]
id = "brief"
[node.wait]
handoff = "brief"
[node.output.pages.schema]
type = "integer"
[node.output.text]
artifact = "markdown"
checks = ["no-secrets"]
[[node]]
id = "use"
inputs = { pages = "brief.pages", text = "brief.text" }
[node.operation]
name = "mark.send"
input = { text = "{{pages}} {{text}}" }
[node.output.text.schema]
type = "string"
`

func (h *house) hand(in wire.HandIn) (wire.Handed, error) {
	return op.Do(op.WithCaller(context.Background(), owner), h.gate, wire.Hand, in)
}

// Somebody hands over a value and a text by name: what does not fit is refused and changes nothing, what fits is kept as an artifact, given
// once, and leads on. Who gave it is told, and their denials bind the run.
func TestAHandoffLeadsOn(t *testing.T) {
	h := newHouse(t)
	h.Made = func(_ context.Context, _ *db.Tx, name string, _ int) (string, string, bool, error) {
		if name != "weekly.write.text" {
			return "", "", false, fault.New(fault.NotFound, "artifact", "there is no artifact %s", name)
		}
		return "markdown", "# Kept", true, nil
	}
	h.Secret = func(_, text string) bool { return strings.Contains(text, "hunter2") }
	id := h.begin(handing, nil)
	give := func(pages, text any) error {
		_, err := h.hand(wire.HandIn{Name: "all", Handoff: "brief", Output: map[string]any{"pages": pages, "text": text}})
		return err
	}
	for what, err := range map[string]error{
		"a text for a number": give("three", "# B"),
		"no value":            give(nil, "# B"),
		"a secret":            give(3, "the word is hunter2"),
		"too much":            give(3, strings.Repeat("x", maxOutput)),
		"another name":        func() error { _, err := h.hand(wire.HandIn{Name: "all", Handoff: "other"}); return err }(),
		"another automation":  func() error { _, err := h.hand(wire.HandIn{Name: "none", Handoff: "brief", Run: id}); return err }(),
		"no such artifact":    give(3, map[string]any{"artifact": "none.write.text"}),
		"an output too many": func() error {
			_, err := h.hand(wire.HandIn{Name: "all", Handoff: "brief", Output: map[string]any{"pages": 3, "text": "x", "more": 1}})
			return err
		}(), //nolint:lll // one case
		"an object for a text": give(3, map[string]any{"artifact": 3}),
	} {
		if err == nil || fault.KindOf(err) == fault.Internal {
			t.Errorf("%s: %v", what, err)
		}
	}
	list := do(h, wire.Handoffs, wire.NameIn{Name: "all"}).Handoffs
	if len(list) != 1 || list[0].State != "awaited" || list[0].Run != id || list[0].Wants["text"] != "markdown" || list[0].Until.IsZero() {
		t.Fatalf("what is waited for: %+v", list)
	}
	other := do(h, wire.Begin, wire.BeginIn{Name: "all"}).ID
	if err := give(3, "# B"); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), other) {
		t.Errorf("two runs wait, and it went to one of them: %v", err)
	}
	out, err := h.hand(wire.HandIn{Name: "all", Handoff: "brief", Run: id, Output: map[string]any{"pages": 3, "text": "# B"}})
	h.must(err)
	if out.Run != id || out.Node != "brief" {
		t.Errorf("it went to %+v", out)
	}
	first := h.until(id, "it ends", isOver)                                          // the stand-in for artifacts knows the newest alone
	if err := give(4, map[string]any{"artifact": "weekly.write.text"}); err != nil { // the other run alone waits by now
		t.Fatal(err)
	}
	second := h.until(other, "it ends", isOver)
	for got, want := range map[*wire.Run]string{first: "3 # B!", second: "4 # Kept!"} {
		run := got.ID
		if said := got.Steps[1].Output["text"]; got.Status != "completed" || said != want {
			t.Errorf("%s is %s and said %v: %s", run, got.Status, said, got.Reason)
		}
		if _, err := h.hand(wire.HandIn{Name: "all", Handoff: "brief", Run: run, Output: map[string]any{"pages": 1, "text": "x"}}); !fault.Is(err,
			fault.Conflict) {
			t.Errorf("it was handed to a run that is over: %v", err)
		}
	}
	for _, one := range do(h, wire.Handoffs, wire.NameIn{Name: "all"}).Handoffs {
		if one.State != "taken" || one.By != "owner" || one.At.IsZero() {
			t.Errorf("afterwards: %+v", one)
		}
	}
}

// A run that is paused takes nothing: what was handed over waits with it.
func TestAHandoffToAPausedRun(t *testing.T) {
	h := newHouse(t)
	id := h.begin(handing, nil)
	do(h, wire.Pause, wire.RunIn{ID: id})
	out, err := h.hand(wire.HandIn{Name: "all", Handoff: "brief", Output: map[string]any{"pages": 3, "text": "# B"}})
	h.must(err)
	if list := do(h, wire.Handoffs, wire.NameIn{Name: "all"}).Handoffs; out.State != "held" || list[0].State != "handed" {
		t.Errorf("it is %s, and listed as %+v", out.State, list)
	}
	do(h, wire.Resume, wire.RunIn{ID: id})
	if got := h.until(id, "it ends", isOver); got.Status != "completed" {
		t.Errorf("it is %s: %s", got.Status, got.Reason)
	}
}

// A definition waits for each name once, with outputs that can be handed over.
func TestWhatIsNoHandoff(t *testing.T) {
	h := newHouse(t)
	node := func(id, handoff, rest string) string {
		return fmt.Sprintf("[[node]]\nid = %q\n[node.wait]\nhandoff = %q\n%s", id, handoff, rest)
	}
	for text, want := range map[string]string{
		node("a", "x", "") + node("b", "x", ""):                             "each has a name of its own",
		node("a", "X y", ""):                                                "names have small letters",
		node("a", "x", "[node.output.deck]\nartifact = \"pptx\"\n"):         "slides are not handed over",
		node("a", "x", "match = { id = \"input.id\" }\n"):                   "fields of a webhook's message",
		node("a", "x", "condition = \"deploy/done\"\n"):                     "write one of for",
		node("a", "x", "timeout = \"90d\"\n"):                               "longer than a run may last",
		node("a", "x", "on_timeout = \"escalate\"\n") + "\n# can be stored": "",
	} {
		_, err := op.Do(op.WithCaller(t.Context(), owner), h.gate, wire.Add, wire.AddIn{Text: "name = \"all\"\n" + text})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s\n%v", text, err)
		}
	}
}
