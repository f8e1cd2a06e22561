package session

import (
	"context"
	"slices"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/provider"
)

// Used adds up what a session and those that it opened used, for a task or otherwise, and what had been used when it was forked off.
func (r *Room) Used(ctx context.Context, s *Session) (Used, error) {
	return r.used(outside{ctx, r.db}, s)
}

func (r *Room) used(q reader, s *Session) (Used, error) {
	u, err := spentBefore(q, s)
	if err != nil {
		return u, err
	}
	ts, err := turnsWhere(q, `tenant = ? AND session IN (WITH RECURSIVE tree(id) AS (SELECT CAST(? AS TEXT) UNION
		SELECT s.id FROM session s JOIN tree ON s.owner = tree.id WHERE s.tenant = ?) SELECT id FROM tree)`, s.Tenant, s.ID, s.Tenant)
	if err != nil {
		return u, err
	}
	tasks := map[string]bool{}
	var ran time.Duration
	for _, t := range ts {
		u.Tokens += t.Usage.Total()
		u.Cost += t.Cost
		u.Calls += t.Calls
		ran += t.Ran(r.now())
		if t.Session != s.ID {
			if _, known := tasks[t.Session]; !known {
				if tasks[t.Session], err = isTask(q, s.Tenant, t.Session); err != nil {
					return u, err
				}
			}
		}
		if !tasks[t.Session] && t.Attempts > 0 { // a task is part of its parent's turn
			u.Turns++
		}
	}
	u.Seconds += int64(ran.Seconds())
	return u, err
}

// isTask says whether a session does a task that another one handed to it and waits for.
func isTask(q reader, tenant, session string) (bool, error) {
	var n int
	err := q.row("SELECT count(*) FROM session_child WHERE tenant = ? AND session = ?", tenant, session).Scan(&n)
	return n > 0, err
}

// spentBefore is what a fork takes along: copying a session gives nobody its budget a second time.
func spentBefore(q reader, s *Session) (u Used, err error) {
	var text string
	err = q.row("SELECT used FROM session_spent WHERE tenant = ? AND session = ?", s.Tenant, s.ID).Scan(&text)
	if db.NoRows(err) {
		return u, nil
	}
	if err == nil {
		err = decode(text, &u)
	}
	return u, err
}

// Account is one budget that a session draws on, and what is used of it.
type Account struct {
	Whose  string
	Raise  string // who raises it, and how
	Budget Budget
	Used   Used
}

// Accounts lists the budgets that a session draws on: its own, those of the sessions that opened it, and those of everybody
// it acts for. t is its turn that runs, whose time is not yet in anybody's account.
func (r *Room) Accounts(ctx context.Context, s *Session, t *Turn) ([]Account, error) {
	up, err := r.Lineage(ctx, s)
	if err != nil {
		return nil, err
	}
	task, err := isTask(outside{ctx, r.db}, s.Tenant, s.ID)
	if err != nil {
		return nil, err
	}
	var out []Account
	for _, x := range append([]*Session{s}, up...) {
		if x.Config.Budget == (Budget{}) {
			continue
		}
		used, err := r.Used(ctx, x)
		if err != nil {
			return nil, err
		}
		b := x.Config.Budget
		whose := "the session"
		if x != s {
			whose = "the session that opened this one"
			if task {
				b.Turns = 0
			}
		}
		out = append(out, Account{whose, "a person raises it: tandem session update " + x.ID + " --budget-%s N", b, used})
	}
	all, err := r.Budgets.limits(ctx, s.Tenant)
	if err != nil {
		return nil, err
	}
	for _, l := range all {
		if l.Subject != Everybody && !slices.Contains(s.chain, l.Subject) {
			continue
		}
		if l.Changed {
			return nil, l.rewritten()
		}
		used, err := r.Budgets.usedBy(ctx, s.Tenant, l.Subject, l.Period)
		if err != nil {
			return nil, err
		}
		used.Seconds += int64((t.Ran(r.now()) - t.ran).Seconds())
		whose := whoseBudget(l.Subject, l.Period)
		raise := "a person raises it: tandem budget set --for '" + l.Subject + "' --period " + string(l.Period) + " --%s N"
		if l.Tenant != "" {
			whose, raise = whoseBudget("the tenant "+l.Tenant, l.Period),
				"the people who run this server raise it: tandem tenant limit "+l.Tenant+" --money N"
		}
		out = append(out, Account{whose, raise, l.Budget, used})
	}
	return out, nil
}

