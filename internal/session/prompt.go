package session

import (
	"context"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/provider"
)

func (r *Room) promptOp(ctx context.Context, tx *db.Tx, in PromptIn) (*Turn, error) {
	if strings.TrimSpace(in.Text) == "" && len(in.Images) == 0 {
		return nil, fault.New(fault.Invalid, "session.prompt", "the prompt is empty")
	}
	if len(in.Text) > MaxPrompt {
		return nil, fault.New(fault.Invalid, "session.prompt", "the prompt has %d bytes; %d are allowed", len(in.Text), MaxPrompt)
	}
	switch in.Options.ToolChoice {
	case "", "auto", "none", "required":
	default:
		return nil, fault.New(fault.Invalid, "session.prompt", "tool_choice is auto, none or required, not %q", in.Options.ToolChoice)
	}
	var blocks []provider.Block
	if in.Text != "" {
		blocks = append(blocks, provider.Block{Kind: provider.Text, Text: in.Text})
	}
	for _, i := range in.Images {
		blocks = append(blocks, provider.Block{Kind: provider.ImageKind, Image: &i})
	}
	c := op.CallerFrom(ctx)
	var t *Turn
	s, err := r.change(tx, c.Tenant, in.ID, func(s *Session) (err error) {
		if err := r.guard(ctx, tx, s); err != nil {
			return err
		}
		if err := r.counts(tx, s); err != nil {
			return err
		}
		check := *s
		check.Model, check.Mode = orElse(in.Options.Model, s.Model), orElse(in.Options.Mode, s.Mode)
		if err := check.check(); err != nil {
			return err
		}
		t, err = r.prompt(tx, s, c, blocks, in.Options)
		return err
	})
	if err != nil {
		return nil, err
	}
	op.Note(ctx, "turn", t.ID)
	op.Row(ctx, t.seal())
	tx.AfterCommit(func() { r.wake(s) })
	return t, nil
}

func orElse[T ~string](a, b T) T {
	if a != "" {
		return a
	}
	return b
}

func (r *Room) cancel(ctx context.Context, tx *db.Tx, in TurnIn) (CancelOut, error) {
	tenant := op.CallerFrom(ctx).Tenant
	out := CancelOut{OK: true}
	s, err := r.change(tx, tenant, in.ID, func(s *Session) error {
		if err := r.guard(ctx, tx, s); err != nil {
			return err
		}
		open, err := turnsWhere(inTx{tx}, "tenant = ? AND session = ? AND ended_at = 0 AND (? = '' OR id = ?)", tenant, s.ID, in.Turn, in.Turn)
		if err != nil {
			return err
		}
		out.Cancelled = len(open)
		over, err := r.cancelTurns(tx, s, open)
		for _, row := range over {
			op.Row(ctx, row)
		}
		return err
	})
	if err != nil {
		return CancelOut{}, err
	}
	op.Note(ctx, "cancelled", out.Cancelled)
	tx.AfterCommit(func() { r.wake(s) })
	return out, nil
}

// cancelTurns ends what waits, and tells what runs to stop. What is said of those that ended is for the entry that tells of it.
func (r *Room) cancelTurns(tx *db.Tx, s *Session, open []*Turn) (over []op.Sealed, err error) {
	for _, t := range open {
		before := *t
		if err := r.happen(tx, s, t, cancelled{}); err != nil {
			return nil, err
		}
		if err := saveTurn(tx, t); err != nil {
			return nil, err
		}
		if err := r.Budgets.count(tx, s, &before, t); err != nil {
			return nil, err
		}
		if t.State.Ended() {
			over = append(over, t.over())
		}
	}
	return over, nil
}

// EventQuieted is the event of a session whose turns were ended because the job that it works for was stopped.
const EventQuieted = "session.quieted"

// Quiet ends the turns of a session whose job was stopped. Whoever stopped the job was let in for that; that the one who started it may do
// nothing here any more does not keep its agent at work.
func (r *Room) Quiet(ctx context.Context, tenant, id string) error {
	return r.db.Write(ctx, func(tx *db.Tx) error {
		n := 0
		var over []op.Sealed
		s, err := r.change(tx, tenant, id, func(s *Session) error {
			open, err := turnsWhere(inTx{tx}, "tenant = ? AND session = ? AND ended_at = 0", tenant, s.ID)
			if err != nil {
				return err
			}
			n = len(open)
			over, err = r.cancelTurns(tx, s, open)
			return err
		})
		if err != nil || n == 0 {
			return err
		}
		tx.AfterCommit(func() { r.wake(s) })
		return r.record(tx, s, EventQuieted, map[string]any{"cancelled": n}, over...)
	})
}
