package team

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	job "tandem/internal/job/wire"
	"tandem/internal/team/wire"
)

const plan = `{"criteria":["it works"],"tasks":[{"name":"a","text":"do a"},
	{"name":"b","text":"do b","after":["a"]},{"name":"c","text":"do c"}]}`

func fresh() *Team {
	return &Team{Team: wire.Team{ID: "team_x", State: wire.Planning, Goal: "g", Agents: 2, Lead: "m/m", Check: "true",
		Budget: job.Budget{Turns: 10}}, Prompt: "plan"}
}

func at1(task string, state job.State, by ...string) Event {
	j := &job.Job{ID: "job_" + task, State: state, Commit: "c-" + task, Reason: "why"}
	if len(by) > 0 {
		j.StoppedBy = by[0]
	}
	return Event{Kind: Saw, Task: task, Job: j}
}

func began(task string) Event {
	return Event{Kind: Began, Task: task, Job: &job.Job{ID: "job_" + task}}
}

var (
	opened    = Event{Kind: Opened, Text: "ses_1"}
	prompted  = Event{Kind: Prompted, Text: "turn_1"}
	proposed  = Event{Kind: Answered, Text: "Here it is:\n" + plan}
	fell      = Event{Kind: Broke, Text: "it crashed", Later: time.Unix(60, 0)}
	felled    = []Event{prompted, fell, prompted, fell, prompted, fell, prompted, fell}
	nonsense  = Event{Kind: Answered, Text: "I would rather not"}
	thrice    = []Event{prompted, nonsense, prompted, nonsense, prompted, nonsense}
	pausedA   = append(begun[:6:6], Event{Kind: Paused}, Event{Kind: Held, Task: "a"})
	approved  = Event{Kind: Approved, Version: 1, By: "ann"}
	planned   = []Event{opened, prompted, proposed}
	begun     = append(planned[:3:3], approved, began("a"), began("c"))
	failedOut = append(begun[:6:6], at1("a", job.Stopped), Event{Kind: Retried, Task: "a"}, at1("a", job.Working), at1("a", job.Stopped),
		prompted)
)

