package job

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/session/checkout"
)

func fresh(check string) *Job {
	return &Job{Job: wire.Job{ID: "job_00000x", State: wire.Planned, Task: "do it", Check: check, Bound: 3, Verdict: wire.Unchecked}}
}

func ran(v wire.Verdict) *wire.Evidence { return &wire.Evidence{Verdict: v, Exit: 1, Commit: "c"} }

var (
	opened   = Event{Kind: Opened, Repo: "/r", Base: "b", Onto: "main", Path: "/r-job", Work: "/r-job", Session: "ses_1", Agent: "m/m"}
	prompted = Event{Kind: Prompted, Turn: "t"}
	ended    = Event{Kind: Ended, Commit: "c"}
	green    = Event{Kind: Checked, Own: ran(wire.Green)}
	notGreen = Event{Kind: Checked, Own: ran(wire.Red)}
	returned = Event{Kind: Returned}
	cut      = Event{Kind: WasCut}
	circled  = Event{Kind: Circled, Text: "ls"}
	sameRed  = Event{Kind: Checked, Own: ran(wire.Red), Tree: "t1"}
	otherRed = Event{Kind: Checked, Own: ran(wire.Red), Tree: "t2"}
	codex    = Event{Kind: Told, Text: "more", Agent: "codex"}
	tookOver = Event{Kind: TookOver, Session: "ses_2", Agent: "codex"}
	limited  = Event{Kind: Limited, Text: "429", Later: time.Unix(60, 0)}
)

func TestWhereEventsLead(t *testing.T) {
	const again = "its turn was cut off again and again"
	const moved = "the branch main moved: this is both together, and needs another look"
	for name, c := range map[string]struct {
		check  string
		events []Event
		want   wire.State
		reason string
	}{
		"from a task to a review":    {"x", []Event{opened, prompted, ended, green}, wire.Review, ""},
		"to a merged change":         {"x", []Event{opened, prompted, ended, green, {Kind: Merge, Commit: "c"}}, wire.Merged, ""},
		"without a check":            {"", []Event{opened, prompted, ended}, wire.Review, ""},
		"a red check goes back":      {"x", []Event{opened, prompted, ended, notGreen}, wire.SentBack, ""},
		"and to the agent":           {"x", []Event{opened, prompted, ended, notGreen, returned}, wire.Working, ""},
		"nothing was changed":        {"x", []Event{opened, prompted, {Kind: Ended, Commit: "b"}}, wire.Stopped, "the agent changed nothing"},
		"a restart cut the turn off": {"x", []Event{opened, prompted, {Kind: WasCut}}, wire.Working, ""},
		"a person says more":         {"x", []Event{opened, prompted, ended, green, {Kind: Told, Text: "more"}}, wire.SentBack, ""},
		"a person speaks meanwhile":  {"x", []Event{opened, prompted, {Kind: Told, Text: "more"}, ended}, wire.SentBack, ""},
		"the branch moved":           {"x", []Event{opened, prompted, ended, green, {Kind: Remade, Commit: "d"}}, wire.Checking, moved},
		"the branch is in the way":   {"x", []Event{opened, prompted, ended, green, {Kind: Conflict, Text: "a.go"}}, wire.SentBack, ""},
		"it is checked again":        {"x", []Event{opened, prompted, ended, green, {Kind: Recheck}}, wire.Checking, ""},
		"stopped at work, and on":    {"x", []Event{opened, prompted, {Kind: Stop}, {Kind: Hushed}, {Kind: Resume}}, wire.Working, ""},
		"stopped in review, and on":  {"x", []Event{opened, prompted, ended, green, {Kind: Stop}, {Kind: Resume}}, wire.Review, ""},
		"stopped before it began":    {"x", []Event{{Kind: Failed, Text: "no"}, {Kind: Resume}}, wire.Planned, ""},
		"the workspace was not made": {"x", []Event{{Kind: Failed, Text: "no folder"}}, wire.Stopped, "no folder"},
		"red three times in a row":   {"x", thrice(), wire.Stopped, "the check is red after try 3 of 3"},
		"and on after that":          {"x", append(thrice(), Event{Kind: Resume}), wire.SentBack, ""},
		"the workspace went with it": {"x", []Event{opened, prompted, {Kind: Stop, Discard: true}, {Kind: Gone}}, wire.Stopped, ""},
		"its turn failed, and on":    {"x", []Event{opened, prompted, {Kind: Failed, Text: "budget"}, {Kind: Resume}}, wire.Working, ""},
		"cut off, and cut off again": {"x", []Event{opened, prompted, cut, prompted, cut, prompted, cut}, wire.Stopped, again},
		"it goes in circles, once":   {"x", []Event{opened, prompted, circled}, wire.Working, "ls"},
		"and once more": {"x", []Event{opened, prompted, circled, prompted, circled}, wire.Stopped,
			"its agent goes round in circles: ls"},
		"but not in the next turn": {"x", []Event{opened, prompted, circled, prompted, ended, notGreen, returned, prompted, circled},
			wire.Working, "ls"},
		"other files are as red": {"x", []Event{opened, prompted, ended, sameRed, returned, prompted, ended, otherRed}, wire.SentBack, ""},
		"the same files are handed in": {"x", []Event{opened, prompted, ended, sameRed, returned, prompted, ended, sameRed}, wire.Stopped,
			"the agent goes round in circles: it handed in the same files again, and the check is as red on them as before"},
		"and it is checked again": {"x", []Event{opened, prompted, ended, sameRed, returned, prompted, ended, sameRed, {Kind: Recheck}, sameRed},
			wire.SentBack, ""},
		"another agent is named": {"x", []Event{opened, prompted, ended, green, codex}, wire.SentBack, ""},
		"and takes it over": {"x", []Event{opened, prompted, ended, green, codex, returned, {Kind: Seated}, tookOver, prompted},
			wire.Working, ""},
		"another one after a stop": {"x", []Event{opened, prompted, {Kind: Stop}, {Kind: Hushed}, {Kind: Resume, Agent: "codex"}},
			wire.Working, ""},
		"refused for its rate": {"x", []Event{opened, prompted, {Kind: Limited, Text: "429", Later: time.Unix(60, 0)}}, wire.Working,
			"its provider refused it for its rate; it goes on at 00:01:00 UTC: 429"},
		"refused, and on":             {"x", []Event{opened, prompted, limited, prompted}, wire.Working, ""},
		"refused again and again":     {"x", limitedOut(), wire.Stopped, "its provider refuses it for its rate: 429"},
		"stopped while it rests":      {"x", []Event{opened, prompted, limited, {Kind: Stop}, {Kind: Hushed}, {Kind: Resume}}, wire.Working, ""},
		"said while its check passed": {"x", []Event{opened, prompted, ended, {Kind: Told, Text: "more"}, green}, wire.SentBack, ""},
	} {
		j := fresh(c.check)
		for i, e := range c.events {
			if err := j.Apply(e, time.Now()); err != nil {
				t.Errorf("%s: event %d: %v", name, i, err)
			}
		}
		if j.State != c.want || j.Reason != c.reason {
			t.Errorf("%s: it is %s (%s), want %s (%s)", name, j.State, j.Reason, c.want, c.reason)
		}
	}
}

