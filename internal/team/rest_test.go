package team

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	job "tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/team/wire"
)

// driven is a team whose steps the test takes itself.
type driven struct {
	*testing.T
	*house
	r  *Room
	id string
}

func drive(t *testing.T) *driven {
	h := build(t)
	d := &driven{T: t, house: h, r: h.room(1)}
	made, err := d.r.start(op.WithCaller(t.Context(), ann), wire.StartIn{Goal: "g", Folder: h.home, Lead: "m/m", Check: "true", Agents: 2})
	if err != nil {
		t.Fatal(err)
	}
	d.id = made.ID
	if !strings.Contains(made.Reason, "main is checked out") || !strings.Contains(made.Reason, "switch --detach") {
		t.Errorf("what a checked-out branch means is not said: %q", made.Reason)
	}
	return d
}

var (
	ann = op.Caller{Tenant: "t", Actor: "act_1", Name: "ann", Kind: op.Person}
	bob = op.Caller{Tenant: "t", Actor: "act_2", Name: "bob", Kind: op.Person}
)

func (d *driven) now() *Team {
	d.Helper()
	t, err := d.r.get(d.Context(), "t", d.id)
	if err != nil {
		d.Fatal(err)
	}
	return t
}

// steps takes steps until nothing changes.
func (d *driven) steps() *Team {
	d.Helper()
	for range 30 {
		t := d.now()
		d.r.moved = false
		if !t.next() {
			return t
		}
		if err := d.r.step(d.Context(), t); err != nil && !errors.Is(err, errStale) {
			d.Fatal(err)
		}
		if !d.r.moved {
			return d.now()
		}
	}
	d.Fatal("it does not come to rest")
	return nil
}

func (d *driven) does(c op.Caller, e Event) error {
	ctx := op.WithCaller(d.Context(), c)
	return d.db.Write(ctx, func(tx *db.Tx) error { _, err := d.r.move(ctx, tx, d.id, e); return err })
}

func (d *driven) must(c op.Caller, e Event) {
	d.Helper()
	if err := d.does(c, e); err != nil {
		d.Fatal(err)
	}
}

func (d *driven) approved() *driven {
	d.Helper()
	d.must(ann, Event{Kind: Approved, Version: d.steps().Version, By: "ann"})
	return d
}

func (d *driven) works() (n int) {
	for _, j := range d.far.jobs {
		if !j.State.Waits() {
			n++
		}
	}
	return n
}

// A team that is stopped or paused while a task is begun begins no other one, and the job that there is by then is stopped.
func TestWhatIsStoppedBeginsNothing(t *testing.T) {
	for _, word := range []Event{{Kind: Stopped, Text: "ann stopped it"}, {Kind: Paused, Text: "ann paused it"}} {
		t.Run(string(word.Kind), func(t *testing.T) {
			d := drive(t).approved()
			said := false
			d.far.before = func(in any) {
				if _, starts := in.(job.StartIn); starts && !said {
					said = true
					d.must(ann, word)
				}
			}
			team := d.steps()
			if d.far.starts != 1 || d.works() != 0 || team.Tasks[0].Job == "" || !team.Tasks[0].Held {
				t.Errorf("%d jobs were started and %d work: %s, %+v", d.far.starts, d.works(), team.State, team.Tasks[0])
			}
			if word.Kind == Stopped {
				return
			}
			d.must(ann, Event{Kind: Resumed})
			if team := d.steps(); d.far.starts != 2 || d.works() != 2 || team.Tasks[0].Held {
				t.Errorf("resumed, %d jobs were started and %d work: %s", d.far.starts, d.works(), team.State)
			}
		})
	}
}

// A server that died after it started a job, and before it wrote that down, is followed by one that knows of the job: though the team was
// stopped meanwhile, or another task stands elsewhere by then.
func TestAJobThatWasNotWrittenDown(t *testing.T) {
	t.Run("stopped meanwhile", func(t *testing.T) { unwritten(t, true) })
	t.Run("another one moved meanwhile", func(t *testing.T) { unwritten(t, false) })
}

