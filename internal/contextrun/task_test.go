package contextrun

import (
	"path/filepath"
	"testing"
	"time"

	"tandem/internal/contextrun/wire"
	"tandem/internal/fault"
)

// Where a task goes by which action, from where.
func TestWhereATaskGoes(t *testing.T) {
	now := at9()
	end := now.Add(time.Minute)
	for _, c := range []struct {
		from    wire.Stage
		in      wire.TransitionIn
		to      wire.Stage
		refused fault.Kind // Internal means that it goes
	}{
		{wire.InProgress, wire.TransitionIn{Action: "heartbeat", Token: "now"}, wire.InProgress, fault.Internal},
		{wire.InProgress, wire.TransitionIn{Action: "complete", Token: "now"}, wire.Done, fault.Internal},
		{wire.InProgress, wire.TransitionIn{Action: "fail", Token: "now", Error: "no"}, wire.Broken, fault.Internal},
		{wire.InProgress, wire.TransitionIn{Action: "block", Token: "now"}, wire.Stuck, fault.Internal},
		{wire.InProgress, wire.TransitionIn{Action: "release", Token: "now"}, wire.Runnable, fault.Internal},
		{wire.InProgress, wire.TransitionIn{Action: "status", Stage: wire.Done, Token: "now"}, wire.Done, fault.Internal},
		{wire.InProgress, wire.TransitionIn{Action: "complete"}, "", fault.Conflict},
		{wire.InProgress, wire.TransitionIn{Action: "complete", Token: "old"}, "", fault.Conflict},
		{wire.InProgress, wire.TransitionIn{Action: "status", Stage: wire.Done, Token: "old"}, "", fault.Conflict},
		{wire.InProgress, wire.TransitionIn{Action: "heartbeat", Token: "now", LeaseMS: 1}, "", fault.Invalid},
		{wire.InProgress, wire.TransitionIn{Action: "complete", Token: "now", IfRev: rev(3)}, "", fault.Conflict},
		{wire.InProgress, wire.TransitionIn{Action: "complete", Token: "now", IfRev: rev(4)}, wire.Done, fault.Internal},
		{wire.InProgress, wire.TransitionIn{Action: "release", Token: "now", AfterMS: -1}, "", fault.Invalid},
		{wire.InProgress, wire.TransitionIn{Action: "release", Token: "now", AfterMS: 1 << 62}, "", fault.Invalid},
		{wire.InProgress, wire.TransitionIn{Action: "explode", Token: "now"}, "", fault.Invalid},
		{wire.Runnable, wire.TransitionIn{Action: "complete"}, "", fault.Conflict},
		{wire.Runnable, wire.TransitionIn{Action: "status", Stage: wire.Done}, "", fault.Conflict},
		{wire.Runnable, wire.TransitionIn{Action: "status", Stage: wire.InProgress}, "", fault.Conflict},
		{wire.Runnable, wire.TransitionIn{Action: "status", Stage: wire.Stuck}, wire.Stuck, fault.Internal},
		{wire.Stuck, wire.TransitionIn{Action: "retry"}, wire.Runnable, fault.Internal},
		{wire.Broken, wire.TransitionIn{Action: "retry"}, wire.Runnable, fault.Internal},
		{wire.Broken, wire.TransitionIn{Action: "complete"}, "", fault.Conflict},
		{wire.Done, wire.TransitionIn{Action: "retry"}, "", fault.Conflict},
		{wire.Done, wire.TransitionIn{Action: "status", Stage: wire.Runnable}, "", fault.Conflict},
	} {
		task := &wire.Task{ID: "t1", Stage: c.from, Rev: 4, Attempt: 1, MaxAttempts: 3}
		if c.from == wire.InProgress {
			task.Token, task.Holder, task.LeaseEnds = "now", "ann", &end
		}
		got, err := moves(task, c.in, now)
		if c.refused != fault.Internal {
			if err == nil || fault.KindOf(err) != c.refused {
				t.Errorf("%s %+v: %v, want %v", c.from, c.in, err, c.refused)
			}
			continue
		}
		if err != nil || got.Stage != c.to || got.Rev != 5 {
			t.Errorf("%s %+v: %+v, %v; want %s", c.from, c.in, got, err, c.to)
		}
	}
}

