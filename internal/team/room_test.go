package team

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	job "tandem/internal/job/wire"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/owner"
	"tandem/internal/provider"
	"tandem/internal/session"
	"tandem/internal/session/checkout"
	"tandem/internal/team/wire"
	"tandem/internal/testenv"
)

// rooms stand in for sessions and jobs behind the gate: they outlive the server, as rows do, and know their keys.
type rooms struct {
	mu      sync.Mutex
	prompts []string
	keys    map[string]any
	asked   map[string]string
	before  func(in any) // of each call
	denied  bool         // the starter may do nothing any more
	jobs    map[string]*job.Job
	answer  func(prompt string) string
	starts  int
}

func (s *rooms) Invoke(ctx context.Context, name string, in any) (any, error) {
	if s.before != nil {
		s.before(in)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if s.denied {
		return nil, fault.New(fault.Denied, name, "ann may not do that")
	}
	key, words := name+op.CallerFrom(ctx).Idempotency, fmt.Sprintf("%+v", in)
	if was, there := s.keys[key]; there && op.CallerFrom(ctx).Idempotency != "" {
		if s.asked[key] != words {
			return nil, fault.New(fault.Conflict, name, "the idempotency key was used for something else")
		}
		return was, nil
	}
	out, err := s.invoke(name, in)
	if err == nil {
		s.keys[key], s.asked[key] = out, words
	}
	return out, err
}

// Halt is how the room of jobs stops one.
func (s *rooms) Halt(_ context.Context, _, id, team, _ string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[id]
	if !j.State.Waits() {
		j.State, j.StoppedBy = job.Stopped, team
	}
	return j.State == job.Stopped && j.StoppedBy == team, nil
}

func (s *rooms) invoke(name string, in any) (any, error) {
	one := func(id string) (*job.Job, error) {
		j := *s.jobs[id]
		return &j, nil
	}
	switch in := in.(type) {
	case session.CreateIn:
		return &session.Session{ID: "ses_1"}, nil
	case session.PromptIn:
		s.prompts = append(s.prompts, in.Text)
		return &session.Turn{ID: fmt.Sprint("turn_", len(s.prompts))}, nil
	case session.TurnIn:
		return session.TurnsOut{Turns: []*session.Turn{{ID: in.Turn, State: session.Done}}}, nil
	case session.IDIn:
		var out session.MessagesOut
		for i, p := range s.prompts {
			out.Messages = append(out.Messages, &session.Message{Turn: fmt.Sprint("turn_", i+1), Role: session.RoleAssistant,
				Blocks: []provider.Block{{Kind: provider.Text, Text: s.answer(p)}}})
		}
		return out, nil
	case job.StartIn:
		s.starts++
		j := &job.Job{ID: fmt.Sprint("job_", s.starts), State: job.Working, Task: in.Task, Budget: in.Budget, Onto: in.Onto}
		s.jobs[j.ID] = j
		return one(j.ID)
	case job.SendIn:
		s.jobs[in.ID].State = job.Working
		return one(in.ID)
	case job.ResumeIn:
		j := s.jobs[in.ID]
		j.State, j.StoppedBy = job.Working, ""
		return one(in.ID)
	case job.IDIn:
		return one(in.ID)
	}
	return nil, fault.New(fault.NotFound, "rooms", "there is no %T", in)
}

func (s *rooms) set(id string, state job.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs[id].State, s.jobs[id].Commit = state, "c"
}

// house is a database, a repository and the rooms around a team's.
type house struct {
	db   *db.DB
	far  *rooms
	home string
	env  []string
	key  ed25519.PrivateKey
}

func build(t *testing.T) *house {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	for _, args := range [][]string{{"init", "-q", "-b", "main", home}, {"-C", home, "-c", "user.name=t", "-c", "user.email=t@example.org",
		"commit", "-q", "--allow-empty", "-m", "first"}} {
		cmd := exec.Command("git", args...)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git: %v\n%s", err, out)
		}
	}
	d, err := db.Open(t.Context(), filepath.Join(home, "a.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if _, err := d.Migrate(t.Context(), journal.Migrations, Migrations); err != nil {
		t.Fatal(err)
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &house{db: d, home: home, env: env, key: key, far: &rooms{keys: map[string]any{}, asked: map[string]string{},
		jobs: map[string]*job.Job{}, answer: func(string) string { return plan }}}
}

// room is the room of teams of the server with that fence.
func (h *house) room(fence int64) *Room {
	r := New(h.db, journal.New(h.db, h.key), slog.New(slog.DiscardHandler), func(context.Context, op.Caller) error { return nil })
	r.Rooms, r.Halt, r.Tools, r.Owner = h.far, h.far.Halt, checkout.Tools{Env: h.env}, owner.Server{ID: fmt.Sprint(fence), Fence: fence}
	return r
}

// A server that dies before any step of a team is followed by one that goes on: the lead is asked once, each task becomes one job, no task
// begins before those that it comes after are merged, and a team that waits for a person calls nobody.
func TestATeamOutlivesTheServer(t *testing.T) {
	h := build(t)
	d, far := h.db, h.far
	fence := int64(0)
	serve := func() (*Room, context.CancelFunc, chan struct{}) {
		fence++
		ctx, cancel := context.WithCancel(t.Context())
		r := h.room(fence)
		steps := 0
		r.Step = func(*Team) {
			if steps++; steps == 2 { // each server dies before its second step
				cancel()
			}
		}
		ended := make(chan struct{})
		go func() { defer close(ended); r.Run(ctx) }()
		return r, cancel, ended
	}
	r, cancel, ended := serve()
	caller := op.WithCaller(t.Context(), op.Caller{Tenant: "t", Actor: "act_1", Name: "ann", Kind: op.Person})
	made, err := r.start(caller, wire.StartIn{Goal: "g", Folder: h.home, Lead: "m/m", Agents: 2, Budget: job.Budget{Turns: 10}})
	if err != nil {
		t.Fatal(err)
	}
	until := func(what string, ok func(*Team) bool) *Team {
		t.Helper()
		var last *Team
		if !testenv.Within(2*time.Minute, func() bool {
			select {
			case <-ended:
				r, cancel, ended = serve()
			default:
			}
			r.Rouse()
			if last, err = r.get(t.Context(), "t", made.ID); err != nil {
				t.Fatal(err)
			}
			return ok(last)
		}) {
			t.Fatalf("%s: it is %s (%s)", what, last.State, last.Reason)
		}
		return last
	}
	stages := func(want string) func(*Team) bool {
		return func(t *Team) bool {
			var all []string
			for _, k := range t.Tasks {
				all = append(all, string(k.Stage))
			}
			return strings.Join(all, ",") == want
		}
	}
	move := func(e Event) {
		t.Helper()
		if err := d.Write(caller, func(tx *db.Tx) error { _, err := r.move(caller, tx, made.ID, e); return err }); err != nil {
			t.Fatal(err)
		}
	}
	team := until("a plan", func(t *Team) bool { return t.State == wire.Proposed })
	move(Event{Kind: Approved, Version: team.Version, By: "ann"})
	team = until("two jobs", stages("at work,waits,at work"))
	for _, j := range far.jobs {
		if j.Budget.Turns != 2 || j.Onto != "main" {
			t.Errorf("a job has %+v for %s", j.Budget, j.Onto)
		}
	}
	far.set(team.Tasks[0].Job, job.Review)
	far.set(team.Tasks[2].Job, job.Merged)
	until("one in review", stages("in review,waits,merged"))
	far.set(team.Tasks[0].Job, job.Merged)
	team = until("the one that comes after", stages("merged,at work,merged"))
	far.set(team.Tasks[1].Job, job.Merged)
	team = until("the end", func(t *Team) bool { return t.State == wire.Done })
	cancel()
	<-ended
	if len(far.prompts) != 1 || far.starts != 3 || !strings.Contains(team.Report, "3 of 3 tasks were merged into main") {
		t.Errorf("the lead was asked %d times, %d jobs were started: %s", len(far.prompts), far.starts, team.Report)
	}
}