func unwritten(t *testing.T, stopped bool) {
	t.Helper()
	d := drive(t).approved()
	team := d.now()
	if err := d.r.begin(t.Context(), team, "a"); err != nil {
		t.Fatal(err)
	}
	if err := d.r.happened(t.Context(), team, Event{Kind: Begins, Task: "c"}); err != nil {
		t.Fatal(err)
	}
	c := team.Caller
	c.Idempotency = d.id + ".c"
	if _, err := op.Do(op.WithCaller(t.Context(), c), d.far, job.Start, job.StartIn{Task: told(team, team.task("c")), Folder: team.Folder,
		Onto: team.Onto, Agent: "m/m", Check: "true", Budget: team.Share}); err != nil {
		t.Fatal(err)
	}
	d.far.set("job_1", job.Review)
	works := 1
	if stopped {
		d.must(ann, Event{Kind: Stopped, Text: "ann stopped it"})
		works = 0
	}
	if team = d.steps(); d.far.starts != 2 || d.works() != works || team.task("c").Job != "job_2" {
		t.Errorf("%s (%s): %d jobs were started and %d work; c is %+v", team.State, team.Reason, d.far.starts, d.works(), team.task("c"))
	}
}

// Whatever of a paused team goes on by itself is stopped, also in the queue, and goes on with it; what waits for a person's look stays.
func TestAPauseHoldsEveryJob(t *testing.T) {
	d := drive(t).approved()
	d.steps()
	d.far.set("job_1", job.Queued)
	d.far.set("job_2", job.Review)
	d.steps()
	d.must(ann, Event{Kind: Paused, Text: "ann paused it"})
	if team := d.steps(); d.far.jobs["job_1"].StoppedBy != d.id || d.far.jobs["job_2"].State != job.Review || !team.task("a").Held {
		t.Errorf("the queued one is %+v, the other one %s", d.far.jobs["job_1"], d.far.jobs["job_2"].State)
	}
	d.must(ann, Event{Kind: Resumed})
	if d.steps(); d.far.jobs["job_1"].State != job.Working {
		t.Errorf("resumed, it is %s", d.far.jobs["job_1"].State)
	}
}

// A job that was merged beside a checked-out branch is not in it: what comes after waits, and the line to type is shown.
func TestWhatIsNotInTheBranchIsNotMerged(t *testing.T) {
	d := drive(t).approved()
	d.steps()
	d.far.set("job_1", job.Merged)
	d.far.jobs["job_1"].Next = "git merge --ff-only c"
	team := d.steps()
	if a := team.task("a"); a.Stage != wire.Review || len(a.Needs) != 1 || a.Needs[0].Next != "git merge --ff-only c" ||
		d.far.starts != 2 || !team.NeedsPerson() {
		t.Errorf("a is %+v, and %d jobs were started", a, d.far.starts)
	}
	d.far.jobs["job_1"].Next = ""
	if team = d.steps(); team.task("a").Stage != wire.Merged || d.far.starts != 3 {
		t.Errorf("a is %s, and %d jobs were started", team.task("a").Stage, d.far.starts)
	}
}

// Who edits a plan is among those whose words the jobs act on.
func TestWhoEditsAPlanPrompts(t *testing.T) {
	d := drive(t)
	d.steps()
	d.must(ann, Event{Kind: Edited, Plan: &wire.Plan{Tasks: []wire.Item{{Name: "a", Text: "x"}}}})
	if p := d.now().Caller.Prompted; len(p) != 0 {
		t.Errorf("the starter prompts itself: %v", p)
	}
	d.must(bob, Event{Kind: Edited, Plan: &wire.Plan{Tasks: []wire.Item{{Name: "a", Text: "y"}}}})
	if p := d.now().Caller.Prompted; len(p) != 1 || p[0][0] != "person:bob" {
		t.Errorf("the words of %v are acted on", p)
	}
}

