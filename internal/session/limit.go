package session

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// Budgets keep what actors, and everybody of a tenant together, may use up, and count what was used. What one session may is its own.
type Budgets struct {
	db *db.DB
	// Allows is what the house lets a tenant use up; without it there is no limit.
	Allows func(row func(query string, args ...any) *sql.Row, tenant string) (Allowance, error)
	// Vouch asks the journal about what people said.
	Vouch op.Vouch
}

// Limit is a budget of an actor, or of all sessions of the tenant, for a span of time.
type Limit struct {
	Subject string    `json:"subject" jsonschema:"whose: kind:name, or * for everybody together"`
	Period  Period    `json:"period" jsonschema:"day, month or ever"`
	Budget  Budget    `json:"budget"`
	Used    Used      `json:"used"`
	SetBy   string    `json:"set_by"`
	SetAt   time.Time `json:"set_at"`
	Tenant  string    `json:"tenant,omitempty" jsonschema:"the tenant that the house set it for; only the people of the house change it"`
	Changed bool      `json:"changed,omitempty" jsonschema:"it was changed in the database, and not by a person here: nothing that draws on it goes on until it is set anew"`

	stored string // the bounds, in the words of the row
}

// Period is the span of time that a limit speaks of, in UTC.
type Period string

// The spans.
const (
	Daily   Period = "day"
	Monthly Period = "month"
	Ever    Period = "ever"
)

// Everybody is the subject of a tenant's own limit.
const Everybody = "*"

// since is the first day of the span that holds now, in days since 1970.
func (p Period) since(now time.Time) int64 {
	now = now.UTC()
	switch p {
	case Daily:
		return now.Unix() / 86400
	case Monthly:
		return time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC).Unix() / 86400
	}
	return 0
}

// LimitIn sets a limit; one without any bound is removed.
type LimitIn struct {
	Subject string `json:"subject,omitempty" jsonschema:"whose: kind:name such as agent:builder, or * for everybody together (the default)"`
	Period  Period `json:"period,omitempty" jsonschema:"day, month or ever (the default)"`
	Budget  Budget `json:"budget,omitzero" jsonschema:"the bounds; none removes the limit"`
}

// check refuses a limit that means nothing.
func (in LimitIn) check() error {
	b := in.Budget
	kind, name, ok := strings.Cut(in.Subject, ":")
	switch {
	case in.Period != "" && in.Period != Daily && in.Period != Monthly && in.Period != Ever:
		return fault.New(fault.Invalid, "budget.set", "period is day, month or ever, not %.40q", in.Period)
	case min(b.Tokens, b.Cents, b.Turns, b.Calls, b.Seconds) < 0:
		return fault.New(fault.Invalid, "budget.set", "a budget cannot be negative")
	case in.Subject == "" || in.Subject == Everybody:
		return nil
	case !ok || name == "" || len(in.Subject) > 200 || !subjects[op.Kind(kind)]:
		return fault.New(fault.Invalid, "budget.set", "%.60q is not kind:name", in.Subject).
			WithNext("name person:…, agent:…, service:… or local:local, or * for everybody")
	}
	return nil
}

var subjects = map[op.Kind]bool{op.Person: true, op.Agent: true, op.Service: true, op.Local: true}

// LimitsOut lists limits with what was used of them.
type LimitsOut struct {
	Limits []Limit `json:"limits"`
}

// Ops are the rows of budgets.
func (b *Budgets) Ops() []op.Op {
	return []op.Op{
		BudgetList.Read(op.Spec{Right: "session.list", Method: "GET", Path: "/budgets",
			Doc: "List the budgets of actors and of everybody together, and what was used of them."},
			func(Nothing) op.Resource { return at("") }, b.list),
		BudgetSet.State(op.Spec{Right: "session.admin", Method: "PUT", Path: "/budgets", MCP: "-", Present: true, People: true,
			Doc: "Set the budget of an actor, or of everybody together, for a day, a month or ever.\nA session stops before the call that would " +
				"exceed it. Without bounds it is removed."},
			func(LimitIn) op.Resource { return at("") }, b.set),
	}
}

func (b *Budgets) limits(ctx context.Context, tenant string) ([]Limit, error) {
	rows, err := b.db.Query(ctx, "SELECT "+limitColumns+" FROM session_limit WHERE tenant = ? ORDER BY subject, period", tenant)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (Limit, error) { return scanLimit(rows) })
	if err != nil {
		return nil, err
	}
	all = b.vouched(ctx, tenant, all)
	a, err := b.allowance(outside{ctx, b.db}, tenant)
	if a.Limit.Budget != (Budget{}) {
		all = append(all, a.Limit)
	}
	return all, err
}