func limitedOut() (out []Event) {
	out = []Event{opened}
	for range maxLimited + 1 {
		out = append(out, prompted, limited)
	}
	return out
}

func thrice() (out []Event) {
	out = []Event{opened}
	for range 3 {
		out = append(out, prompted, ended, notGreen, returned)
	}
	return out[:len(out)-1]
}

// Whatever happens in whatever order: only a person's word about exactly the commit that was not red merges a job, a merged job stays
// as it is, and what is red too often stops.
func TestNoOrderOfEventsMergesWhatIsRed(t *testing.T) {
	kinds := []Kind{Opened, Prompted, WasCut, Ended, Failed, Checked, Returned, Told, Recheck, Remade, Conflict, Merge, Stop, Resume, Hushed,
		Gone, Stuck, Queue, Joined, Unqueued, Ranked, Circled, Seated, TookOver}
	rapid.Check(t, func(t *rapid.T) {
		j := fresh(rapid.SampledFrom([]string{"", "go test"}).Draw(t, "check"))
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			e := Event{Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Turn: "t", Text: "x", Session: "ses_1", Path: "/p", Base: "b",
				Commit:  rapid.SampledFrom([]string{"b", "c", "d"}).Draw(t, "commit"),
				Tree:    rapid.SampledFrom([]string{"", "t1", "t2"}).Draw(t, "tree"),
				Discard: rapid.Bool().Draw(t, "discard")}
			if e.Kind == Checked {
				e.Own = ran(rapid.SampledFrom([]wire.Verdict{wire.Green, wire.Red}).Draw(t, "verdict"))
			}
			was := *j
			err := j.Apply(e, time.Now())
			switch {
			case err != nil && !fault.Is(err, fault.Conflict):
				t.Fatalf("%s in %s: %v", e.Kind, was.State, err)
			case err != nil && j.State != was.State:
				t.Fatalf("%s was refused in %s, and moved the job to %s", e.Kind, was.State, j.State)
			case was.State == wire.Merged && (j.State != wire.Merged || j.Commit != was.Commit):
				t.Fatalf("%s moved a merged job to %s", e.Kind, j.State)
			case j.State == wire.Merged && was.State != wire.Merged &&
				(e.Kind != Merge || was.State != wire.Review && was.State != wire.Queued || e.Commit != was.Commit || was.Verdict == wire.Red):
				t.Fatalf("%s of %s merged a job that was %s at %s, %s", e.Kind, e.Commit, was.State, was.Commit, was.Verdict)
			case j.State == wire.Review && j.Check != "" && j.Verdict != wire.Green:
				t.Fatalf("%s put a job into review whose check is %s", e.Kind, j.Verdict)
			case j.State == wire.Merged && was.State == wire.Queued && j.Check != "" && was.Verdict != wire.Green:
				t.Fatalf("the queue merged what is %s", was.Verdict)
			case j.State == wire.Merged && was.State == wire.Queued && j.Check == "" && was.Commit != was.Approved:
				t.Fatalf("the queue merged %s unchecked, and a person looked at %s", was.Commit, was.Approved)
			case j.State == wire.Queued && was.State != wire.Queued && (e.Kind != Queue || was.State != wire.Review || was.Verdict == wire.Red):
				t.Fatalf("%s queued a job that was %s and %s", e.Kind, was.State, was.Verdict)
			case j.State != wire.Stopped && j.Reds >= j.Bound:
				t.Fatalf("%s lets a job go on that was red %d times", e.Kind, j.Reds)
			case j.State == wire.Working && j.Prompt == "":
				t.Fatalf("%s has the agent work without a word", e.Kind)
			}
		}
	})
}

