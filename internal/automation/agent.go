package automation

import (
	"context"
	"fmt"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/session"
	"tandem/internal/session/terminal"
)

// sits is the session of a node that a real agent takes: in its folder, in a box, for one turn, and with nothing else of tandem.
func (j *job) sits(in session.CreateIn) terminal.OpenIn {
	name := fmt.Sprintf("run-%s-%.30s-%d", j.id[max(0, len(j.id)-8):], j.step.node, j.step.attempt)
	if j.step.item >= 0 {
		name += fmt.Sprintf("-%d", j.step.item+1)
	}
	b := in.Config.Budget
	return terminal.OpenIn{Agent: j.body.Turn.Agent, Name: name, Cwd: in.Directory, Narrow: true,
		Knowledge: in.Config.Knowledge, Cite: in.Config.Cite,
		Budget: session.Budget{Tokens: b.Tokens, Turns: b.Turns, Seconds: b.Seconds}}
}

// rises ends the program of an agent that took its turn. Its conversation and what it did stay.
func (r *Room) rises(ctx context.Context, j *job, caller op.Caller) {
	r.closes(ctx, caller, j.step.session)
}

// closes ends the program of a session, where it has one.
func (r *Room) closes(ctx context.Context, caller op.Caller, ses string) {
	caller.Scope, caller.Idempotency = []string{"session.prompt", "session.read", "session.view"}, "" // once more does no harm
	if r.Find(string(terminal.SessionClose)) == nil {                                                 // no agents are run here
		return
	}
	_, err := op.Do(op.WithCaller(ctx, caller), r.Rooms, terminal.SessionClose, terminal.NameIn{Name: ses})
	if err != nil && !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Conflict) && ctx.Err() == nil {
		r.Log.Error("the agent of a step is not closed", "session", ses, "err", err)
	}
}
