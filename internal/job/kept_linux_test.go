package job

import (
	"context"
	"path/filepath"
	"testing"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/session"
)

// A restore takes queues with their protection, also on a machine with another home, and takes no workspace away that may have been worked
// in since the copy.
func TestARestoreKeepsWhatProtects(t *testing.T) {
	onBoth(t, func(t *testing.T, a *alone) {
		a.stands(func(j *Job) { j.State, j.Before, j.Opening = wire.Stopped, wire.Planned, true })
		if err := a.DB.Write(t.Context(), func(tx *db.Tx) error {
			for _, branch := range []string{"main", "other"} {
				if _, err := a.changeQueue(tx, "t", a.repo, branch, func(q *wire.Queue) error { q.Protected = true; return nil }); err != nil {
					return err
				}
			}
			a.Owner.Home = "hom_another"
			_, err := a.Restored(tx)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if q, err := a.queue(t.Context(), "t", a.repo, "main"); err != nil || !q.Protected || q.Home != "hom_another" {
			t.Errorf("%+v %v", q, err)
		}
		if j, err := a.get(t.Context(), "t", "job_1"); err != nil || j.Opening || j.State != wire.Stopped {
			t.Errorf("%+v %v", j, err)
		}
	})
}

// While the database is away a job looks for the end of its turn again; it does not stop, and nobody's turn is cancelled.
func TestABlinkEndsNoTurn(t *testing.T) {
	a := newAlone(t, "true")
	a.stands(func(j *Job) {
		j.State, j.Session, j.Agent, j.Turns, j.Flight = wire.Working, "ses_1", "m/m", 1, "turn_1"
	})
	a.Rooms = &script{do: map[string]func(context.Context, any) (any, error){
		"session.turns": func(context.Context, any) (any, error) {
			return session.TurnsOut{}, fault.New(fault.Unavailable, "db", "the database is away")
		}}}
	if err := a.follow(t.Context(), a.job, &worker{woken: make(chan struct{}, 1)}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("it goes on after %v", err)
	}
	if j, err := a.get(t.Context(), "t", "job_1"); err != nil || j.State != wire.Working || j.Hush {
		t.Errorf("%+v %v", j, err)
	}
}

// Whoever may not see a file hears nothing of what is said about it, also not by asking to send it to the agent.
func TestAnAskShowsNoCommentOnADeniedFile(t *testing.T) {
	a := newAlone(t, "")
	a.stands(func(j *Job) {
		j.State, j.Comments = wire.Review, []wire.Comment{{N: 1, File: "secret.txt", Line: 1, Text: "the word is hunter2", Commit: j.Commit}}
	})
	ctx := op.WithSight(op.WithCaller(t.Context(), op.Caller{Tenant: "t", Name: "bot", Kind: op.Agent}),
		op.Sight{File: func(path string) bool { return filepath.Base(path) != "secret.txt" }})
	if bound, err := a.bindBack(ctx, wire.BackIn{ID: "job_1"}); !fault.Is(err, fault.Denied) || len(bound) > 0 {
		t.Errorf("the ask shows %+v, %v", bound, err)
	}
	if err := a.DB.Write(ctx, func(tx *db.Tx) error {
		_, err := a.back(ctx, tx, wire.BackIn{ID: "job_1"})
		return err
	}); !fault.Is(err, fault.Denied) {
		t.Errorf("it was sent: %v", err)
	}
}
