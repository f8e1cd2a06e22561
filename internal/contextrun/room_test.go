package contextrun

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/internal/contextrun/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/testenv"
)

// bench is a room on a database of its own, with a clock that is set.
type bench struct {
	tester
	db   *db.DB
	room *Room
	now  time.Time
}

func at9() time.Time { return time.Date(2026, 11, 18, 9, 0, 0, 0, time.UTC) }

// tester is a test of the standard library, or one of rapid's.
type tester interface {
	Helper()
	Error(...any)
	Errorf(string, ...any)
	Fatal(...any)
}

func opened(t testing.TB, dsn string) *bench {
	b := openedBy(t, dsn)
	t.Cleanup(func() { b.db.Close() })
	return b
}

func openedBy(t tester, dsn string) *bench {
	b := &bench{tester: t, now: at9()}
	var err error
	if b.db, err = db.Open(context.Background(), dsn, func() time.Time { return b.now }); err != nil {
		t.Fatal(err)
	}
	if _, err := b.db.Migrate(context.Background(), Migrations); err != nil {
		t.Fatal(err)
	}
	b.room = New(b.db)
	return b
}

// both runs a test on both databases.
func both(t *testing.T, test func(*bench)) {
	t.Run("sqlite", func(t *testing.T) { test(opened(t, filepath.Join(t.TempDir(), "a.db"))) })
	t.Run("postgres", func(t *testing.T) { test(opened(t, testenv.Postgres(t))) })
}

// as is somebody of a tenant who may everything.
func as(tenant, name string) context.Context {
	c := op.Caller{Tenant: tenant, Actor: "act_" + name, Name: name, Kind: op.Agent}
	return op.WithMay(op.WithCaller(context.Background(), c), func(string, op.Resource) bool { return true })
}

var ann, ben = as("t", "ann"), as("t", "ben")

func do[In, Out any](b *bench, ctx context.Context, f func(context.Context, *db.Tx, In) (Out, error), in In) (out Out, err error) {
	err = b.db.Write(ctx, func(tx *db.Tx) (err error) {
		out, err = f(ctx, tx, in)
		return err
	})
	return out, err
}

// must is do for what has to work.
func must[In, Out any](b *bench, ctx context.Context, f func(context.Context, *db.Tx, In) (Out, error), in In) Out {
	b.Helper()
	out, err := do(b, ctx, f, in)
	if err != nil {
		b.Fatal(err)
	}
	return out
}

func (b *bench) refused(what string, err error, want fault.Kind) {
	b.Helper()
	if err == nil || fault.KindOf(err) != want {
		b.Errorf("%s: %v, want %v", what, err, want)
	}
}

func (b *bench) begin(id string) {
	b.Helper()
	must(b, ann, b.room.start, wire.StartIn{ID: id, Objective: "release", Folder: "/src/app",
		Steps: []wire.Step{{ID: "build", Title: "Build"}, {ID: "ship", Title: "Ship"}}})
}

func (b *bench) show(id string) wire.ShowOut {
	b.Helper()
	out, err := b.room.show(ann, wire.ShowIn{ID: id, Payloads: true})
	if err != nil {
		b.Fatal(err)
	}
	return out
}

// sound fails the test when the rows of a run say something else than its events, from the first and from the newest checkpoint.
func (b *bench) sound(id string) *wire.ReplayOut {
	b.Helper()
	for _, from := range []bool{true, false} {
		out, err := b.room.replay(ann, wire.ReplayIn{ID: id, Checkpoint: from})
		if err != nil {
			b.Fatal(err)
		}
		for _, d := range out.Drift {
			b.Errorf("%s: stored %s, replayed %s (from a checkpoint: %t)", d.What, d.Stored, d.Replayed, from)
		}
		if !from {
			return out
		}
	}
	return nil
}

func rev(n int64) *int64 { return &n }

