package job

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/owner"
	"tandem/internal/session"
	"tandem/internal/session/checkout"
)

// script answers a job's calls of other rooms, and remembers their names.
type script struct {
	do    map[string]func(context.Context, any) (any, error)
	calls []string
}

func (s *script) Invoke(ctx context.Context, name string, in any) (any, error) {
	s.calls = append(s.calls, name)
	if s.do[name] == nil {
		return nil, fault.New(fault.NotFound, name, "there is none")
	}
	return s.do[name](ctx, in)
}

func (s *script) count(name string) (n int) {
	for _, c := range s.calls {
		if c == name {
			n++
		}
	}
	return n
}

// stands puts the job where a test begins.
func (a *alone) stands(fn func(*Job)) {
	a.t.Helper()
	if err := a.DB.Write(a.t.Context(), func(tx *db.Tx) (err error) {
		a.job, err = a.change(tx, "t", a.job.ID, func(j *Job) error { fn(j); return nil })
		return err
	}); err != nil {
		a.t.Fatal(err)
	}
}

func (a *alone) stop(discard bool) {
	a.t.Helper()
	ctx := op.WithCaller(a.t.Context(), op.Caller{Tenant: "t", Name: "ann"})
	if err := a.DB.Write(ctx, func(tx *db.Tx) error {
		_, err := a.move(ctx, tx, a.job.ID, Event{Kind: Stop, Discard: discard, Text: "ann stopped it"})
		return err
	}); err != nil {
		a.t.Fatal(err)
	}
}

// rest takes steps until nothing is left to do, as a worker does, without its pauses.
func (a *alone) rest() *Job {
	a.t.Helper()
	for range 20 {
		j, err := a.get(a.t.Context(), "t", a.job.ID)
		if err != nil {
			a.t.Fatal(err)
		}
		if !j.next() {
			return j
		}
		if err := a.step(a.t.Context(), j, &worker{woken: make(chan struct{}, 1)}); err != nil {
			a.t.Log(err)
		}
	}
	a.t.Fatal("there is always something left to do")
	return nil
}

// A job that is stopped while its words are on their way to the agent ends the turn that begins with them, however often it takes.
func TestAStopReachesAPromptOnItsWay(t *testing.T) {
	a := newAlone(t, "true")
	a.stands(func(j *Job) { j.State, j.Session, j.Prompt, j.Turns = wire.Working, "ses_1", "do it", 1 })
	open := 0
	s := &script{do: map[string]func(context.Context, any) (any, error){
		"session.prompt": func(context.Context, any) (any, error) {
			a.stop(false)
			open++
			return &session.Turn{ID: "turn_1"}, nil
		}}}
	s.do["session.cancel"] = func(context.Context, any) (any, error) {
		if s.count("session.cancel") < 3 {
			return nil, fault.New(fault.Unavailable, "session.cancel", "the database is away")
		}
		open--
		return session.CancelOut{OK: true, Cancelled: 1}, nil
	}
	a.Rooms = s
	if j := a.rest(); j.State != wire.Stopped || open != 0 {
		t.Errorf("it is %s, and %d turns go on: %v", j.State, open, s.calls)
	}
}

// What was being opened for a job that is stopped meanwhile is known to it: it goes with a discard, and a resume works there.
func TestAStopReachesAWorkspaceThatIsBeingOpened(t *testing.T) {
	for what, c := range map[string]struct{ discard, crash bool }{"stop": {}, "discard": {discard: true},
		"a crash": {discard: true, crash: true}} {
		t.Run(what, func(t *testing.T) {
			a := newAlone(t, "")
			a.job = &Job{Tenant: "t", Job: wire.Job{ID: "job_000001", State: wire.Planned, Task: "x", Agent: "m/m", Bound: 3, Folder: a.repo}}
			if err := a.DB.Write(t.Context(), func(tx *db.Tx) error { return a.insert(tx, a.job) }); err != nil {
				t.Fatal(err)
			}
			var made checkout.Checkout
			ctx, die := context.WithCancel(t.Context())
			discard := func(context.Context, any) (any, error) {
				return session.DiscardOut{OK: true}, a.Tools.Discard(t.Context(), made)
			}
			a.Rooms = &script{do: map[string]func(context.Context, any) (any, error){
				"session.checkout": func(_ context.Context, in any) (out any, err error) {
					a.stop(c.discard)
					made, err = a.Tools.Add(t.Context(), checkout.Worktree, a.repo, in.(session.CheckoutIn).Name)
					return made, err
				},
				"session.create": func(context.Context, any) (any, error) {
					if c.crash {
						die()
						return nil, context.Canceled
					}
					return &session.Session{ID: "ses_1", Model: "m/m"}, nil
				},
				"session.discard": discard, "session.cancel": func(context.Context, any) (any, error) { return session.CancelOut{}, nil },
			}}
			a.TakeBack = func(_ context.Context, _, path string) error {
				if path != made.Path {
					t.Errorf("%s is taken away, and %s was made", path, made.Path)
				}
				return a.Tools.Discard(t.Context(), made)
			}
			if err := a.step(ctx, a.job, &worker{woken: make(chan struct{}, 1)}); err != nil {
				t.Log(err)
			}
			j := a.rest()
			_, err := os.Stat(made.Path)
			if gone := os.IsNotExist(err); made.Path == "" || gone != c.discard || j.State != wire.Stopped || (j.Path == "") != c.discard {
				t.Fatalf("it is %s in %q, and %s is gone: %v", j.State, j.Path, made.Path, gone)
			}
			if c.discard {
				return
			}
			a.stands(func(j *Job) {
				if err := j.Apply(Event{Kind: Resume}, time.Now()); err != nil {
					t.Error(err)
				}
			})
			if err := a.step(t.Context(), a.job, nil); err != nil {
				t.Fatal(err)
			}
			if j, err := a.get(t.Context(), "t", a.job.ID); err != nil || j.State != wire.Working || !strings.HasPrefix(j.Prompt, "x\n") ||
				filepath.Clean(j.Path) != made.Path {
				t.Errorf("after a resume: %+v %v", j, err)
			}
		})
	}
}

