package run

import (
	"strings"
	"testing"
	"time"

	"tandem/internal/automation/spec"
)

const failing = `
name = "failing"
[limits]
time = "2d"
[[node]]
id = "look"
[node.turn]
prompt = "look"
[[node]]
id = "beside"
[node.command]
run = ["true"]
[[node]]
id = "gate"
after = ["look"]
[node.gate]
text = "Is it right?"
shows = ["look.text"]
rework = "look"
[[node]]
id = "send"
after = ["gate"]
[node.operation]
name = "board.add"
`

func repair(node string, w spec.Words, at time.Time) Event {
	return Event{Kind: Repaired, Node: node, Item: -1, By: "ann", Text: "too long", Repair: &w, At: at}
}

// lookingRun has its first node to do.
func lookingRun(t *testing.T) *Run {
	text := strings.Replace(failing, `prompt = "look"`, "prompt = \"look\"\n[node.output.text.schema]\ntype = \"string\"", 1)
	r := begin(t, text, nil)
	play(t, r, did("beside", -1, 1, nil)...)
	return r
}

func brokenRun(t *testing.T) *Run {
	r := lookingRun(t)
	got := play(t, r, Event{Kind: Started, Node: "look", Item: -1, Attempt: 1, Fence: 1},
		Event{Kind: Failure, Node: "look", Item: -1, Attempt: 1, Fence: 1, Class: "denied", Text: "no such model"})
	if got != "failed: look=failed beside=done gate=skipped send=skipped" {
		t.Fatal(got)
	}
	return r
}

// A run that failed goes on from the node that failed, with the words that a person gave; what was done stays done, and what was skipped
// because of the failure comes.
func TestARepairGoesOnFromThere(t *testing.T) {
	r := brokenRun(t)
	before := r.Spec
	if got := play(t, r, repair("look", spec.Words{Prompt: "look again", Model: "m"}, epoch)); got !=
		"running: look=ready beside=done gate=waiting send=waiting" {
		t.Fatal(got)
	}
	if n := r.Node("look").Turn; n.Prompt != "look again" || n.Model != "m" || before.Nodes[0].Turn.Prompt != "look" {
		t.Errorf("it is told %+v, and the version says %q", n, before.Nodes[0].Turn.Prompt)
	}
	if len(r.Repairs) != 1 || r.Repairs[0].Was.Prompt != "look" || r.Repairs[0].Is.Prompt != "look again" || r.Repairs[0].By != "ann" {
		t.Errorf("its history is %+v", r.Repairs)
	}
	play(t, r, did("look", -1, 2, map[string]any{"text": "seen"})...)
	// while the gate is open, other words are of use to a node that it may send back, and to what comes later
	play(t, r, repair("look", spec.Words{Prompt: "look well"}, epoch), repair("gate", spec.Words{Text: "Is it?"}, epoch))
	play(t, r, Event{Kind: Answered, Node: "gate", Item: -1, Answer: "approve", By: "ann"})
	if got := play(t, r, did("send", -1, 1, nil)...); got != "completed: look=done beside=done gate=done send=done" {
		t.Error(got)
	}
}

// What cannot use other words, or would end at once, is not repaired, and nothing changes.
func TestWhatIsNotRepaired(t *testing.T) {
	words := spec.Words{Prompt: "other"}
	for what, do := range map[string]func() (*Run, Event){
		"a node that did not fail": func() (*Run, Event) { return brokenRun(t), repair("beside", words, epoch) },
		"a node that is skipped": func() (*Run, Event) {
			r := begin(t, kinds, map[string]any{"list": []any{}})
			play(t, r, did("look", -1, 1, map[string]any{"mood": "good"})...)
			return r, repair("draft", words, epoch)
		},
		"a map that went on without an item": func() (*Run, Event) {
			r := begin(t, kinds, map[string]any{"list": []any{"a"}})
			play(t, r, Event{Kind: Started, Node: "each", Item: 0, Attempt: 1, Fence: 1},
				Event{Kind: Failure, Node: "each", Item: 0, Attempt: 1, Fence: 1, Class: "denied", Text: "no"})
			if s, _ := r.Step("each", -1); s.Phase != Done {
				t.Fatalf("the map is %s", s.Phase)
			}
			return r, repair("each", spec.Words{Run: []string{"printf", "{{item}}"}}, epoch)
		},
		"a node that is none": func() (*Run, Event) { return brokenRun(t), repair("nobody", words, epoch) },
		"a run without time":  func() (*Run, Event) { return brokenRun(t), repair("look", words, epoch.Add(48*time.Hour)) },
		"a run without money": func() (*Run, Event) {
			r := brokenRun(t)
			r.Cost = 100
			return r, repair("look", words, epoch)
		},
		"a run without steps": func() (*Run, Event) {
			r := brokenRun(t)
			r.Started = r.Spec.Limits.Nodes
			return r, repair("look", words, epoch)
		},
		"what is under way": func() (*Run, Event) {
			r := begin(t, kinds, map[string]any{"list": []any{}})
			play(t, r, Event{Kind: Started, Node: "look", Item: -1, Attempt: 1, Fence: 1})
			return r, repair("look", words, epoch)
		},
		"a run that was cancelled": func() (*Run, Event) {
			r := begin(t, kinds, map[string]any{"list": []any{}})
			play(t, r, Event{Kind: Stopped})
			return r, repair("look", words, epoch)
		},
	} {
		t.Run(what, func(t *testing.T) {
			r, e := do()
			before, told := play(t, r), r.Spec
			if err := r.Apply(e); err == nil || play(t, r) != before || r.Spec != told || len(r.Repairs) > 0 {
				t.Errorf("it is taken (%v), and stands at %s", err, play(t, r))
			}
		})
	}
}