// A run from its beginning to its end, as a client writes it.
func TestALife(t *testing.T) {
	both(t, func(b *bench) {
		b.begin("r")
		said := must(b, ann, b.room.append, wire.AppendIn{ID: "r", Type: "step_started", Status: wire.Running, Step: "build", IfRev: rev(1),
			Payload: json.RawMessage(`{"why_next_step":"it is the first", "note": [1, 2]}`), Command: "c1"})
		if r := said.Run; r.Revision != 2 || r.Status != wire.Running || r.Steps[0].Stage != wire.InProgress || r.Why != "it is the first" ||
			r.StartedAt == nil {
			t.Errorf("%+v", r)
		}
		if twice := must(b, ann, b.room.append, wire.AppendIn{ID: "r", Type: "step_started", Command: "c1"}); !twice.Again ||
			twice.Run.Revision != 2 || twice.Event.Seq != said.Event.Seq {
			t.Errorf("what is sent twice counted twice: %+v", twice.Run)
		}
		_, err := do(b, ann, b.room.append, wire.AppendIn{ID: "r", Type: "step_completed", Step: "build", IfRev: rev(1)})
		b.refused("an old revision", err, fault.Conflict)
		must(b, ann, b.room.append, wire.AppendIn{ID: "r", Type: "step_completed", Step: "build"})
		if next := must(b, ann, b.room.next, wire.NextIn{ID: "r"}); next.Step == nil || next.Step.ID != "ship" ||
			next.Step.Stage != wire.Runnable {
			t.Errorf("next is %+v", next.Step)
		}
		must(b, ann, b.room.patch, wire.PatchIn{ID: "r", Op: "add_fact", Text: "the tag is v3"})
		must(b, ann, b.room.patch, wire.PatchIn{ID: "r", Op: rolling, Text: "first"})
		must(b, ben, b.room.patch, wire.PatchIn{ID: "r", Op: rolling, Text: "second"})
		must(b, ann, b.room.patch, wire.PatchIn{ID: "r", Op: "add_artifact", Path: "dist/app", Type: "binary", Item: "a1"})
		_, err = do(b, ann, b.room.patch, wire.PatchIn{ID: "r", Op: "add_artifact", Path: "dist/other", Item: "a1"})
		b.refused("the same id on the blackboard", err, fault.Conflict)
		must(b, ann, b.room.checkpoint, wire.CheckpointIn{ID: "r", Reason: "before the end"})
		must(b, ann, b.room.append, wire.AppendIn{ID: "r", Type: "run_completed", Status: wire.Completed})
		_, err = do(b, ann, b.room.append, wire.AppendIn{ID: "r", Type: "late", Status: wire.Running})
		b.refused("a word after the end", err, fault.Conflict)
		out := b.sound("r")
		if out.Board.Rolling != "second" || len(out.Board.Facts) != 1 || out.Board.Artifacts[0].Path != "dist/app" || out.Run.EndedAt == nil {
			t.Errorf("%+v", out.Board)
		}
		then, err := b.room.replay(ann, wire.ReplayIn{ID: "r", Upto: 2})
		if err != nil || then.Run.Status != wire.Running || then.Run.Steps[0].Stage != wire.InProgress || then.Whole || len(then.Drift) != 0 {
			t.Errorf("as it stood then: %+v, %v", then, err)
		}
		must(b, ann, b.room.remove, wire.IDIn{ID: "r"})
		for _, table := range []string{"run", "event", "task", "need", "item", "checkpoint"} {
			var n int
			if err := b.db.QueryRow(ann, "SELECT count(*) FROM context_"+table).Scan(&n); err != nil || n != 0 {
				t.Errorf("%d rows of context_%s are left, %v", n, table, err)
			}
		}
	})
}

