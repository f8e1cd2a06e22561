package team

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"tandem/internal/fault"
	"tandem/internal/foreign"
	job "tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/team/wire"
)

// Team is a team as it is stored: what people see of it, and what comes next.
type Team struct {
	wire.Team
	Tenant string    `json:"-"`
	Home   string    `json:"-"`
	Caller op.Caller `json:"caller"`

	Prompt string `json:"prompt,omitempty"` // what the lead is asked next, or was asked last
	About  string `json:"about,omitempty"`  // the task that it is asked about; "" for a plan
	Flight string `json:"flight,omitempty"` // the lead's turn under way
	Turns  int64  `json:"turns,omitempty"`  // prompts of the lead so far
	Bad    int64  `json:"bad,omitempty"`    // answers that were no plan, in a row
	Hush   bool   `json:"hush,omitempty"`   // the turn under way is about something that nobody asks any more
	Begins string `json:"begins,omitempty"` // the task that is being begun: it may have a job already
	Rests  bool   `json:"rests,omitempty"`  // its lead and its jobs are to be brought to rest
	Try    int64  `json:"try,omitempty"`    // how often it was resumed: the lead is asked with a key of its own each time
}

// Event is something that happened to a team.
type Event struct {
	Kind Kind
	// Opened: the session; Prompted: the turn; Answered, Broke, Blocked, Paused, Ended: the words
	Text string
	By   string
	// Edited
	Plan *wire.Plan
	// Approved
	Version int64
	// Resumed: the new end of its time
	Until time.Time
	// of a task
	Task string
	Job  *job.Job
}

// Kind names an event.
type Kind string

// The events.
const (
	Opened   Kind = "opened"   // the lead's session is there
	Prompted Kind = "prompted" // the lead has its words
	Answered Kind = "answered" // the lead ended its turn
	Broke    Kind = "broke"    // the lead's turn failed
	Edited   Kind = "edited"   // a person wrote a plan
	Approved Kind = "approved" // a person approved the plan
	Begins   Kind = "begins"   // a task is about to have a job
	Began    Kind = "began"    // a task has a job
	Unbegun  Kind = "unbegun"  // it has none after all
	Saw      Kind = "saw"      // where a task's job stands
	Retried  Kind = "retried"  // a job that stopped was resumed
	Told     Kind = "told"     // a task's agent heard what the lead said
	Held     Kind = "held"     // a task's job was stopped because the team is
	Loosed   Kind = "loosed"   // and goes on
	Paused   Kind = "paused"
	Resumed  Kind = "resumed"
	Stopped  Kind = "stopped"
	Blocked  Kind = "blocked" // it cannot go on by itself
	Hushed   Kind = "hushed"  // the lead's turn that nobody wants is over
	Rested   Kind = "rested"  // nothing of a team that does not go on is at work
	Ended    Kind = "ended"   // all is merged
)

// Bounds of what goes on by itself.
const (
	maxTries  = 1 // how often a job that failed is resumed before the lead is asked
	maxAsked  = 2 // how often the lead is asked about a task
	maxBad    = 3 // answers that are no plan
	maxEvents = 100
)

// Apply moves the team, or says why the event does not fit where it stands.
func (t *Team) Apply(e Event, now time.Time) error {
	was := t.State
	if err := t.lasts(e, now); err != nil {
		return err
	}
	if err := t.apply(e); err != nil {
		return err
	}
	if t.State != was {
		t.MovedAt = now
	}
	if what := t.said(e, was); what != "" {
		t.Events = append(t.Events, wire.Happened{At: now, What: what})
		t.Events = t.Events[max(0, len(t.Events)-maxEvents):]
	}
	return nil
}