func TestWhereEventsLead(t *testing.T) {
	say := func(text string) []Event {
		return append(failedOut[:len(failedOut):len(failedOut)], Event{Kind: Answered, Text: text})
	}
	for name, c := range map[string]struct {
		events []Event
		want   wire.State
		stages string
		ready  string
		calls  bool // the lead is asked next, or was
	}{
		"a plan waits for a person":      {planned, wire.Proposed, "waits waits waits", "", false},
		"what is no plan is asked again": {[]Event{opened, prompted, nonsense}, wire.Planning, "", "", true},
		"three times is enough":          {append([]Event{opened}, thrice...), wire.Blocked, "", "", true},
		"the lead cannot":                {[]Event{opened, prompted, {Kind: Broke, Text: "budget"}}, wire.Blocked, "", "", true},
		"its program ended: asked again": {[]Event{opened, prompted, fell}, wire.Planning, "", "", true},
		"again and again":                {append([]Event{opened}, felled...), wire.Blocked, "", "", true},
		"and a plan after that":          {[]Event{opened, prompted, fell, prompted, proposed}, wire.Proposed, "waits waits waits", "", false},
		"approved, two begin":            {append(planned[:3:3], approved), wire.Working, "waits waits waits", "a c", false},
		"both places are taken":          {begun, wire.Working, "at work waits at work", "", false},
		"one looked at frees a place":    {append(begun[:6:6], at1("a", job.Review)), wire.Working, "in review waits at work", "", false},
		"merged, the next one begins":    {append(begun[:6:6], at1("a", job.Merged)), wire.Working, "merged waits at work", "b", false},
		"a person stopped a job":         {append(begun[:6:6], at1("a", job.Stopped, "ann")), wire.Working, "stopped waits at work", "", false},
		"a job failed: it is resumed":    {append(begun[:6:6], at1("a", job.Stopped)), wire.Working, "at work waits at work", "", false},
		"it failed again: the lead":      {failedOut, wire.Working, "failed waits at work", "", true},
		"the lead has it go on":          {say("RETRY look at x.go"), wire.Working, "failed waits at work", "", false},
		"words on lines":                 {say("RETRY\nlook at x.go"), wire.Working, "failed waits at work", "", false},
		"the lead does without":          {say("DONE: not needed"), wire.Working, "dropped dropped at work", "", false},
		"the lead asks a person":         {say("NEEDS_INPUT which one?"), wire.Blocked, "failed waits at work", "", false},
		"the lead sees no way":           {say("BLOCKED no key"), wire.Blocked, "failed waits at work", "", false},
		"the lead says something else":   {say("hm"), wire.Blocked, "failed waits at work", "", false},
		"paused":                         {pausedA, wire.Paused, "at work waits at work", "", false},
		"stopped before a plan":          {[]Event{opened, {Kind: Stopped}}, wire.Stopped, "", "", false},
		"blocked, and on": {append(say("BLOCKED"), Event{Kind: Resumed}, Event{Kind: Retried, Task: "a"}), wire.Working,
			"at work waits at work", "", false},
		"all is merged": {append(begun[:6:6], at1("a", job.Merged), at1("c", job.Merged), began("b"), at1("b", job.Merged),
			Event{Kind: Ended, Text: "report"}), wire.Done, "merged merged merged", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			team := fresh()
			for _, e := range c.events {
				if err := team.Apply(e, time.Unix(1, 0)); err != nil {
					t.Fatalf("%s: %v", e.Kind, err)
				}
			}
			var stages, ready []string
			for _, k := range team.Tasks {
				stages = append(stages, string(k.Stage))
			}
			for _, k := range team.ready() {
				ready = append(ready, k.Name)
			}
			if team.State != c.want || strings.Join(stages, " ") != c.stages || strings.Join(ready, " ") != c.ready ||
				(team.Prompt != "") != c.calls {
				t.Errorf("it is %s (%s): %v, ready %v, asked %q", team.State, team.Reason, stages, ready, team.Prompt)
			}
		})
	}
}

// A lead hands a task that failed to another one of the workers, and to nobody else.
func TestALeadHandsATaskToAnotherWorker(t *testing.T) {
	for said, want := range map[string]string{"HAND codex: be brief": "codex be brief", "HAND codex\nbe brief": "codex be brief",
		"HAND claude again": "", "HAND opencode be brief": "", "HAND codex": "", "HAND": ""} {
		team := fresh()
		team.Workers = []string{"claude", "codex"}
		for _, e := range append(failedOut[:len(failedOut)-1:len(failedOut)-1], prompted, Event{Kind: Answered, Text: said}) {
			if e.Kind == Prompted && team.ApprovedBy != "" && !strings.Contains(team.Prompt, "another worker (codex)") {
				t.Errorf("the lead is not told of it: %s", team.Prompt)
			}
			if err := team.Apply(e, time.Unix(1, 0)); err != nil {
				t.Fatalf("%s: %v", e.Kind, err)
			}
		}
		k := team.task("a")
		if got := strings.TrimSpace(k.Hand + " " + k.Say); got != want || (want == "") != (team.State == wire.Blocked) {
			t.Errorf("%q: %q, and the team is %s", said, got, team.State)
			continue
		}
		if want == "" {
			continue
		}
		if err := team.Apply(Event{Kind: Told, Task: "a"}, time.Unix(2, 0)); err != nil || k.Hand != "" || k.Agent != "codex" {
			t.Errorf("then: %+v %v", k, err)
		}
	}
}