// A worker that was away longer than its lease finds its task with somebody else, and is refused whatever it reports: the fence.
func TestAnOldLeaseIsRefused(t *testing.T) {
	both(t, func(b *bench) {
		b.begin("r")
		must(b, ann, b.room.add, wire.AddIn{ID: "r", Tasks: []wire.TaskIn{{ID: "t1", Kind: "k"}}})
		first := must(b, ann, b.room.claim, wire.ClaimIn{ID: "r", Agent: "one", LeaseMS: 10_000})
		if first.Task == nil || first.Task.Token == "" || first.Task.Attempt != 1 {
			t.Fatalf("%+v", first.Task)
		}
		if out := must(b, ben, b.room.claim, wire.ClaimIn{ID: "r"}); out.Task != nil || out.Why != "of 1 tasks 1 are held" {
			t.Errorf("claimed while it is held: %+v", out)
		}
		_, err := do(b, ben, b.room.claim, wire.ClaimIn{ID: "r", Task: "t1"})
		b.refused("by its name while it is held", err, fault.Conflict)
		b.now = b.now.Add(9 * time.Second)
		must(b, ann, b.room.transition, wire.TransitionIn{ID: "r", Task: "t1", Action: "heartbeat", Token: first.Task.Token, LeaseMS: 10_000})
		b.now = b.now.Add(9 * time.Second)
		if out := must(b, ben, b.room.claim, wire.ClaimIn{ID: "r"}); out.Task != nil {
			t.Error("claimed although it said that it is at work")
		}
		b.now = b.now.Add(2 * time.Second)
		other := must(b, ben, b.room.claim, wire.ClaimIn{ID: "r", Agent: "two"})
		if other.Task == nil || other.Task.Attempt != 2 || other.Task.Token == first.Task.Token || other.Task.Holder != "ben" {
			t.Fatalf("%+v", other)
		}
		for _, action := range []string{"heartbeat", "complete", "fail", "block", "release"} {
			_, err := do(b, ann, b.room.transition, wire.TransitionIn{ID: "r", Task: "t1", Action: action, Token: first.Task.Token})
			b.refused(action+" with an old lease", err, fault.Conflict)
		}
		if task := b.show("r").List[0]; task.Stage != wire.InProgress || task.Agent != "two" || task.Token != "" {
			t.Errorf("%+v", task)
		}
		done := must(b, ben, b.room.transition, wire.TransitionIn{ID: "r", Task: "t1", Action: "complete", Token: other.Task.Token, Command: "d"})
		if done.Task.Stage != wire.Done || done.Task.Holder != "" || done.Task.Token != "" {
			t.Errorf("%+v", done.Task)
		}
		if twice := must(b, ben, b.room.transition, wire.TransitionIn{ID: "r", Task: "t1", Action: "complete", Command: "d"}); !twice.Again {
			t.Error("what is sent twice counted twice")
		}
		b.sound("r")
	})
}

