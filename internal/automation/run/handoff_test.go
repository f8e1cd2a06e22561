package run

import (
	"testing"
	"time"

	"tandem/internal/automation/spec"
)

const handing = `
name = "handing"
[[node]]
id = "rest"
[node.wait]
for = "1h"
[[node]]
id = "brief"
after = ["rest"]
[node.wait]
handoff = "brief"
timeout = "2h"
[node.output.pages.schema]
type = "integer"
[[node]]
id = "use"
inputs = { pages = "brief.pages" }
[node.operation]
name = "board.add"
`

// What is handed over waits for its run, is taken once, and is of the form that the node says.
func TestAHandoff(t *testing.T) {
	give := func(pages any) Event {
		return Event{Kind: Handed, Node: "brief", Item: -1, Output: map[string]any{"pages": pages}, By: "ann", At: epoch}
	}
	for _, early := range []bool{true, false} {
		r := begin(t, handing, nil)
		if err := r.Apply(give("many")); err == nil {
			t.Error("a text was taken for a number")
		}
		if early {
			play(t, r, give(3.0))
			if s, _ := r.Step("brief", -1); s.Phase != Waiting {
				t.Fatalf("it is %s before the run is there", s.Phase)
			}
		}
		play(t, r, Event{Kind: Ticked, At: epoch.Add(time.Hour)})
		if !early {
			if s, _ := r.Step("brief", -1); s.Phase != Held || r.Next(epoch).Wake.IsZero() {
				t.Fatalf("it does not wait: %+v", s)
			}
			play(t, r, give(3.0))
		}
		s, _ := r.Step("brief", -1)
		if next, _ := r.Step("use", -1); s.Phase != Done || s.Output["pages"] != 3.0 || next.Phase != Ready {
			t.Errorf("early %v: it is %+v, and behind it %s", early, s, next.Phase)
		}
		if r.Apply(give(4.0)) == nil {
			t.Errorf("early %v: it was handed over twice", early)
		}
		a, err := spec.Read([]byte(handing))
		if err != nil {
			t.Fatal(err)
		}
		again, err := Rehearse(a, r)
		if err != nil {
			t.Fatal(err)
		}
		if s, _ := again.Step("brief", -1); s.Output["pages"] != 3.0 {
			t.Errorf("a rehearsal does not hand it over: %+v", s)
		}
	}
	r := begin(t, handing, nil)
	play(t, r, Event{Kind: Ticked, At: epoch.Add(time.Hour)}, Event{Kind: Ticked, At: epoch.Add(4 * time.Hour)})
	if r.Status != Cancelled {
		t.Errorf("nobody handed it over, and the run is %s", r.Status)
	}
	if r.Apply(give(3.0)) == nil {
		t.Error("it was handed to a run that is over")
	}
}

// What becomes an artifact is kept before the wait is over, and does not run out meanwhile.
func TestAHandoffThatBecomesAnArtifact(t *testing.T) {
	r := begin(t, "name = \"a\"\n[[node]]\nid = \"brief\"\n[node.wait]\nhandoff = \"brief\"\ntimeout = \"1h\"\n"+
		"[node.output.text]\nartifact = \"markdown\"\n", nil)
	play(t, r, Event{Kind: Handed, Node: "brief", Item: -1, Output: map[string]any{"text": "# Brief"}, By: "ann"},
		Event{Kind: Ticked, At: epoch.Add(2 * time.Hour)})
	s, _ := r.Step("brief", -1)
	if s.Phase != Held || s.Handover == nil || s.Handover.By != "ann" {
		t.Fatalf("it is %+v", s)
	}
	if wake := r.Next(epoch.Add(2 * time.Hour)).Wake; !wake.After(epoch.Add(2 * time.Hour)) {
		t.Errorf("it is looked at without end: %s", wake)
	}
	play(t, r, Event{Kind: Woke, Node: "brief", Item: -1, Output: map[string]any{"text": map[string]any{"artifact": "art_1"}}})
	if r.Status != Completed {
		t.Errorf("it is %s", r.Status)
	}
}