func TestPlansThatAreRefused(t *testing.T) {
	for why, text := range map[string]string{
		"no JSON object": "none", "unknown field": `{"tasks":[],"x":1}`, "between 1 and 30": `{"tasks":[]}`,
		"no name of a task": `{"tasks":[{"name":"A b","text":"x"}]}`, "two tasks": `{"tasks":[{"name":"a","text":"x"},{"name":"a","text":"x"}]}`,
		"the text of a": `{"tasks":[{"name":"a","text":" "}]}`, "which is no task": `{"tasks":[{"name":"a","text":"x","after":["b"]}]}`,
		"more than one":      `{"tasks":[{"name":"a","text":"x"}]} and then {"tasks":[]}`,
		"in a circle":        `{"tasks":[{"name":"a","text":"x","after":["b"]},{"name":"b","text":"x","after":["a"]}]}`,
		"seen from":          `{"tasks":[{"name":"a","text":"x","files":["../x"]}]}`,
		"none of the team's": `{"tasks":[{"name":"a","text":"x","agent":"codex"}]}`,
	} {
		p, err := parsePlan(text)
		if err == nil {
			err = checkPlan(p, []string{"m/m"})
		}
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The shares of all tasks and of the lead are not more than the budget, and each has something.
func TestSharesAreWithinTheBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := job.Budget{Cents: rapid.Int64Range(0, 5000).Draw(t, "cents"), Turns: rapid.Int64Range(0, 50).Draw(t, "turns")}
		n := rapid.IntRange(1, MaxTasks).Draw(t, "tasks")
		each, err := share(b, n)
		lead := leads(b)
		for _, x := range [][3]int64{{b.Cents, each.Cents, lead.Cents}, {b.Turns, each.Turns, lead.Turns}} {
			if x[0] > 0 && err == nil && (x[1] < 1 || x[2] < 1 || x[1]*int64(n)+x[2] > x[0]) || x[0] == 0 && x[1]+x[2] > 0 {
				t.Fatalf("of %d each of %d has %d, and the lead %d", x[0], n, x[1], x[2])
			}
		}
	})
}

// Two tasks that would change the same file are not at work at once. A task whose worker came to nothing gives its files back, and goes on
// when nobody has them.
func TestTasksHaveTheirFilesToThemselves(t *testing.T) {
	task := func(name string, files ...string) *wire.Task {
		return &wire.Task{Item: wire.Item{Name: name, Text: name, Files: files}, Stage: wire.Waits}
	}
	team := &Team{Team: wire.Team{ID: "team_x", State: wire.Working, Agents: 5, Tasks: []*wire.Task{
		task("login", "login"), task("keys", "login/keys.go"), task("docs", "docs/*.md"), task("any")}}}
	begun := func() (out []string) {
		for _, k := range team.ready() {
			out = append(out, k.Name)
		}
		return out
	}
	if got := begun(); !slices.Equal(got, []string{"login", "docs", "any"}) {
		t.Fatalf("at first %q begin", got)
	}
	for _, name := range begun() {
		if err := team.Apply(Event{Kind: Began, Task: name, Job: &job.Job{ID: "job_" + name}}, time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	if got := begun(); got != nil {
		t.Errorf("%q begin beside those at work", got)
	}
	login := team.task("login")
	login.Tries = maxTries // it was resumed once already
	hangs := &job.Job{ID: "job_login", State: job.Stopped, Reason: "it hangs"}
	if err := team.Apply(Event{Kind: Saw, Task: "login", Job: hangs}, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if got := begun(); login.Stage != wire.Failed || !slices.Equal(got, []string{"keys"}) {
		t.Errorf("when login is %s, %q begin", login.Stage, got)
	}
	if err := team.Apply(Event{Kind: Began, Task: "keys", Job: &job.Job{ID: "job_keys"}}, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if got := team.Behind(login); !slices.Equal(got, []string{"keys"}) {
		t.Errorf("what failed goes on beside %q", got)
	}
	for _, stage := range []job.State{job.Review, job.Merged} {
		if err := team.Apply(Event{Kind: Saw, Task: "keys", Job: &job.Job{ID: "job_keys", State: stage}}, time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	if got := team.Behind(login); got != nil {
		t.Errorf("it waits for %q, which are merged", got)
	}
}