// A run that failed may go on; one that was cancelled does not.
func TestWhatHasEnded(t *testing.T) {
	b := opened(t, filepath.Join(t.TempDir(), "a.db"))
	b.begin("r")
	fact, task := wire.PatchIn{ID: "r", Op: "add_fact", Text: "y", Command: "f"}, []wire.TaskIn{{Kind: "k", Command: "t"}}
	must(b, ann, b.room.patch, fact)
	must(b, ann, b.room.add, wire.AddIn{ID: "r", Tasks: task})
	must(b, ann, b.room.append, wire.AppendIn{ID: "r", Type: "run_failed", Status: wire.Failed,
		Payload: json.RawMessage(`{"error":"no disk"}`)})
	if r := b.show("r"); r.LastError != "no disk" || r.EndedAt == nil {
		t.Errorf("%+v", r.Run)
	}
	if again := must(b, ann, b.room.patch, fact); !again.Again {
		t.Errorf("what came before the end: %+v", again)
	}
	if again := must(b, ann, b.room.add, wire.AddIn{ID: "r", Tasks: task}); len(again.Tasks) != 0 {
		t.Errorf("what came before the end: %+v", again)
	}
	_, err := do(b, ann, b.room.patch, wire.PatchIn{ID: "r", Op: "add_fact", Text: "x"})
	b.refused("the blackboard of what has ended", err, fault.Conflict)
	must(b, ann, b.room.append, wire.AppendIn{ID: "r", Type: "run_resumed", Status: wire.Running})
	if r := b.show("r"); r.EndedAt != nil {
		t.Errorf("it goes on, and has an end: %+v", r.Run)
	}
	_, err = do(b, ann, b.room.remove, wire.IDIn{ID: "r"})
	b.refused("delete what goes on", err, fault.Conflict)
	must(b, ann, b.room.append, wire.AppendIn{ID: "r", Type: "run_cancelled", Status: wire.Cancelled})
	_, err = do(b, ann, b.room.append, wire.AppendIn{ID: "r", Type: "run_resumed", Status: wire.Running})
	b.refused("cancelled is for good", err, fault.Conflict)
	b.sound("r")
}

// Whoever works elsewhere than the run is worked at pauses it.
func TestWhereItIsWorkedAt(t *testing.T) {
	b := opened(t, filepath.Join(t.TempDir(), "a.db"))
	must(b, ann, b.room.start, wire.StartIn{ID: "r", Objective: "x"})
	for _, c := range []struct {
		folder string
		ok     bool
		status wire.Status
	}{{"/src/app", true, wire.Queued}, {"/src/app", true, wire.Queued}, {"/src/other", false, wire.Paused}} {
		if out := must(b, ann, b.room.place, wire.PlaceIn{ID: "r", Folder: c.folder, Phase: "start"}); out.OK != c.ok || out.Status != c.status {
			t.Errorf("%s: %+v", c.folder, out)
		}
	}
	if r := b.show("r"); r.Folder != "/src/app" || r.Epoch != 1 || r.Events != 3 {
		t.Errorf("%+v", r.Run)
	}
	b.sound("r")
}

// Nothing of a tenant is there for another.
func TestAnotherTenant(t *testing.T) {
	both(t, func(b *bench) {
		b.begin("r")
		must(b, ann, b.room.add, wire.AddIn{ID: "r", Tasks: []wire.TaskIn{{ID: "t1", Kind: "k"}}})
		mal := as("u", "mal")
		for what, err := range map[string]error{
			"show":       second(b.room.show(mal, wire.ShowIn{ID: "r"})),
			"events":     second(b.room.events(mal, wire.EventsIn{ID: "r"})),
			"board":      second(b.room.board(mal, wire.IDIn{ID: "r"})),
			"replay":     second(b.room.replay(mal, wire.ReplayIn{ID: "r"})),
			"marks":      second(b.room.checkpoints(mal, wire.IDIn{ID: "r"})),
			"append":     second(do(b, mal, b.room.append, wire.AppendIn{ID: "r", Type: "x"})),
			"next":       second(do(b, mal, b.room.next, wire.NextIn{ID: "r"})),
			"place":      second(do(b, mal, b.room.place, wire.PlaceIn{ID: "r", Folder: "/x"})),
			"add":        second(do(b, mal, b.room.add, wire.AddIn{ID: "r", Tasks: []wire.TaskIn{{Kind: "k"}}})),
			"claim":      second(do(b, mal, b.room.claim, wire.ClaimIn{ID: "r"})),
			"transition": second(do(b, mal, b.room.transition, wire.TransitionIn{ID: "r", Task: "t1", Action: "complete"})),
			"patch":      second(do(b, mal, b.room.patch, wire.PatchIn{ID: "r", Op: "add_fact", Text: "x"})),
			"checkpoint": second(do(b, mal, b.room.checkpoint, wire.CheckpointIn{ID: "r"})),
			"remove":     second(do(b, mal, b.room.remove, wire.IDIn{ID: "r"})),
		} {
			b.refused(what, err, fault.NotFound)
		}
		if out, err := b.room.list(mal, wire.ListIn{}); err != nil || len(out.Runs) != 0 {
			t.Errorf("listed: %+v, %v", out, err)
		}
		must(b, mal, b.room.start, wire.StartIn{ID: "r", Objective: "their own"})
		if r := b.show("r"); r.Objective != "release" || r.Events != 2 {
			t.Errorf("%+v", r.Run)
		}
	})
}