// Rest is what is left of all accounts for one more call; negative is no bound.
type Rest struct {
	Tokens  int64
	Cost    provider.Nano
	Seconds int64
}

// Left says what one more model call may use, or why none is made. A price that nobody knows cannot be held against a limit in
// money, so the call is refused rather than counted as free.
// begun says that the turn is counted already.
func Left(accounts []Account, begun, priced bool) (Rest, error) {
	rest := Rest{-1, -1, -1}
	for _, a := range accounts {
		b, u := a.Budget, a.Used
		switch {
		case b.Tokens > 0 && u.Tokens >= b.Tokens:
			return rest, a.spent("tokens", u.Tokens, b.Tokens)
		case b.Cents > 0 && !priced:
			return rest, fault.New(fault.Exhausted, "session.budget", "%s has a budget in money, and nobody knows what this model costs", a.Whose).
				WithNext("choose a model with a known price, or limit tokens instead")
		case b.Cents > 0 && u.Cost >= cents(b.Cents):
			return rest, a.spent("cents", int64(u.Cost/cents(1)), b.Cents)
		case b.Turns > 0 && !begun && u.Turns >= b.Turns:
			return rest, a.spent("turns", u.Turns, b.Turns)
		case b.Calls > 0 && u.Calls >= b.Calls:
			return rest, a.spent("calls", u.Calls, b.Calls)
		case b.Seconds > 0 && u.Seconds >= b.Seconds:
			return rest, a.spent("seconds", u.Seconds, b.Seconds)
		}
		rest.Tokens = narrower(rest.Tokens, b.Tokens, u.Tokens)
		rest.Cost = provider.Nano(narrower(int64(rest.Cost), int64(cents(b.Cents)), int64(u.Cost)))
		rest.Seconds = narrower(rest.Seconds, b.Seconds, u.Seconds)
	}
	return rest, nil
}

// LeftForCall says why a tool's call is not made, when waiting calls of its turn, itself included, are counted already.
func LeftForCall(accounts []Account, waiting int64) error {
	for _, a := range accounts {
		switch b, u := a.Budget, a.Used; {
		case b.Calls > 0 && u.Calls-waiting >= b.Calls:
			return a.spent("calls", u.Calls-waiting, b.Calls)
		case b.Seconds > 0 && u.Seconds >= b.Seconds:
			return a.spent("seconds", u.Seconds, b.Seconds)
		}
	}
	return nil
}

func cents(n int64) provider.Nano { return provider.Nano(n) * 10_000_000 }

func narrower(rest, limit, used int64) int64 {
	if limit <= 0 || rest >= 0 && rest <= limit-used {
		return rest
	}
	return limit - used
}

func (a Account) spent(what string, used, limit int64) error {
	return fault.New(fault.Exhausted, "session.budget", "the budget of %s for %s is used up: %d of %d", what, a.Whose, used, limit).
		WithNext("%s", strings.ReplaceAll(a.Raise, "%s", what))
}

// Beyond is the refusal of a call that would exceed what is left.
func (a Rest) Beyond(what string, need, left int64) error {
	return fault.New(fault.Exhausted, "session.budget", "the next call would exceed the budget: it needs about %d %s, and %d are left", need,
		what, left).
		WithNext("raise the budget, or start a new session with less to read")
}