func (t *Team) apply(e Event) error {
	task := t.task(e.Task)
	live := t.State == wire.Planning || t.State == wire.Working
	planned := t.ApprovedBy != ""
	switch {
	case e.Kind == Opened && t.Session == "":
		t.Session, t.Rests = e.Text, t.Rests || t.resting()
	case e.Kind == Prompted && t.Flight == "":
		t.Flight, t.Turns, t.Rests = e.Text, t.Turns+1, t.Rests || t.resting()
		t.Hush = !live || t.Prompt == "" // somebody did something else meanwhile
	case e.Kind == Answered && t.State == wire.Planning && t.Flight != "":
		t.proposed(e.Text)
	case e.Kind == Answered && t.State == wire.Working && t.Flight != "":
		t.decided(e.Text)
	case e.Kind == Answered && t.Flight != "": // it was paused or stopped meanwhile: it is asked again
		t.Flight = ""
	case e.Kind == Broke && t.Flight != "":
		t.Flight = ""
		if live {
			t.block("the lead's turn came to nothing: " + e.Text)
		}
	case e.Kind == Edited && !planned && (t.State == wire.Proposed || t.State == wire.Blocked || t.State == wire.Planning):
		if err := checkPlan(*e.Plan, t.workers()); err != nil {
			return err
		}
		t.take(*e.Plan)
	case e.Kind == Approved && t.State == wire.Proposed:
		if e.Version != t.Version {
			return fault.New(fault.Conflict, "team.approve", "the plan is number %d by now, and you looked at %d", t.Version, e.Version).
				WithNext("look again: tandem team plan %s", t.ID)
		}
		each, err := share(t.Budget, len(t.Tasks))
		if err != nil {
			return err
		}
		t.State, t.Reason, t.ApprovedBy, t.Share, t.Prompt, t.Hush = wire.Working, "", e.By, each, "", t.Flight != ""
	case e.Kind == Begins && t.State == wire.Working && task != nil && task.Stage == wire.Waits && task.Job == "":
		t.Begins = e.Task
	case e.Kind == Began && task != nil && task.Stage == wire.Waits && task.Job == "":
		task.Job, task.Stage, t.Begins, t.Rests = e.Job.ID, wire.AtWork, "", t.Rests || t.resting()
	case e.Kind == Unbegun:
		t.Begins = ""
	case e.Kind == Saw && task != nil && task.Job == e.Job.ID && !task.Over():
		t.saw(task, e.Job)
	case e.Kind == Retried && task != nil:
		task.Again, task.Tries, task.Stage, task.Reason = false, task.Tries+1, wire.AtWork, ""
	case e.Kind == Told && task != nil:
		task.Say, task.Stage, task.Reason = "", wire.AtWork, ""
	case e.Kind == Held && task != nil:
		task.Held = true
	case e.Kind == Loosed && task != nil:
		task.Held = false
	case e.Kind == Paused && (live || t.State == wire.Proposed || t.State == wire.Blocked):
		t.State, t.Reason, t.Rests = wire.Paused, e.Text, true
	case e.Kind == Blocked && live:
		if t.block(e.Text); e.Task != "" && e.Task == t.Begins { // it could not be begun
			t.Begins = ""
		}
	case e.Kind == Resumed && (t.State == wire.Paused || t.State == wire.Blocked):
		if !e.Until.IsZero() {
			t.Until = e.Until
		}
		t.resume()
	case e.Kind == Stopped && !t.State.Over():
		t.State, t.Reason, t.Prompt, t.Rests = wire.Stopped, e.Text, "", true
	case e.Kind == Hushed:
		t.Flight, t.Hush = "", false
	case e.Kind == Rested:
		t.Flight, t.Hush, t.Rests = "", false, false
	case e.Kind == Ended && t.State == wire.Working && t.over():
		t.State, t.Reason, t.Report, t.Rests = wire.Done, "", e.Text, true
	default:
		return fault.New(fault.Conflict, "team", "this cannot be done now: the team is %s", t.State).
			WithNext("see where it stands: tandem team show %s", t.ID)
	}
	return nil
}