// A team whose time is over goes on with another time alone; a blocked one is paused at its time, too, and by a person.
func TestATimeThatIsOver(t *testing.T) {
	d := drive(t).approved()
	d.steps()
	if err := d.db.Write(t.Context(), func(tx *db.Tx) error {
		_, err := d.r.change(tx, "t", d.id, func(team *Team) error {
			team.Until = tx.Now().Add(-time.Second)
			return team.Apply(Event{Kind: Blocked, Text: "b"}, tx.Now())
		})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if team := d.steps(); team.State != wire.Paused || d.works() != 0 {
		t.Errorf("it is %s, and %d jobs work", team.State, d.works())
	}
	err := d.does(ann, Event{Kind: Resumed})
	if !fault.Is(err, fault.Conflict) || !strings.Contains(fault.Public(err).Next, "--until") {
		t.Errorf("resumed: %v", err)
	}
	if err := d.does(ann, Event{Kind: Resumed, Until: time.Unix(1, 0)}); !fault.Is(err, fault.Invalid) {
		t.Errorf("resumed until long ago: %v", err)
	}
	d.must(ann, Event{Kind: Resumed, Until: d.db.Now().Add(time.Hour)})
	if team := d.steps(); team.State != wire.Working || d.works() != 2 {
		t.Errorf("it is %s, and %d jobs work", team.State, d.works())
	}
}

// What the lead is asked after a pause is another question: the turn of the one before is ended, and its answer is not taken.
func TestAnOldAnswerIsNotTaken(t *testing.T) {
	team := fresh()
	for _, e := range append(failedOut[:len(failedOut):len(failedOut)], Event{Kind: Paused}, Event{Kind: Resumed}) {
		if err := team.Apply(e, time.Unix(1, 0)); err != nil {
			t.Fatalf("%s: %v", e.Kind, err)
		}
	}
	if team.Flight == "" || !team.Hush || team.Prompt != "" {
		t.Errorf("the old turn is not ended: %+v", team)
	}
}

// A task whose job was discarded is dropped, with what comes after it.
func TestADiscardedJobDropsItsTask(t *testing.T) {
	d := drive(t).approved()
	d.steps()
	d.far.set("job_1", job.Stopped)
	d.far.jobs["job_1"].Session, d.far.jobs["job_1"].StoppedBy = "ses_2", "ann"
	d.far.set("job_2", job.Merged)
	if team := d.steps(); team.State != wire.Done || team.task("a").Stage != wire.Dropped || team.task("b").Stage != wire.Dropped {
		t.Errorf("it is %s: %+v", team.State, team.task("a"))
	}
}

// Somebody stops a team whose starter may do nothing any more: it comes to rest all the same, once, and so does its lead.
func TestATeamRestsWithoutItsStarter(t *testing.T) {
	d := drive(t).approved()
	d.steps()
	ended := 0
	d.r.End = func(_ context.Context, tenant, session string, program bool) error {
		if tenant != "t" || session != "ses_1" || program {
			t.Errorf("%s %s is ended, with its program: %v", tenant, session, program)
		}
		ended++
		return nil
	}
	d.far.denied = true
	d.must(bob, Event{Kind: Stopped, Text: "bob stopped it"})
	if team := d.steps(); d.works() != 0 || ended != 1 || team.next() {
		t.Errorf("%d jobs work, the lead was ended %d times, and there is more to do: %v", d.works(), ended, team.next())
	}
}

// A key whose outcome a crash hid blocks a team until it is resumed: then the lead is asked with another one.
func TestAHiddenOutcomeIsTriedAgain(t *testing.T) {
	d := drive(t)
	lost := "session.create" + d.id + ".lead.open.0"
	d.far.keys[lost], d.far.asked[lost] = nil, "lost"
	if team := d.steps(); team.State != wire.Blocked {
		t.Fatalf("it is %s", team.State)
	}
	d.must(ann, Event{Kind: Resumed})
	if team := d.steps(); team.State != wire.Proposed {
		t.Errorf("resumed, it is %s: %s", team.State, team.Reason)
	}
}