// usedBy adds up what a subject used in a span.
func (b *Budgets) usedBy(ctx context.Context, tenant, subject string, p Period) (u Used, err error) {
	var micros int64
	err = b.db.QueryRow(ctx,
		`SELECT COALESCE(SUM(tokens), 0), COALESCE(SUM(cost), 0), COALESCE(SUM(turns), 0), COALESCE(SUM(calls), 0), COALESCE(SUM(micros), 0)
		FROM session_used WHERE tenant = ? AND subject = ? AND day >= ?`, tenant, subject, p.since(b.db.Now())).Scan(&u.Tokens, &u.Cost, &u.Turns,
		&u.Calls, &micros)
	u.Seconds = micros / 1e6
	return u, err
}

func (b *Budgets) list(ctx context.Context, _ Nothing) (LimitsOut, error) {
	tenant := op.CallerFrom(ctx).Tenant
	out := LimitsOut{Limits: []Limit{}}
	all, err := b.limits(ctx, tenant)
	c := op.CallerFrom(ctx)
	for _, l := range all {
		if OpenerOf(c) != "" && l.Subject != Everybody && !slices.Contains(chainOf(c), l.Subject) {
			continue // a session sees the budgets that it draws on
		}
		if l.Used, err = b.usedBy(ctx, tenant, l.Subject, l.Period); err != nil {
			return out, err
		}
		out.Limits = append(out.Limits, l)
	}
	return out, err
}

func (b *Budgets) set(ctx context.Context, tx *db.Tx, in LimitIn) (Limit, error) {
	if err := in.check(); err != nil {
		return Limit{}, err
	}
	c := op.CallerFrom(ctx)
	l := Limit{Subject: orElse(in.Subject, Everybody), Period: orElse(in.Period, Ever), Budget: in.Budget, SetBy: c.Name, SetAt: tx.Now()}
	if l.Budget == (Budget{}) {
		known := b.Vouch.Knows(c.Tenant, limitSubject(l.Period, l.Subject))
		n, err := tx.Changed("DELETE FROM session_limit WHERE tenant = ? AND subject = ? AND period = ?", c.Tenant, l.Subject, string(l.Period))
		op.Seal(ctx, limitSubject(l.Period, l.Subject))
		if err == nil && n == 0 && !known {
			err = fault.New(fault.NotFound, "budget.set", "%s has no budget for the period %q", l.Subject, l.Period).
				WithNext("list what there is: tandem budget list")
		}
		return l, err
	}
	l.stored = encode(l.Budget)
	op.Row(ctx, l.seal(c.Tenant))
	_, err := tx.Exec(`INSERT INTO session_limit (tenant, subject, period, budget, set_by, set_at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (tenant, subject, period) DO UPDATE SET budget = excluded.budget, set_by = excluded.set_by, set_at = excluded.set_at`,
		c.Tenant, l.Subject, string(l.Period), l.stored, l.SetBy, l.SetAt)
	return l, err
}

// count adds what a turn used since it was last saved to the day's account of the tenant and of everybody it acts for.
func (b *Budgets) count(tx *db.Tx, s *Session, before, after *Turn) error {
	tokens, cost, calls := after.Usage.Total()-before.Usage.Total(), after.Cost-before.Cost, after.Calls-before.Calls
	ran, turns := after.ran-before.ran, 0
	if before.Attempts == 0 && after.Attempts > 0 { // a turn that was stopped before its first model call used nothing
		turns = 1
	}
	if tokens == 0 && cost == 0 && calls == 0 && ran == 0 && turns == 0 {
		return nil
	}
	for _, who := range append([]string{Everybody}, s.chain...) {
		if strings.HasPrefix(who, "session:") {
			continue
		}
		if _, err := tx.Exec(`INSERT INTO session_used (tenant, subject, day, tokens, cost, turns, calls, micros) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (tenant, subject, day) DO UPDATE SET tokens = session_used.tokens + excluded.tokens,
			cost = session_used.cost + excluded.cost,
			turns = session_used.turns + excluded.turns, calls = session_used.calls + excluded.calls,
			micros = session_used.micros + excluded.micros`,
			s.Tenant, who, Daily.since(tx.Now()), tokens, int64(cost), turns, calls, ran.Microseconds()); err != nil {
			return fmt.Errorf("count what was used: %w", err)
		}
	}
	return nil
}