// lasts refuses to let a team go on whose time is over.
func (t *Team) lasts(e Event, now time.Time) error {
	switch {
	case e.Kind != Resumed:
	case !e.Until.IsZero() && !e.Until.After(now):
		return fault.New(fault.Invalid, "team.resume", "that time is over already").
			WithNext("name one that is to come: tandem team resume %s --until 18:00", t.ID)
	case e.Until.IsZero() && !t.Until.IsZero() && !t.Until.After(now):
		return fault.New(fault.Conflict, "team.resume", "its time is over: it was to work until %s", t.Until.Format(time.RFC3339)).
			WithNext("give it more: tandem team resume %s --until 18:00", t.ID)
	}
	return nil
}

// resting says that nothing of the team may be at work.
func (t *Team) resting() bool { return t.State == wire.Paused || t.State.Over() }

func (t *Team) task(name string) *wire.Task {
	i := slices.IndexFunc(t.Tasks, func(k *wire.Task) bool { return k.Name == name })
	if i < 0 {
		return nil
	}
	return t.Tasks[i]
}

// workers are who works, in turn.
func (t *Team) workers() []string {
	if len(t.Workers) == 0 {
		return []string{t.Lead}
	}
	return t.Workers
}

func (t *Team) block(why string) { t.State, t.Reason = wire.Blocked, why }

// take makes a plan the team's, which waits for a person.
func (t *Team) take(p wire.Plan) {
	t.Criteria, t.Tasks = p.Criteria, nil
	for i, item := range p.Tasks {
		if item.Agent == "" {
			item.Agent = t.workers()[i%len(t.workers())]
		}
		if item.Check == "" {
			item.Check = t.Check
		}
		t.Tasks = append(t.Tasks, &wire.Task{Item: item, Stage: wire.Waits})
	}
	t.Version++
	t.State, t.Reason, t.Bad = wire.Proposed, "", 0
}

// proposed takes what the lead said as a plan.
func (t *Team) proposed(said string) {
	t.Flight = ""
	p, err := parsePlan(said)
	if err == nil {
		err = checkPlan(p, t.workers())
	}
	if err == nil {
		t.Prompt = ""
		t.take(p)
		return
	}
	why := fault.Public(err).Msg
	if t.Bad++; t.Bad >= maxBad {
		t.Bad = 0
		t.block(fmt.Sprintf("the lead gave no plan: %s; write one: tandem team plan %s --file plan.json", why, t.ID))
		return
	}
	t.Prompt = fmt.Sprintf("Your answer cannot be taken: %s.\n\n%s", why, form)
}

// saw takes where a task's job stands.
func (t *Team) saw(k *wire.Task, j *job.Job) {
	k.Commit, k.Reason, k.Needs = j.Commit, j.Reason, j.Needs
	switch j.State {
	case job.Review:
		k.Stage = wire.Review
	case job.Queued:
		k.Stage = wire.Queued
	case job.Merged:
		if k.Stage, k.Reason = wire.Merged, ""; j.Next != "" { // what comes after it would begin without it
			k.Stage, k.Reason = wire.Review, "it is merged, and not in "+t.Onto+" yet, which is checked out"
			k.Needs = []job.Need{{What: k.Reason + ": " + j.Next, Next: j.Next}}
		}
	case job.Stopped:
		switch {
		case j.Session != "" && j.Path == "":
			t.drop(k, "its job was discarded")
		case j.StoppedBy == t.ID: // as long as the team was at rest
			k.Held = true
		case k.Held:
		case j.StoppedBy != "":
			k.Stage = wire.Halted
		case k.Tries < maxTries && t.State == wire.Working:
			k.Again = true
		default:
			k.Stage = wire.Failed
		}
	default:
		k.Stage = wire.AtWork
	}
	if k.Stage == wire.Failed && t.State == wire.Working && t.Prompt == "" {
		t.asks(k)
	}
}