// Who let something through a gate knew what came behind it.
func TestWhoLetANodeThrough(t *testing.T) {
	r := lookingRun(t)
	play(t, r, did("look", -1, 1, map[string]any{"text": "seen"})...)
	if gate, who := r.LetThrough("send", "ann"); who != "" {
		t.Errorf("%s answered at %s, which is open", who, gate)
	}
	play(t, r, Event{Kind: Answered, Node: "gate", Item: -1, Answer: "approve", By: "boss"})
	for node, by := range map[string]string{"send": "boss", "look": "ann", "beside": "ann"} {
		if gate, who := r.LetThrough(node, by); who != "" {
			t.Errorf("%s: %s answered at %s", node, who, gate)
		}
	}
	if gate, who := r.LetThrough("send", "ann"); gate != "gate" || who != "boss" {
		t.Errorf("%q answered at %q", who, gate)
	}
}

// A run that a person paused stays so when what failed meanwhile is repaired, and its clock stands until somebody resumes it.
func TestARepairResumesNothing(t *testing.T) {
	r := lookingRun(t)
	play(t, r, Event{Kind: Started, Node: "look", Item: -1, Attempt: 1, Fence: 1}, Event{Kind: Pausing, By: "bob", At: epoch},
		Event{Kind: Failure, Node: "look", Item: -1, Attempt: 1, Fence: 1, Class: "denied", Text: "no such model"})
	play(t, r, repair("look", spec.Words{Prompt: "look again"}, epoch))
	if r.Status != Paused || r.Reason != "paused by bob" {
		t.Errorf("it is %s: %s", r.Status, r.Reason)
	}
	play(t, r, Event{Kind: Resumed, By: "bob", At: epoch.Add(time.Hour)})
	if r.Status != Running || r.Rested(epoch.Add(2*time.Hour)) != time.Hour {
		t.Errorf("it is %s, and rested %s", r.Status, r.Rested(epoch.Add(2*time.Hour)))
	}
}

// The items of a map that failed are done again, and no others; where a second node failed, too, a person says when it goes on.
func TestARepairOfAMap(t *testing.T) {
	text := strings.Replace(kinds, `on_failure = "go on"`, `on_failure = "fail"`, 1)
	r := begin(t, text, words(3))
	play(t, r, did("each", 0, 1, outputs("each", ""))...)
	play(t, r, Event{Kind: Started, Node: "each", Item: 1, Attempt: 1, Fence: 1},
		Event{Kind: Started, Node: "look", Item: -1, Attempt: 1, Fence: 1},
		Event{Kind: Failure, Node: "each", Item: 1, Attempt: 1, Fence: 1, Class: "denied", Text: "no"})
	if r.Status != Failed {
		t.Fatalf("it is %s", r.Status)
	}
	play(t, r, Event{Kind: Failure, Node: "look", Item: -1, Attempt: 1, Fence: 1, Class: "denied", Text: "no"})
	play(t, r, repair("each", spec.Words{Run: []string{"printf", "{{item}}"}}, epoch))
	if s, _ := r.Step("each", 1); s.Phase != Ready || r.Status != Paused || !strings.Contains(r.Reason, "look failed, too") {
		t.Errorf("it is %s (%s), and the item %s", r.Status, r.Reason, s.Phase)
	}
	play(t, r, repair("look", spec.Words{Prompt: "look again"}, epoch))
	if s, _ := r.Step("look", -1); s.Phase != Ready || r.Status != Running {
		t.Errorf("it is %s, and look is %s", r.Status, s.Phase)
	}
	play(t, r, did("each", 1, 2, outputs("each", ""))...)
	play(t, r, did("each", 2, 1, outputs("each", ""))...) // it was not begun when the run failed
	if s, _ := r.Step("each", -1); s.Phase != Done {
		t.Errorf("the map is %s: %s", s.Phase, s.Reason)
	}
}