func needing(id, need string) wire.TaskIn {
	return wire.TaskIn{ID: id, Kind: "k", After: []string{need}}
}

func second[T any](_ T, err error) error { return err }

// What makes no sense, or would grow for ever, is refused and changes nothing.
func TestHostileInputs(t *testing.T) {
	both(t, func(b *bench) {
		b.begin("r")
		huge := json.RawMessage(`{"x":"` + strings.Repeat("y", maxPayload) + `"}`)
		lots := make([]wire.TaskIn, 10_000)
		for i := range lots {
			lots[i].Kind = "k"
		}
		steps := make([]wire.Step, maxSteps+1)
		for i := range steps {
			steps[i].ID = fmt.Sprint("s", i)
		}
		listed, _ := json.Marshal(map[string]any{"steps": steps})
		start := func(in wire.StartIn) error { return second(do(b, ann, b.room.start, in)) }
		say := func(in wire.AppendIn) error { in.ID = "r"; return second(do(b, ann, b.room.append, in)) }
		add := func(in ...wire.TaskIn) error { return second(do(b, ann, b.room.add, wire.AddIn{ID: "r", Tasks: in})) }
		write := func(in wire.PatchIn) error { in.ID = "r"; return second(do(b, ann, b.room.patch, in)) }
		for what, err := range map[string]error{
			"no objective":               start(wire.StartIn{}),
			"an id that is a path":       start(wire.StartIn{ID: "../x", Objective: "x"}),
			"a folder that is none":      start(wire.StartIn{Objective: "x", Folder: "rel/ative"}),
			"a folder that climbs":       start(wire.StartIn{Objective: "x", Folder: "/a/../b"}),
			"two steps of one id":        start(wire.StartIn{Objective: "x", Steps: []wire.Step{{ID: "a"}, {ID: "a"}}}),
			"an objective with a zero":   start(wire.StartIn{Objective: "a\x00b"}),
			"an endless objective":       start(wire.StartIn{Objective: strings.Repeat("x", maxObjective+1)}),
			"a source that is a list":    start(wire.StartIn{Objective: "x", Source: json.RawMessage(`[]`)}),
			"a huge payload":             say(wire.AppendIn{Type: "x", Payload: huge}),
			"a payload that is not JSON": say(wire.AppendIn{Type: "x", Payload: json.RawMessage(`{`)}),
			"a payload that is a list":   say(wire.AppendIn{Type: "x", Payload: json.RawMessage(`[1]`)}),
			"steps that are text":        say(wire.AppendIn{Type: "x", Payload: json.RawMessage(`{"steps":"all"}`)}),
			"a status that is none":      say(wire.AppendIn{Type: "x", Status: "great"}),
			"a type of tandem's own":     say(wire.AppendIn{Type: "context.task.created"}),
			"a type that is a sentence":  say(wire.AppendIn{Type: "it is done"}),
			"a folder by the back door":  say(wire.AppendIn{Type: "context.folder.settled", Payload: json.RawMessage(`{"folder":"/etc"}`)}),
			"too many steps":             say(wire.AppendIn{Type: "x", Payload: listed}),
			"an endless title of a step": say(wire.AppendIn{Type: "x", Step: "a",
				Payload: json.RawMessage(`{"step_title":"` + strings.Repeat("x", maxTitle+1) + `"}`)}),
			"no tasks":                    add(),
			"10,000 tasks":                add(lots...),
			"a task of no kind":           add(wire.TaskIn{ID: "a"}),
			"a task for itself":           add(wire.TaskIn{ID: "a", Kind: "k", After: []string{"a"}}),
			"a circle":                    add(needing("a", "b"), needing("b", "c"), needing("c", "a")),
			"two tasks of one id":         add(wire.TaskIn{ID: "a", Kind: "k"}, wire.TaskIn{ID: "a", Kind: "k"}),
			"two tasks of one command":    add(wire.TaskIn{Kind: "k", Command: "c"}, wire.TaskIn{Kind: "k", Command: "c"}),
			"a need that is not there":    add(wire.TaskIn{Kind: "k", After: []string{"nowhere"}}),
			"a task that is done already": add(wire.TaskIn{Kind: "k", Stage: wire.Done}),
			"a huge task":                 add(wire.TaskIn{Kind: "k", Payload: huge}),
			"a fact without words":        write(wire.PatchIn{Op: "add_fact"}),
			"an op that is none":          write(wire.PatchIn{Op: "drop_all", Text: "x"}),
			"a task on the blackboard":    write(wire.PatchIn{Op: "add_task", Text: "x"}),
			"an endless fact":             write(wire.PatchIn{Op: "add_fact", Text: strings.Repeat("x", maxText+1)}),
			"a lease of a day":            second(do(b, ann, b.room.claim, wire.ClaimIn{ID: "r", LeaseMS: 86_400_000})),
			"a lease of ever":             second(do(b, ann, b.room.claim, wire.ClaimIn{ID: "r", LeaseMS: 1 << 62})),
		} {
			b.refused(what, err, fault.Invalid)
		}
		if r := b.show("r"); r.Events != 1 || len(r.List) != 0 {
			t.Errorf("something was changed: %+v", r.Run)
		}
		for i := range maxTasks / maxBatch {
			if err := add(lots[:maxBatch]...); err != nil {
				t.Fatalf("%d: %v", i, err)
			}
		}
		b.refused("a task more", add(wire.TaskIn{Kind: "k"}), fault.Exhausted)
		b.sound("r")
	})
}