// A turn whose work cannot be committed names the refs that it moved, as any other does.
func TestATurnThatCannotBeCommittedNamesWhatItMoved(t *testing.T) {
	a := newAlone(t, "true")
	a.stands(func(j *Job) { j.State, j.Session, j.Turns, j.Flight = wire.Working, "ses_1", 1, "turn_1" })
	if err := a.before(t.Context(), a.job); err != nil {
		t.Fatal(err)
	}
	a.git("branch", "of-the-agent")
	a.git("init", "-q", "nested") // a repository in the workspace is not committed
	a.write("nested/file", "x")
	a.Rooms = &script{do: map[string]func(context.Context, any) (any, error){
		"session.turns": func(context.Context, any) (any, error) {
			return session.TurnsOut{Turns: []*session.Turn{{ID: "turn_1", State: session.Done, CreatedAt: time.Now()}}}, nil
		}}}
	if j := a.rest(); j.State != wire.Stopped || len(j.Moved) != 1 || j.Moved[0].Ref != "refs/heads/of-the-agent" {
		t.Errorf("it is %s (%s), and names %v", j.State, j.Reason, j.Moved)
	}
}

// Of two servers on one database each works on the jobs of its own machine, whichever began later.
func TestAJobStaysOnItsMachine(t *testing.T) { onBoth(t, stays) }

func stays(t *testing.T, a *alone) {
	far := New(a.DB, a.Journal, a.Log, everybody)
	far.Owner = owner.Server{ID: "srv_far", Home: "hom_far", Fence: a.Owner.Fence + 1}
	if err := far.adopt(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := far.DB.Write(t.Context(), func(tx *db.Tx) error {
		_, err := far.change(tx, "t", "job_1", func(*Job) error { return nil })
		return err
	})
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("the later server changes another machine's job: %v", err)
	}
	if home, found, err := far.LivesAt(t.Context(), "t", "job_1"); home != "" || !found || err != nil {
		t.Errorf("it lives at %q: %v %v", home, found, err)
	}
	a.stands(func(j *Job) { j.State, j.ApprovedBy = wire.Queued, "bob" })
	if line, err := far.waiting(t.Context(), "t", a.repo, "main"); err != nil || len(line) != 0 {
		t.Errorf("the other machine's queue has it: %v %v", line, err)
	}
	if line, err := a.waiting(t.Context(), "t", a.repo, "main"); err != nil || len(line) != 1 {
		t.Errorf("its own queue: %v %v", line, err)
	}
	protect := func(r *Room, on bool) {
		t.Helper()
		if err := r.DB.Write(t.Context(), func(tx *db.Tx) error {
			_, err := r.changeQueue(tx, "t", a.repo, "main", func(q *wire.Queue) error { q.Protected = on; return nil })
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	protect(a.Room, true)
	protect(far, false)
	if q, err := a.queue(t.Context(), "t", a.repo, "main"); err != nil || !q.Protected {
		t.Errorf("another machine took the protection away: %+v %v", q, err)
	}
}

// Whoever stops a job ends its agent's turn, whatever its starter may still do: what that one may not see is not found for it. The
// workspace goes as well.
func TestAStopNeedsNoRightsOfTheStarter(t *testing.T) {
	for _, kind := range []fault.Kind{fault.Denied, fault.NotFound, fault.Unauthenticated, fault.Pending} {
		t.Run(kind.String(), func(t *testing.T) {
			a := newAlone(t, "")
			a.stands(func(j *Job) {
				j.State, j.Session, j.Agent, j.Turns, j.Flight, j.Prompt = wire.Working, "ses_1", "claude", 1, "turn_1", "do it"
			})
			refuse := func(context.Context, any) (any, error) { return nil, fault.New(kind, "gate", "no") }
			a.Rooms = &script{do: map[string]func(context.Context, any) (any, error){"session.cancel": refuse, "session.close": refuse,
				"session.discard": refuse}}
			var ended []bool
			a.End = func(_ context.Context, tenant, session string, program bool) error {
				if tenant != "t" || session != "ses_1" {
					t.Errorf("%s of %s is ended", session, tenant)
				}
				ended = append(ended, program)
				return nil
			}
			a.TakeBack = func(_ context.Context, _, path string) error { return os.RemoveAll(path) }
			a.stop(true)
			if j := a.rest(); j.State != wire.Stopped || j.Stays || j.Path != "" || j.Unended != "" || len(ended) != 2 || ended[0] || !ended[1] {
				t.Errorf("%+v, ended %v", j, ended)
			}
		})
	}
}
