package run

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tandem/internal/automation/spec"
)

// play applies events and says where each step is, as "look=done each=running …".
func play(t *testing.T, r *Run, events ...Event) string {
	t.Helper()
	for i, e := range events {
		if e.At.IsZero() {
			e.At = epoch
		}
		if err := r.Apply(e); err != nil {
			t.Fatalf("event %d, %s %s: %v", i+1, e.Kind, e.Node, err)
		}
	}
	var out []string
	for _, s := range r.Steps() {
		if s.Item < 0 {
			out = append(out, s.Node+"="+string(s.Phase))
		}
	}
	return string(r.Status) + ": " + strings.Join(out, " ")
}

func did(node string, item, attempt int, out map[string]any) []Event {
	return []Event{{Kind: Started, Node: node, Item: item, Attempt: attempt, Fence: 1},
		{Kind: Finished, Node: node, Item: item, Attempt: attempt, Fence: 1, Output: out}}
}

func TestARunFromEndToEnd(t *testing.T) {
	r := begin(t, kinds, words(1))
	want := func(got, want string) {
		t.Helper()
		if got != want {
			t.Fatalf("\n got %s\nwant %s", got, want)
		}
	}
	want(play(t, r), "running: look=ready each=running which=waiting note=waiting draft=waiting gate=waiting hear=waiting "+
		"rest=waiting sub=waiting")
	play(t, r, did("each", 0, 1, outputs("each", ""))...)
	want(play(t, r, did("look", -1, 1, outputs("look", "bad"))...),
		"running: look=done each=done which=done note=skipped draft=ready gate=waiting hear=held rest=waiting sub=waiting")
	if got := r.Inputs("draft", -1); fmt.Sprint(got) != "map[lines:[l]]" {
		t.Errorf("the draft is given %v", got)
	}
	play(t, r, did("draft", -1, 1, outputs("draft", ""))...)
	want(play(t, r, Event{Kind: Answered, Node: "gate", Item: -1, Answer: "rework", Text: "shorter"}),
		"running: look=done each=done which=done note=skipped draft=ready gate=waiting hear=held rest=waiting sub=waiting")
	if s, _ := r.Step("draft", -1); fmt.Sprint(s.Notes) != "[shorter]" {
		t.Errorf("the draft does not know what was said: %v", s.Notes)
	}
	play(t, r, did("draft", -1, 2, outputs("draft", ""))...)
	play(t, r, Event{Kind: Answered, Node: "gate", Item: -1, Answer: "approve", By: "person:ann"})
	want(play(t, r, Event{Kind: Ticked, At: epoch.Add(31 * time.Minute)}),
		"running: look=done each=done which=done note=skipped draft=done gate=done hear=held rest=done sub=waiting")
	play(t, r, Event{Kind: Woke, Node: "hear", Item: -1})
	want(play(t, r, did("sub", -1, 1, nil)...),
		"completed: look=done each=done which=done note=skipped draft=done gate=done hear=done rest=done sub=done")
}

func TestFailuresAreTriedAgainByClass(t *testing.T) {
	fail := func(attempt int, class string, at time.Time) []Event {
		return []Event{{Kind: Started, Node: "look", Item: -1, Attempt: attempt, At: at},
			{Kind: Failure, Node: "look", Item: -1, Attempt: attempt, Class: class, Text: "busy", At: at}}
	}
	r := begin(t, kinds, words(0))
	play(t, r, fail(1, "unavailable", epoch)...)
	s, _ := r.Step("look", -1)
	if s.Phase != Ready || !s.Due.Equal(epoch.Add(10*time.Second)) || len(r.Next(epoch).Start) != 0 {
		t.Errorf("after one failure: %+v", s)
	}
	play(t, r, fail(2, "timeout", s.Due)...)
	if s, _ = r.Step("look", -1); !s.Due.Equal(epoch.Add(30 * time.Second)) {
		t.Errorf("the second wait is not twice the first: %v", s.Due)
	}
	if play(t, r, fail(3, "unavailable", s.Due)...); r.Status != Failed || r.Reason != "look: busy" {
		t.Errorf("after three failures it is %s: %s", r.Status, r.Reason)
	}
	r = begin(t, kinds, words(0))
	if play(t, r, fail(1, "denied", epoch)...); r.Status != Failed {
		t.Errorf("a denial was tried again: %s", r.Status)
	}
}