// A run that is full takes nothing more, and can still be ended.
func TestAFullRunCanBeEnded(t *testing.T) {
	b := opened(t, filepath.Join(t.TempDir(), "a.db"))
	b.begin("r")
	must(b, ann, b.room.add, wire.AddIn{ID: "r", Tasks: []wire.TaskIn{{ID: "t1", Kind: "k"}, {ID: "t2", Kind: "k"}}})
	got := must(b, ann, b.room.claim, wire.ClaimIn{ID: "r", Task: "t1"})
	if err := b.db.Write(ann, func(tx *db.Tx) error {
		return second(tx.Exec("UPDATE context_run SET bytes = ?", maxBytes))
	}); err != nil {
		t.Fatal(err)
	}
	_, err := do(b, ann, b.room.append, wire.AppendIn{ID: "r", Type: "x"})
	b.refused("more", err, fault.Exhausted)
	_, err = do(b, ann, b.room.claim, wire.ClaimIn{ID: "r", Task: "t2"})
	b.refused("a claim", err, fault.Exhausted)
	say := wire.TransitionIn{ID: "r", Task: "t1", Token: got.Task.Token, Action: "heartbeat"}
	_, err = do(b, ann, b.room.transition, say)
	b.refused("a heartbeat", err, fault.Exhausted)
	say.Action = "complete" // whoever did it says so: the work was lost, and its task was claimed again by nobody
	must(b, ann, b.room.transition, say)
	must(b, ann, b.room.append, wire.AppendIn{ID: "r", Type: "run_completed", Status: wire.Completed})
	b.sound("r")
}

