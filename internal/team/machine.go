package team

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tandem/internal/fault"
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

	state, body string // as they are in the database
	unread      bool   // the body cannot be read

	Prompt string `json:"prompt,omitempty"` // what the lead is asked next, or was asked last
	About  string `json:"about,omitempty"`  // the task that it is asked about; "" for a plan
	Flight string `json:"flight,omitempty"` // the lead's turn under way
	Turns  int64  `json:"turns,omitempty"`  // prompts of the lead so far
	Bad    int64  `json:"bad,omitempty"`    // answers that were no plan, in a row
	Hush   bool   `json:"hush,omitempty"`   // the turn under way is about something that nobody asks any more
	Begins string `json:"begins,omitempty"` // the task that is being begun: it may have a job already
	Rests  bool   `json:"rests,omitempty"`  // its lead and its jobs are to be brought to rest
	Breaks int64  `json:"breaks,omitempty"` // turns of the lead in a row that its program or its provider's rate ended
	Try    int64  `json:"try,omitempty"`    // how often it was resumed: the lead is asked with a key of its own each time

	Given   job.Budget `json:"given,omitzero"`    // of the budget, to tasks that had begun when the plan was last changed
	Counted int        `json:"counted,omitempty"` // how many those are
}

// Event is something that happened to a team.
type Event struct {
	Kind Kind
	// Opened: the session; Prompted: the turn; Answered, Broke, Blocked, Paused, Ended: the words
	Text string
	By   string
	// Edited
	Plan *wire.Plan
	// Approved, Edited: the plan that was looked at; 0 for an edit: whichever
	Version int64
	// Resumed: the new end of its time
	Until time.Time
	// Broke: when the lead is asked again; zero: it is not
	Later time.Time
	// Waited
	Waits bool
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
	Waited   Kind = "waited"   // the lead waits for a person's answer, or does not any more
	Edited   Kind = "edited"   // a person wrote a plan
	Approved Kind = "approved" // a person approved the plan
	Begins   Kind = "begins"   // a task is about to have a job
	Began    Kind = "began"    // a task has a job
	Unbegun  Kind = "unbegun"  // it has none after all
	Saw      Kind = "saw"      // where a task's job stands
	Retried  Kind = "retried"  // a job that stopped was resumed
	Told     Kind = "told"     // a task's agent heard what the lead said
	Inspects Kind = "inspects" // a task's work is about to be reviewed by another agent
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
		t.Flight, t.Turns, t.Rests, t.Later, t.Waits = e.Text, t.Turns+1, t.Rests || t.resting(), time.Time{}, false
		t.Hush = !live || t.Prompt == "" // somebody did something else meanwhile
	case e.Kind == Waited && t.Flight != "":
		t.Waits = e.Waits
	case e.Kind == Answered && t.State == wire.Planning && t.Flight != "":
		t.proposed(e.Text)
	case e.Kind == Answered && t.State == wire.Working && t.Flight != "":
		t.decided(e.Text)
	case e.Kind == Answered && t.Flight != "": // it was paused or stopped meanwhile: it is asked again
		t.Flight, t.Waits = "", false
	case e.Kind == Broke && t.Flight != "":
		if t.Flight, t.Waits = "", false; live {
			t.breaks(e)
		}
	case e.Kind == Edited && e.Version != 0 && e.Version != t.Version:
		return fault.New(fault.Conflict, "team.plan", "the plan is number %d by now, and you changed %d", t.Version, e.Version).
			WithNext("look again: tandem team plan %s", t.ID)
	case e.Kind == Edited && t.worked():
		return t.replan(*e.Plan, e.By)
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
		each, err := share(t.Budget, len(t.Tasks)*t.sessions())
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
		if task.Remark != "" {
			task.Heard = task.Commit
		}
		task.Say, task.Hand, task.Remark, task.Stage, task.Reason = "", "", "", wire.AtWork, ""
	case e.Kind == Inspects && task != nil:
		task.Inspect, task.Looks = "", task.Looks+1
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
		t.Flight, t.Hush, t.Waits = "", false, false
	case e.Kind == Rested:
		t.Flight, t.Hush, t.Rests, t.Waits = "", false, false, false
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

func (t *Team) block(why string) { t.State, t.Reason = wire.Blocked, why }

// resume goes on where a team was paused or blocked; what failed is tried again.
func (t *Team) resume() {
	t.Reason, t.Rests, t.Hush, t.Breaks, t.Later = "", false, t.Flight != "", 0, time.Time{}
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

// said is an event in words; "" where it is not worth any.
func (t *Team) said(e Event, was wire.State) string {
	if e.Kind == Began {
		return fmt.Sprintf("%s begins as %s", e.Task, e.Job.ID)
	}
	if t.State != was {
		return strings.TrimSuffix(fmt.Sprintf("%s: %s", t.State, fault.Clip(t.Reason, 300)), ": ")
	}
	if e.Kind == Edited && t.ApprovedBy != "" {
		return t.replanned()
	}
	if e.Kind == Broke {
		return "the lead is asked again: " + e.Text
	}
	if e.Kind == Waited && e.Waits {
		return "the lead waits for an answer"
	}
	if k := t.task(e.Task); k != nil && (e.Kind == Saw || e.Kind == Retried || e.Kind == Told) {
		return strings.TrimSuffix(fmt.Sprintf("%s is %s: %s", k.Name, k.Stage, fault.Clip(k.Reason, 300)), ": ")
	}
	return ""
}