// An effect that may have happened is not repeated by itself, whatever its retries say.
func TestWhatNobodyKnowsIsAskedAbout(t *testing.T) {
	r := begin(t, kinds, words(0))
	play(t, r, Event{Kind: Started, Node: "look", Item: -1, Attempt: 1},
		Event{Kind: Lost, Node: "look", Item: -1, Attempt: 1, Text: "the server went away"})
	later := epoch.Add(24 * time.Hour)
	play(t, r, Event{Kind: Ticked, At: later})
	if next := r.Next(later); len(next.Start) != 0 || len(next.Ask) != 1 || next.Ask[0].Node != "look" {
		t.Fatalf("%+v", next)
	}
	if err := r.Apply(Event{Kind: Accepted, Node: "look", Item: -1, Output: map[string]any{"mood": "odd"}, At: later}); err == nil {
		t.Error("a person's word that does not fit was taken")
	}
	play(t, r, Event{Kind: Accepted, Node: "look", Item: -1, Output: outputs("look", "good"), At: later})
	if s, _ := r.Step("note", -1); s.Phase != Ready {
		t.Errorf("it does not go on: %s", s.Phase)
	}
}

// An owner that lost its lease writes nothing more.
func TestAnOldFenceIsRefused(t *testing.T) {
	r := begin(t, kinds, words(0))
	play(t, r, Event{Kind: Started, Node: "look", Item: -1, Attempt: 1, Fence: 4},
		Event{Kind: Started, Node: "look", Item: -1, Attempt: 1, Fence: 7})
	late := Event{Kind: Finished, Node: "look", Item: -1, Attempt: 1, Fence: 4, Output: outputs("look", "good"), At: epoch}
	if err := r.Apply(late); err == nil {
		t.Error("an old owner's result was taken")
	}
	late.Fence = 7
	play(t, r, late)
	if err := r.Apply(late); err == nil {
		t.Error("a result was taken twice")
	}
}

func TestLimitsEndARun(t *testing.T) {
	done := did("look", -1, 1, outputs("look", "good"))
	for what, change := range map[string]func(*Run){
		"tokens": func(*Run) { done[1].Tokens = 100_001 },
		"cost":   func(*Run) { done[1].Tokens, done[1].Cost = 0, 5.01 },
		"steps":  func(r *Run) { done[1].Cost, r.Started = 0, 60 },
	} {
		r := begin(t, kinds, words(0))
		change(r)
		for _, e := range done {
			e.At = epoch
			_ = r.Apply(e) // the second finds the run ended
		}
		if r.Status != Failed || !strings.Contains(r.Reason, "limit") {
			t.Errorf("%s: %s, %s", what, r.Status, r.Reason)
		}
	}
	r := begin(t, kinds, words(0))
	if play(t, r, Event{Kind: Ticked, At: epoch.Add(48 * time.Hour)}); r.Status != Failed {
		t.Errorf("it lasts for ever: %s", r.Status)
	}
	r = begin(t, kinds, words(6))
	if s, _ := r.Step("each", -1); s.Phase != Broken {
		t.Errorf("a list of six was taken where five are allowed: %s", s.Phase)
	}
	if _, err := Begin(r.Spec, map[string]any{"list": "no list"}, epoch); err == nil {
		t.Error("an input that does not fit was taken")
	}
}