// There are so many runs and no more.
func TestSoManyRuns(t *testing.T) {
	b := opened(t, filepath.Join(t.TempDir(), "a.db"))
	b.room.Runs.Most = 2
	b.begin("a")
	b.begin("b")
	_, err := do(b, ann, b.room.start, wire.StartIn{Objective: "x"})
	b.refused("one more", err, fault.Exhausted)
	out, err := b.room.list(ann, wire.ListIn{Limit: 1})
	if err != nil || len(out.Runs) != 1 || !out.More || out.Runs[0].ID != "b" {
		t.Errorf("%+v, %v", out, err)
	}
	hidden := op.WithMay(ann, func(right string, r op.Resource) bool { return r.Path != "/b" })
	if out, err = b.room.list(hidden, wire.ListIn{Limit: 1}); err != nil || len(out.Runs) != 1 || out.Runs[0].ID != "a" {
		t.Errorf("without what may not be seen: %+v, %v", out, err)
	}
}

// Whoever changes rows behind the events is found out.
func TestDriftIsNamed(t *testing.T) {
	both(t, func(b *bench) {
		for _, c := range []struct{ sql, want string }{
			{"UPDATE context_run SET status = 'completed'", "status"},
			{`UPDATE context_run SET body = replace(body, '"Build"', '"Burn"')`, "steps"},
			{"UPDATE context_task SET stage = 'done'", "task t1 stage"},
			{"UPDATE context_task SET attempt = 7", "task t1 attempt"},
			{"DELETE FROM context_task", "task t1"},
			{"DELETE FROM context_item", "blackboard facts"},
			{`UPDATE context_item SET body = replace(body, 'v3', 'v4')`, "blackboard facts"},
			{"DELETE FROM context_event WHERE seq = 2", "event 2"},
			{"DELETE FROM context_event WHERE seq = 3", "event 3"},
		} {
			b.begin("r")
			must(b, ann, b.room.add, wire.AddIn{ID: "r", Tasks: []wire.TaskIn{{ID: "t1", Kind: "k"}}})
			must(b, ann, b.room.patch, wire.PatchIn{ID: "r", Op: "add_fact", Text: "the tag is v3"})
			b.sound("r")
			if err := b.db.Write(ann, func(tx *db.Tx) error { return second(tx.Exec(c.sql)) }); err != nil {
				t.Fatal(err)
			}
			out, err := b.room.replay(ann, wire.ReplayIn{ID: "r"})
			if err != nil || !slices.ContainsFunc(out.Drift, func(d wire.Drift) bool { return d.What == c.want }) {
				t.Errorf("%s: %+v, %v; want %s", c.sql, out, err, c.want)
			}
			if err := b.db.Write(ann, func(tx *db.Tx) error {
				for _, table := range []string{"run", "event", "task", "need", "item", "checkpoint"} {
					if _, err := tx.Exec("DELETE FROM context_" + table); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Of all who claim at once each gets a task of its own, and one more gets none.
func TestClaimersRace(t *testing.T) {
	both(t, func(b *bench) {
		b.begin("r")
		const count = 12
		list := make([]wire.TaskIn, count)
		for i := range list {
			list[i] = wire.TaskIn{ID: fmt.Sprint("t", i), Kind: "k"}
		}
		must(b, ann, b.room.add, wire.AddIn{ID: "r", Tasks: list})
		var all sync.WaitGroup
		var mu sync.Mutex
		got := map[string]int{}
		for i := range count + 4 {
			all.Go(func() {
				out, err := do(b, as("t", fmt.Sprint("worker", i)), b.room.claim, wire.ClaimIn{ID: "r"})
				if err != nil {
					b.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				if out.Task == nil {
					got["none: "+out.Why]++
				} else {
					got[out.Task.ID]++
				}
			})
		}
		all.Wait()
		for i := range count {
			if n := got[fmt.Sprint("t", i)]; n != 1 {
				t.Errorf("t%d was claimed %d times", i, n)
			}
		}
		if got["none: of 12 tasks 12 are held"] != 4 {
			t.Errorf("%v", got)
		}
		b.sound("r")
	})
}
