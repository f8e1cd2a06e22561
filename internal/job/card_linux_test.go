package job

import (
	"context"
	"strings"
	"testing"

	"tandem/internal/board"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/space/peer"
)

// cards are a board behind the gate: one task, which somebody may have taken.
type cards struct {
	status, holder string
	away           int // how often it does not answer
	result         string
}

func (c *cards) rooms() *script {
	return &script{do: map[string]func(context.Context, any) (any, error){
		"board.show": func(context.Context, any) (any, error) {
			return peer.BoardOut{SpaceID: "spc_1", Tasks: []peer.Line{{Task: board.Task{ID: "T-a1b2c3"}, CreatorName: "bob",
				TaskWords: peer.TaskWords{Title: "mend it", Description: "all of it"}}}}, nil
		},
		"board.update": func(_ context.Context, in any) (any, error) {
			u := in.(peer.UpdateIn)
			if c.away--; c.away >= 0 {
				return nil, fault.New(fault.Unavailable, "space", "the host is away")
			}
			if c.holder != "" && c.holder != "me" {
				return nil, fault.New(fault.Conflict, "board", "T-a1b2c3 is held by %s", c.holder)
			}
			c.status, c.holder, c.result = u.Status, "me", u.Result
			return peer.Tasked{}, nil
		}}}
}

// A task of a board is taken before the job begins, and told what became of the job once, also when the board does not answer at first.
func TestACardHearsWhatBecameOfItsJob(t *testing.T) {
	a := newAlone(t, "")
	c := &cards{status: "open", away: 1}
	a.Rooms = c.rooms()
	a.job = &Job{Tenant: "t", Job: wire.Job{ID: "job_000002", State: wire.Planned, From: "T-a1b2c3", Named: "app"}}
	a.Served = func(_ context.Context, name string) (string, error) { return "/srv/" + name, nil }
	if err := a.DB.Write(t.Context(), func(tx *db.Tx) error { return a.insert(tx, a.job) }); err != nil {
		t.Fatal(err)
	}
	if err := a.step(t.Context(), a.job, nil); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a board that is away stops the job: %v", err)
	}
	if err := a.step(t.Context(), a.job, nil); err != nil {
		t.Fatal(err)
	}
	j, err := a.get(t.Context(), "t", "job_000002")
	if err != nil || !strings.HasPrefix(j.Task, "mend it\n\nall of it") || !strings.Contains(j.Task, "bob") || j.Folder != "/srv/app" ||
		j.Space != "spc_1" || j.Card != taken || c.status != taken {
		t.Fatalf("%+v %v, the card is %s", j, err, c.status)
	}
	if !a.Keeps(t.Context(), "t", "spc_1", "T-a1b2c3") || a.Keeps(t.Context(), "t", "spc_2", "T-a1b2c3") {
		t.Error("its holder does not keep the task, or one of another space")
	}
	c.away = 2
	a.stands(func(j *Job) { j.State, j.Commit, j.MergedBy, j.Onto = wire.Merged, "abc", "ann", "main" })
	if j = a.rest(); j.Card != finished || c.status != finished || !strings.Contains(c.result, "ann merged abc into main") {
		t.Errorf("it is %s, and the card %s: %s", j.Card, c.status, c.result)
	}
	if a.Keeps(t.Context(), "t", "spc_1", "T-a1b2c3") {
		t.Error("a merged job keeps its task")
	}
	seen := op.WithMay(op.WithCaller(t.Context(), op.Caller{Tenant: "t"}), func(string, op.Resource) bool { return true })
	if got := a.Cards(seen, "spc_1")["T-a1b2c3"]; got.ID != "job_000002" || got.State != "merged" {
		t.Errorf("the card shows %+v", got)
	}
	if got := a.Cards(op.WithCaller(t.Context(), op.Caller{Tenant: "t"}), "spc_1"); len(got) > 0 {
		t.Errorf("who may not see jobs sees %v", got)
	}
	// One that is thrown away puts its task back; one that somebody else has by now is left to them, and the job says so.
	for holder, want := range map[string]string{"me": putBack, "cem": "could not be told open: T-a1b2c3 is held by cem"} {
		c.holder = holder
		a.stands(func(j *Job) { j.State, j.Card, j.Discard = wire.Stopped, taken, true })
		if j = a.rest(); j.Card != want {
			t.Errorf("the card of a job that was thrown away: %s", j.Card)
		}
	}
}
