package team

import (
	"context"
	"fmt"
	"strings"

	"tandem/internal/fault"
	job "tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/provider"
	"tandem/internal/session"
	"tandem/internal/session/terminal"
)

// form is how a plan is written.
const form = `End with one JSON object and nothing around it, of this form:
{"criteria": ["what is true when the goal is reached"],
 "tasks": [{"name": "short-word", "text": "what is to be done, for somebody who knows nothing else",
            "after": ["names of tasks that are merged before this one begins"], "files": ["that it changes"], "check": "a command"}]}
Tasks without "after" are done at the same time, each in a checkout of its own: let them change different files. Leave "check" out where the
team's is enough. At most 30 tasks; fewer and larger ones are better.`

// first is the lead's first prompt.
func first(t *Team) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nYou lead a team of up to %d agents that work on this at once. Look at the repository, change nothing, and plan: "+
		"split the goal into tasks that others do. A person approves the plan; then tandem has each task done, "+
		"checked, looked at and merged.", t.Goal, t.Agents)
	if t.Check != "" {
		fmt.Fprintf(&b, " What each task makes is checked, without the network, by: %s", t.Check)
	}
	return b.String() + "\n\n" + form
}

const sessionOpen = op.Def[terminal.OpenIn, terminal.Seat]("session.open")

// lead asks the lead what the row says, and takes its answer. Its session only looks: a model in plan mode, a program in a checkout of its
// own that nobody merges.
func (r *Room) lead(ctx context.Context, t *Team) error {
	c := t.Caller
	switch {
	case t.Session == "":
		c.Idempotency = fmt.Sprintf("%s.lead.open.%d", t.ID, t.Try)
		id, err := r.open(op.WithCaller(ctx, c), t)
		if err != nil {
			return r.blocked(ctx, t, err)
		}
		return r.happened(ctx, t, Event{Kind: Opened, Text: id})
	case t.Flight == "" && r.DB.Now().Before(t.Later):
		return nil
	case t.Flight == "":
		if err := r.revive(op.WithCaller(ctx, c), t); err != nil {
			return r.blocked(ctx, t, err)
		}
		c.Idempotency = fmt.Sprintf("%s.lead.%d.%d", t.ID, t.Try, t.Turns)
		turn, err := op.Do(op.WithCaller(ctx, c), r.Rooms, session.SessionPrompt, session.PromptIn{ID: t.Session, Text: t.Prompt})
		if err != nil {
			return r.blocked(ctx, t, err)
		}
		return r.happened(ctx, t, Event{Kind: Prompted, Text: turn.ID})
	}
	as := op.WithCaller(ctx, c)
	out, err := op.Do(as, r.Rooms, session.SessionTurns, session.TurnIn{ID: t.Session, Turn: t.Flight})
	if err == nil && len(out.Turns) == 0 {
		err = fault.New(fault.NotFound, "team", "the turn %s is gone", t.Flight)
	}
	if err != nil {
		return r.blocked(ctx, t, err)
	}
	turn := out.Turns[0]
	if !turn.State.Ended() {
		return r.leading(ctx, as, t, turn)
	}
	if turn.State != session.Done {
		return r.happened(ctx, t, r.broke(as, t, turn))
	}
	said, err := r.answer(as, t)
	if err != nil {
		return r.blocked(ctx, t, err)
	}
	return r.happened(ctx, t, Event{Kind: Answered, Text: said})
}

// open opens the lead's session, with its part of the budget.
func (r *Room) open(as context.Context, t *Team) (string, error) {
	part := leads(t.Budget)
	if job.Program(t.Lead) {
		seat, err := op.Do(as, r.Rooms, sessionOpen, terminal.OpenIn{Agent: t.Lead, Name: Called(t.ID), Cwd: t.Folder,
			Worktree: true, Knowledge: t.Knowledge, Budget: session.Budget{Tokens: part.Tokens, Turns: part.Turns}})
		return seat.Session, err
	}
	goal, _, _ := strings.Cut(strings.TrimSpace(t.Goal), "\n")
	s, err := op.Do(as, r.Rooms, session.SessionCreate, session.CreateIn{Title: "lead: " + fault.Clip(goal, 80), Directory: t.Folder,
		Model: t.Lead, Mode: session.PlanMode, Config: session.Config{Knowledge: t.Knowledge,
			Budget: session.Budget{Cents: part.Cents, Tokens: part.Tokens, Turns: part.Turns}}})
	if err != nil {
		return "", err
	}
	return s.ID, nil
}

// answer is the last thing that the lead said in its turn.
func (r *Room) answer(as context.Context, t *Team) (said string, err error) {
	out, err := op.Do(as, r.Rooms, session.SessionMessages, session.IDIn{ID: t.Session})
	for _, m := range out.Messages {
		if m.Turn == t.Flight && m.Role == session.RoleAssistant {
			if text := (provider.Reply{Blocks: m.Blocks}).Text(); text != "" {
				said = text
			}
		}
	}
	return said, err
}

// hush ends the lead's turn that nobody wants any more.
func (r *Room) hush(ctx context.Context, t *Team) error {
	if err := r.quiet(ctx, t); err != nil {
		return err
	}
	return r.happened(ctx, t, Event{Kind: Hushed})
}

// quiet ends what the lead's session does, and its program where the team is over. Who stopped the team was let in for that: the rights
// that its starter has left are no reason for a lead to go on.
func (r *Room) quiet(ctx context.Context, t *Team) error {
	if t.Session == "" {
		return nil
	}
	err := r.End(ctx, t.Tenant, t.Session, t.State.Over() && job.Program(t.Lead))
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Conflict) {
		return nil
	}
	return err
}