func TestWhatACheckConsistsOf(t *testing.T) {
	for _, c := range []struct {
		command, file string
		want          bool
	}{
		{"go test ./...", "internal/a_test.go", true}, {"go test ./...", "internal/a.go", false}, {"sh ./check.sh", "check.sh", true},
		{"sh check.sh", "other/check.sh", true}, {"cd other && sh ../../check.sh", "check.sh", true}, {"sh check.sh", "precheck.sh", false},
		{"make test", "Makefile", true}, {"pytest", "tests/unit/a.py", true},
		{"pytest", "src/test_a.py", true}, {"npm test", "package.json", true}, {"npm test", "src/a.spec.ts", true},
		{"npm test", "src/a.ts", false},
		{"bash -c 'sh tools/run && true'", "tools/run", true}, {"pytest", "pyproject.toml", true}, {"go test ./...", "sub/go.mod", true},
		{"go test ./...", "go.work", true}, {"cargo test", "Cargo.toml", true}, {"cargo test", "crates/a/build.rs", true},
		{"npm test", "jest.config.ts", true}, {"npm test", "web/vitest.config.mjs", true}, {"npm test", ".mocharc.yml", true},
		{"cargo test", "a/.cargo/config.toml", true}, {"npm test", "src/config.ts", false}, {"cargo test", "src/lib.rs", false},
	} {
		if got := partOf(c.command, c.file); got != c.want {
			t.Errorf("%q consists of %s: %v", c.command, c.file, got)
		}
	}
	got := altered(parts{command: "sh check.sh"}, []checkout.Change{{Status: 'M', Path: "check.sh"}, {Status: 'A', Path: "new_test.go"},
		{Status: 'R', Path: "kept/old.go", From: "old_test.go"}, {Status: 'D', Path: "tests/a"}, {Status: 'A', Path: "sub/Makefile"},
		{Status: 'M', Path: "a.go"}, {Status: 'A', Path: "x/.cargo/config.toml"}, {Status: 'A', Path: "jest.config.js"}})
	want := []string{"check.sh", "old_test.go", "tests/a", "sub/Makefile", "x/.cargo/config.toml", "jest.config.js"}
	if !slices.Equal(got, want) {
		t.Errorf("altered: %q, want %q", got, want)
	}
}

// A check whose commit holds files that the agent may not see told it the exit code, which the agent's own change can make any byte of
// them.
func TestARedCheckOfHiddenFilesTellsNothing(t *testing.T) {
	for _, e := range []wire.Evidence{{Exit: 67}, {Exit: 67, Late: true}, {Exit: 67, Full: true}} {
		e.Commit, e.Command, e.Verdict, e.Output, e.Kept = "550fa603ffe764bc", "sh t.sh", wire.Red, "secret", true
		said := red(&e)
		for _, word := range []string{"67", "secret", "too long", "too much"} {
			if strings.Contains(strings.ReplaceAll(said, "550fa603ffe7", ""), word) {
				t.Errorf("%+v: the agent hears %q of it: %s", e, word, said)
			}
		}
		if e.Kept = false; red(&e) == said {
			t.Errorf("%+v: who may see all of it hears as little", e)
		}
	}
}