// A claim that is sent again gives the same task with its lease, to the same worker alone, and no longer than it holds it.
func TestAClaimIsSentAgain(t *testing.T) {
	b := opened(t, filepath.Join(t.TempDir(), "a.db"))
	b.begin("r")
	must(b, ann, b.room.add, wire.AddIn{ID: "r", Tasks: []wire.TaskIn{{ID: "t1", Kind: "k"}, {ID: "t2", Kind: "k"}}})
	first := must(b, ann, b.room.claim, wire.ClaimIn{ID: "r", Command: "c"})
	if again := must(b, ann, b.room.claim, wire.ClaimIn{ID: "r", Command: "c"}); again.Task == nil || again.Task.Token != first.Task.Token ||
		!again.Again {
		t.Errorf("%+v", again)
	}
	_, err := do(b, ben, b.room.claim, wire.ClaimIn{ID: "r", Command: "c"})
	b.refused("the command of somebody else", err, fault.Conflict)
	_, err = do(b, ann, b.room.append, wire.AppendIn{ID: "r", Type: "step_started", Command: "c"})
	b.refused("the command of something else", err, fault.Conflict)
	must(b, ann, b.room.transition, wire.TransitionIn{ID: "r", Task: first.Task.ID, Action: "complete", Token: first.Task.Token})
	if late := must(b, ann, b.room.claim, wire.ClaimIn{ID: "r", Command: "c"}); late.Task != nil {
		t.Errorf("%+v", late.Task)
	}
}

// Tasks come by priority and by what they wait for; a run that is paused gives none; one whose last lease ran out has failed.
func TestWhichTaskComesNext(t *testing.T) {
	both(t, func(b *bench) {
		b.begin("r")
		must(b, ann, b.room.add, wire.AddIn{ID: "r", Tasks: []wire.TaskIn{
			{ID: "last", Kind: "k", After: []string{"late", "soon"}, Priority: 9},
			{ID: "late", Kind: "k", MaxAttempts: 2},
			{ID: "soon", Kind: "k", Priority: 5},
			{ID: "other", Kind: "o"}}})
		claim := func(in wire.ClaimIn) *wire.Task {
			b.Helper()
			in.ID = "r"
			return must(b, ann, b.room.claim, in).Task
		}
		end := func(task *wire.Task, action string) {
			b.Helper()
			must(b, ann, b.room.transition, wire.TransitionIn{ID: "r", Task: task.ID, Action: action, Token: task.Token, AfterMS: 60_000})
		}
		soon := claim(wire.ClaimIn{Kind: "k"})
		if soon == nil || soon.ID != "soon" {
			t.Fatalf("%+v", soon)
		}
		late := claim(wire.ClaimIn{Kind: "k"})
		if late == nil || late.ID != "late" || claim(wire.ClaimIn{Kind: "k"}) != nil {
			t.Fatalf("%+v", late)
		}
		end(soon, "complete")
		end(late, "release")
		if task := claim(wire.ClaimIn{Kind: "k"}); task != nil {
			t.Errorf("it was to wait a minute: %+v", task)
		}
		must(b, ann, b.room.append, wire.AppendIn{ID: "r", Type: "run_paused", Status: wire.Paused})
		_, err := do(b, ann, b.room.claim, wire.ClaimIn{ID: "r"})
		b.refused("a claim while it is paused", err, fault.Conflict)
		must(b, ann, b.room.append, wire.AppendIn{ID: "r", Type: "run_resumed", Status: wire.Running})
		b.now = b.now.Add(time.Minute)
		if late = claim(wire.ClaimIn{Kind: "k"}); late == nil || late.Attempt != 2 {
			t.Fatalf("%+v", late)
		}
		b.now = b.now.Add(time.Hour)
		if task := claim(wire.ClaimIn{Kind: "k"}); task != nil {
			t.Errorf("it was claimed twice already: %+v", task)
		}
		for _, task := range b.show("r").List {
			if task.ID == "late" && (task.Stage != wire.Broken || task.LastError == "") || task.ID == "last" && task.Waits != 1 {
				t.Errorf("%+v", task)
			}
		}
		if why := b.show("r").Waits; why != "" { // "other" is there
			t.Errorf("%q", why)
		}
		end(claim(wire.ClaimIn{}), "complete")
		if why := b.show("r").Waits; why != "of 4 tasks 1 wait for others, 1 are failed" {
			t.Errorf("%q", why)
		}
		b.sound("r")
	})
}