// asks has the lead asked about a task that failed, as often as is allowed.
func (t *Team) asks(k *wire.Task) {
	if k.Asked >= maxAsked {
		t.block(fmt.Sprintf("the task %s failed: %s", k.Name, k.Reason))
		return
	}
	k.Asked++
	t.About = k.Name
	t.Prompt = fmt.Sprintf("The task %s of your plan failed, also after it was resumed. What its job says:\n%s\n\n"+
		"Answer with one line that begins with one of these words:\nRETRY and what its agent should be told, to let it go on;\n"+
		"DONE and why, when the goal is reached without it;\nNEEDS_INPUT and a question, when a person has to answer;\n"+
		"BLOCKED and why, when there is no way.", k.Name, foreign.Mark("reason", "job", k.Reason))
}

// decided takes what the lead said about a task that failed. What begins with no word that it was told is a question for a person.
func (t *Team) decided(said string) {
	t.Flight, t.Prompt = "", ""
	k := t.task(t.About)
	t.About = ""
	word, rest := strings.TrimSpace(said), ""
	if i := strings.IndexFunc(word, unicode.IsSpace); i >= 0 {
		word, rest = word[:i], clip(strings.TrimSpace(word[i:]), 2000)
	}
	word = strings.Trim(word, ":*")
	switch {
	case k == nil || k.Over():
	case word == "RETRY" && rest != "":
		k.Say = rest
	case word == "DONE":
		t.drop(k, "the lead: "+rest)
	default:
		t.block(fmt.Sprintf("the task %s failed (%s), and the lead says: %s", k.Name, k.Reason, clip(strings.TrimSpace(said), 2000)))
	}
	for _, other := range t.Tasks {
		if other.Stage == wire.Failed && other.Say == "" && t.State == wire.Working && t.Prompt == "" {
			t.asks(other)
		}
	}
}

// drop takes a task out of the plan, with those that come after it.
func (t *Team) drop(k *wire.Task, why string) {
	k.Stage, k.Reason = wire.Dropped, why
	for _, other := range t.Tasks {
		if other.Stage == wire.Waits && slices.Contains(other.After, k.Name) {
			t.drop(other, "it comes after "+k.Name)
		}
	}
}

// resume goes on where a team was paused or blocked; what failed is tried again.
func (t *Team) resume() {
	t.Reason, t.Rests, t.Hush = "", false, t.Flight != ""
	t.Try++
	switch {
	case t.ApprovedBy == "" && len(t.Tasks) > 0:
		t.State = wire.Proposed
	case t.ApprovedBy == "":
		t.State = wire.Planning
	default:
		t.State, t.Prompt, t.About = wire.Working, "", ""
		for _, k := range t.Tasks {
			if k.Stage == wire.Failed {
				k.Again, k.Asked = true, 0
			}
		}
	}
}

// over says that nothing of the plan is left to do.
func (t *Team) over() bool {
	return !slices.ContainsFunc(t.Tasks, func(k *wire.Task) bool { return !k.Over() })
}

// ready are tasks that can begin now: those before them are merged, and a place is free.
func (t *Team) ready() (out []*wire.Task) {
	free := t.Agents
	for _, k := range t.Tasks {
		if k.Stage == wire.AtWork {
			free--
		}
	}
	for _, k := range t.Tasks {
		if t.State == wire.Working && free > 0 && k.Stage == wire.Waits && !slices.ContainsFunc(k.After, func(a string) bool {
			return t.task(a).Stage != wire.Merged
		}) {
			out = append(out, k)
			free--
		}
	}
	return out
}

// said is an event in words; "" where it is not worth any.
func (t *Team) said(e Event, was wire.State) string {
	if e.Kind == Began {
		return fmt.Sprintf("%s begins as %s", e.Task, e.Job.ID)
	}
	if t.State != was {
		return strings.TrimSuffix(fmt.Sprintf("%s: %s", t.State, clip(t.Reason, 300)), ": ")
	}
	if k := t.task(e.Task); k != nil && (e.Kind == Saw || e.Kind == Retried || e.Kind == Told) {
		return strings.TrimSuffix(fmt.Sprintf("%s is %s: %s", k.Name, k.Stage, clip(k.Reason, 300)), ": ")
	}
	return ""
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
