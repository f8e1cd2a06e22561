package terminal

import (
	"context"

	"tandem/internal/fault"
	"tandem/internal/session"
)

// checkBudget refuses limits that nothing could be held against: these programs report tokens, and no prices.
func checkBudget(b session.Budget) error {
	if b.Cents > 0 || b.Calls > 0 {
		return fault.New(fault.Invalid, "session.open", "agent programs report neither what they cost nor every call").
			WithNext("limit turns, seconds or tokens")
	}
	if min(b.Turns, b.Seconds, b.Tokens, b.Cents, b.Calls) < 0 {
		return fault.New(fault.Invalid, "session.open", "a budget cannot be negative")
	}
	return nil
}

// within says whether the session, and everybody it works for, may go on, or whose budget is used up. begun says that the
// turn is counted already.
func (s *seat) within(ctx context.Context, t *session.Turn, begun bool) error {
	ses, err := s.d.room.Get(ctx, s.row.Tenant, s.row.Session)
	if err != nil {
		return err
	}
	accounts, err := s.d.room.Accounts(ctx, ses, t)
	if err != nil {
		return err
	}
	_, err = session.Left(accounts, begun, false)
	return err
}
