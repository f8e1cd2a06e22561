package job

import (
	"context"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/provider"
	"tandem/internal/session"
	"tandem/internal/session/terminal"
)

// Another agent takes a job over: the one before it is gone first, the workspace, the commits and what is left of the budget are the same,
// and it hears the task that it never heard. What a crash left half opened goes, and nobody is opened twice under one name.
func TestAnotherAgentTakesAJobOver(t *testing.T) {
	for _, to := range []string{"codex", "m/two"} {
		t.Run(to, func(t *testing.T) {
			a := newAlone(t, "true")
			was := a.job.Commit
			a.job = &Job{Tenant: "t", Job: wire.Job{ID: "job_000001", State: wire.Review, Task: "do it", Check: "true", Seconds: 60, Bound: 3,
				Repo: a.repo, Base: a.job.Base, Commit: was, Verdict: wire.Green, Session: "ses_1", Path: "/r-job", Folder: "/r/sub", Turns: 2,
				Agent: "m/one", Budget: wire.Budget{Turns: 10}}, Work: "/r-job/sub", Try: 1, Seat: "job-000001"}
			if err := a.DB.Write(t.Context(), func(tx *db.Tx) error { return a.insert(tx, a.job) }); err != nil {
				t.Fatal(err)
			}
			var closed, opened []string
			var heard string
			var budget session.Budget
			crash := true
			seat := func(name string, b session.Budget) (string, error) {
				opened, budget = append(opened, name), b
				if crash {
					crash = false
					return "", fault.New(fault.Unavailable, "session.open", "the server ends here")
				}
				return "ses_2", nil
			}
			s := &script{do: map[string]func(context.Context, any) (any, error){
				"session.close": func(_ context.Context, in any) (any, error) {
					closed = append(closed, in.(terminal.NameIn).Name)
					return terminal.Seat{}, nil
				},
				"session.open": func(_ context.Context, in any) (any, error) {
					o := in.(terminal.OpenIn)
					if o.Checkout != "/r-job" || o.Cwd != "/r/sub" || o.Worktree {
						t.Errorf("it is opened in %+v", o)
					}
					id, err := seat(o.Name, o.Budget)
					return terminal.Seat{Session: id}, err
				},
				"session.create": func(_ context.Context, in any) (any, error) {
					c := in.(session.CreateIn)
					if c.Directory != "/r-job/sub" || c.Model != "m/two" {
						t.Errorf("it is opened in %+v", c)
					}
					id, err := seat(c.Title, c.Config.Budget)
					return &session.Session{ID: id, Model: c.Model}, err
				},
				"session.prompt": func(_ context.Context, in any) (any, error) {
					heard = in.(session.PromptIn).Text
					if in.(session.PromptIn).ID != "ses_2" {
						t.Errorf("%s is prompted", in.(session.PromptIn).ID)
					}
					return &session.Turn{ID: "turn_1"}, nil
				},
				"session.live": func(context.Context, any) (any, error) {
					return terminal.SeatsOut{Sessions: []terminal.Seat{{Session: "ses_2", State: terminal.Ready}}}, nil
				},
			}}
			a.Rooms = s
			a.Used = func(context.Context, string) (session.Used, error) {
				return session.Used{Turns: 7, Cost: provider.Nano(1)}, nil
			}
			a.stands(func(j *Job) {
				if err := j.Apply(Event{Kind: Told, Text: "and louder", Agent: to}, time.Now()); err != nil {
					t.Fatal(err)
				}
			})
			for range 10 {
				j, err := a.get(t.Context(), "t", a.job.ID)
				if err != nil {
					t.Fatal(err)
				}
				if j.State == wire.Stopped { // the crash
					a.stands(func(j *Job) {
						if err := j.Apply(Event{Kind: Resume}, time.Now()); err != nil {
							t.Fatal(err)
						}
					})
					continue
				}
				if j.Flight != "" {
					break
				}
				if err := a.step(t.Context(), j, &worker{woken: make(chan struct{}, 1)}); err != nil {
					t.Log(err)
				}
			}
			j, err := a.get(t.Context(), "t", a.job.ID)
			if err != nil || j.Session != "ses_2" || j.Agent != to || j.Taker != "" || j.Path != "/r-job" || j.Commit != was ||
				strings.Join(j.Former, " ") != "ses_1" {
				t.Fatalf("%+v %v", j, err)
			}
			if len(opened) != 2 || opened[0] == opened[1] || j.Seat != opened[1] {
				t.Errorf("opened were %q, and it sits at %s", opened, j.Seat)
			}
			if strings.Join(closed, " ") != j.seat(1)+" "+opened[0] {
				t.Errorf("closed were %q, and opened %q", closed, opened)
			}
			if budget.Turns != 3 {
				t.Errorf("of 10 turns 7 are used, and it has %d", budget.Turns)
			}
			for _, part := range []string{"You take this over from another agent", j.Task, "and louder"} {
				if !strings.Contains(heard, part) {
					t.Errorf("it does not hear %q: %s", part, heard)
				}
			}
		})
	}
}

// A job whose budget is used up is not handed to somebody with a new one, and one in whose turn its agent works is stopped first.
func TestNoHandoverPastABudgetOrATurn(t *testing.T) {
	a := newAlone(t, "true")
	a.stands(func(j *Job) {
		j.State, j.Agent, j.Session, j.Taker, j.Seat, j.Prompt, j.Turns = wire.Working, "m/one", "ses_1", "m/two", "job-x", "more", 2
		j.Budget = wire.Budget{Tokens: 10}
	})
	a.Rooms = &script{do: map[string]func(context.Context, any) (any, error){
		"session.close": func(context.Context, any) (any, error) {
			t.Error("its agent is ended, and no other one may begin")
			return terminal.Seat{}, nil
		}}}
	a.Used = func(context.Context, string) (session.Used, error) { return session.Used{Tokens: 10}, nil }
	if err := a.step(t.Context(), a.job, nil); err != nil {
		t.Fatal(err)
	}
	j, err := a.get(t.Context(), "t", a.job.ID)
	if err != nil || j.State != wire.Stopped || j.Taker != "" || !strings.Contains(j.Reason, "10tokens is used up") {
		t.Errorf("it is %s: %s %v", j.State, j.Reason, err)
	}
	for _, e := range []Event{{Kind: Told, Text: "x", Agent: "codex"}, {Kind: Resume, Agent: "codex"}} {
		busy := fresh("x")
		for _, before := range []Event{opened, prompted} {
			if err := busy.Apply(before, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		if err := busy.Apply(e, time.Now()); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", e.Kind, err)
		}
	}
	priced := fresh("x")
	priced.State, priced.Session, priced.Budget.Cents = wire.Review, "ses_1", 5
	if err := priced.Apply(Event{Kind: Told, Text: "x", Agent: "codex"}, time.Now()); !fault.Is(err, fault.Invalid) {
		t.Errorf("a budget in money and a program: %v", err)
	}
}
