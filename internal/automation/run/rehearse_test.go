package run

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tandem/internal/automation/spec"
)

// then is a run of kinds that took the branch to the draft and was approved.
func then(t *testing.T) *Run {
	r := begin(t, kinds, words(1))
	play(t, r, did("each", 0, 1, outputs("each", ""))...)
	play(t, r, did("look", -1, 1, outputs("look", "bad"))...)
	play(t, r, did("draft", -1, 1, outputs("draft", ""))...)
	play(t, r, Event{Kind: Answered, Node: "gate", Item: -1, Answer: "approve", By: "ann"})
	play(t, r, Event{Kind: Ticked, At: epoch.Add(2 * time.Hour)})
	play(t, r, Event{Kind: Woke, Node: "hear", Item: -1})
	if got := play(t, r, did("sub", -1, 1, nil)...); !strings.HasPrefix(got, "completed") {
		t.Fatal(got)
	}
	return r
}

func rehearse(t *testing.T, from *Run, change ...string) *Rehearsal {
	t.Helper()
	a, err := spec.Read([]byte(strings.NewReplacer(change...).Replace(kinds)))
	if err != nil {
		t.Fatal(err)
	}
	x, err := Rehearse(a, from)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// With the definition that it had, a run ends as it ended; what was recorded stays as it is.
func TestTheSameDefinitionEndsAlike(t *testing.T) {
	r := then(t)
	before := fmt.Sprint(r.Status, r.Steps())
	x := rehearse(t, r)
	if play(t, x.Run) != play(t, r) || len(x.Missing)+len(x.Refused) > 0 {
		t.Errorf("\n got %s\nwant %s\nwithout an answer %v, refused %v", play(t, x.Run), play(t, r), x.Missing, x.Refused)
	}
	if fmt.Sprint(r.Status, r.Steps()) != before {
		t.Error("the run itself was changed")
	}
}

// Another branch leads to a node that was never done: it is named, and what comes behind it stands still.
func TestANodeWithoutAnAnswerIsNamed(t *testing.T) {
	x := rehearse(t, then(t), `cases = { good = ["note"], bad = ["draft"] }`, `cases = { bad = ["note"], good = ["draft"] }`)
	if got := play(t, x.Run); got != "running: look=done each=done which=done note=ready draft=skipped gate=skipped hear=done "+
		"rest=waiting sub=waiting" || len(x.Missing) != 1 || x.Missing[0].Node != "note" {
		t.Errorf("%s, without an answer %v", got, x.Missing)
	}
}

// What a node gave then and may not give now is refused; nothing is tried again for it, however often the node would be.
func TestAnAnswerThatFitsNoMore(t *testing.T) {
	x := rehearse(t, then(t), `enum = ["good", "bad"]`, `enum = ["good", "fine"]`, `bad = ["draft"]`, `fine = ["draft"]`)
	if s, _ := x.Step("look", -1); x.Status != Failed || len(x.Refused) != 1 || x.Refused[0].Node != "look" || s.Attempt != 1 {
		t.Errorf("%s, refused %v", play(t, x.Run), x.Refused)
	}
}

// Failures are what they were, and an input that is none any more begins nothing.
func TestAFailureIsRehearsed(t *testing.T) {
	r := begin(t, kinds, words(0))
	play(t, r, Event{Kind: Started, Node: "look", Item: -1, Attempt: 1, Fence: 1},
		Event{Kind: Failure, Node: "look", Item: -1, Attempt: 1, Fence: 1, Class: "denied", Text: "no such model"})
	if x := rehearse(t, r); x.Status != Failed || x.Reason != r.Reason {
		t.Errorf("it is %s: %s", x.Status, x.Reason)
	}
	a, err := spec.Read([]byte(strings.Replace(kinds, "[inputs.list]", "[inputs.week]\ntype = \"integer\"\n[inputs.list]", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Rehearse(a, r); err == nil {
		t.Error("a run begins without an input that the definition has now")
	}
}