// Whatever happens, in whatever order: what does not fit changes nothing, of each step one attempt is alive, no more run at once than
// may, the fold of what was taken is the state, and a run ends.
func TestAnyOrderOfEvents(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		given := words(rapid.IntRange(0, 5).Draw(r, "items"))
		x := begin(t, kinds, given)
		now, taken := epoch, []Event{}
		for range rapid.IntRange(10, 200).Draw(r, "events") {
			now = now.Add(rapid.SampledFrom([]time.Duration{0, time.Second, time.Minute, time.Hour}).Draw(r, "later"))
			e := draw(r, x, now)
			before := fmt.Sprint(x.Status, x.Steps())
			if err := x.Apply(e); err == nil {
				taken = append(taken, e)
			} else if after := fmt.Sprint(x.Status, x.Steps()); after != before {
				r.Fatalf("refused (%v), and still changed\n%s\n%s", err, before, after)
			}
			holds(r, x, now)
		}
		again := begin(t, kinds, given)
		for _, e := range taken {
			if err := again.Apply(e); err != nil {
				r.Fatalf("replayed: %v", err)
			}
		}
		if a, b := fmt.Sprint(x.Status, x.Steps()), fmt.Sprint(again.Status, again.Steps()); a != b {
			r.Fatalf("the fold differs\n%s\n%s", a, b)
		}
		if err := x.Apply(Event{Kind: Ticked, At: epoch.Add(49 * time.Hour)}); err != nil || !x.Status.Over() {
			r.Fatalf("it never ends: %s, %v", x.Status, err)
		}
	})
}

// draw is mostly what somebody would do, and sometimes anything.
func draw(r *rapid.T, x *Run, now time.Time) Event {
	steps := x.Steps()
	s := rapid.SampledFrom(steps).Draw(r, "step")
	e := Event{Node: s.Node, Item: s.Item, Attempt: s.Attempt, Fence: s.Fence, At: now}
	mood := rapid.SampledFrom([]string{"good", "bad", "odd"}).Draw(r, "mood")
	switch {
	case rapid.IntRange(0, 9).Draw(r, "wild") == 0:
		e.Kind = rapid.SampledFrom([]Kind{Started, Finished, Failure, Lost, Answered, Woke, Ticked, Pausing, Resumed, Retried, Accepted, Passed,
			"no"}).Draw(r, "kind")
		e.Attempt, e.Fence = rapid.IntRange(0, 3).Draw(r, "attempt"), int64(rapid.IntRange(0, 3).Draw(r, "fence"))
	case x.Status == Failed && rapid.Bool().Draw(r, "repair"):
		e.Kind, e.Item, e.Repair = Repaired, -1, &spec.Words{Prompt: "look", Run: []string{"true"}}
	case x.Status == Paused:
		e.Kind = Resumed
	case s.Phase == Ready:
		e.Kind, e.Attempt, e.Fence = Started, s.Attempt+1, 1
	case s.Phase == Alive:
		e.Kind, e.Output = rapid.SampledFrom([]Kind{Finished, Finished, Failure, Lost}).Draw(r, "end"), outputs(s.Node, mood)
		e.Class = rapid.SampledFrom([]string{"unavailable", "denied"}).Draw(r, "class")
	case s.Phase == Held:
		e.Kind = rapid.SampledFrom([]Kind{Answered, Woke, Ticked}).Draw(r, "held")
		e.Answer = rapid.SampledFrom([]string{"approve", "rework", "perhaps"}).Draw(r, "answer")
	case s.Phase == Uncertain, s.Phase == Broken:
		e.Kind, e.Output = rapid.SampledFrom([]Kind{Retried, Accepted, Passed}).Draw(r, "mend"), outputs(s.Node, mood)
	default:
		e.Kind = Ticked
	}
	return e
}

func holds(r *rapid.T, x *Run, now time.Time) {
	next := x.Next(now)
	starting := map[string]bool{}
	for _, s := range next.Start {
		key := fmt.Sprint(s.Node, s.Item)
		if starting[key] || s.Phase != Ready || x.Status != Running {
			r.Fatalf("%s would be started: %s, the run is %s", key, s.Phase, x.Status)
		}
		starting[key] = true
	}
	alive := 0
	for _, s := range x.Steps() {
		if s.Phase == Alive && (s.Item >= 0 || s.Node != "each") {
			alive++
		}
		if x.Status.Over() && (s.Phase == Ready || s.Phase == Held || s.Phase == Waiting) {
			r.Fatalf("the run is %s, and %s is %s", x.Status, s.Node, s.Phase)
		}
	}
	if room := max(0, x.Spec.Limits.Parallel-alive); len(next.Start) > room {
		r.Fatalf("%d are alive, and %d more would be started", alive, len(next.Start))
	}
	if !x.Status.Over() && next.Wake.IsZero() {
		r.Fatalf("nobody would ever look again")
	}
}
