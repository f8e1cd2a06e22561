package session

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// A budget is a person's word about how much somebody may use up. It counts as the journal vouches for it: where its row is gone or says
// something else, nobody knows the bounds, and nothing that draws on it goes on until a person says them anew.

const budgetKind = "budget"

func limitSubject(p Period, subject string) string {
	return budgetKind + ":" + string(p) + "/" + subject
}

// seal is a budget with the words of its row.
func (l Limit) seal(tenant string) op.Sealed {
	return op.Sealed{Tenant: tenant, Subject: limitSubject(l.Period, l.Subject),
		What: "the budget of " + whoseBudget(l.Subject, l.Period),
		Says: []string{l.Subject, string(l.Period), l.stored, l.SetBy, strconv.FormatInt(l.SetAt.UnixMicro(), 10)}}
}

func whoseBudget(subject string, p Period) string {
	if subject == Everybody {
		subject = "everybody together"
	}
	if p != Ever {
		subject += " (this " + string(p) + ")"
	}
	return subject
}

const limitColumns = "subject, period, budget, set_by, set_at"

func scanLimit(row scanner, more ...any) (l Limit, err error) {
	var at int64
	if err = row.Scan(append([]any{&l.Subject, &l.Period, &l.stored, &l.SetBy, &at}, more...)...); err != nil {
		return l, err
	}
	l.SetAt = db.Time(at)
	l.Changed = decode(l.stored, &l.Budget) != nil
	return l, nil
}

// vouched are the budgets of rows as they count: one that no person here set so says that it was changed, and so does one whose row is
// gone.
func (b *Budgets) vouched(ctx context.Context, tenant string, rows []Limit) []Limit {
	if !b.Vouch.Asks() {
		return rows
	}
	there := map[string]bool{}
	for i := range rows {
		s := rows[i].seal(tenant)
		there[s.Subject] = true
		rows[i].Changed = rows[i].Changed || !b.Vouch.Holds(ctx, s)
	}
	for _, subject := range b.Vouch.Stand(tenant, budgetKind) {
		period, whose, _ := strings.Cut(strings.TrimPrefix(subject, budgetKind+":"), "/")
		if !there[subject] {
			b.Vouch.Says(tenant, subject, []string{""}) // another server may have removed it a moment ago: memory catches up
			rows = append(rows, Limit{Subject: whose, Period: Period(period), Changed: true})
		}
	}
	return slices.DeleteFunc(rows, func(l Limit) bool { // one that nobody ever set binds nobody
		return l.Changed && !b.Vouch.Knows(tenant, limitSubject(l.Period, l.Subject))
	})
}

func (l Limit) rewritten() error {
	return fault.New(fault.Denied, "session.budget", "the budget of %s was changed in the database, and not by a person here",
		whoseBudget(l.Subject, l.Period)).
		WithNext("a person says it anew: tandem budget set --for '%s' --period %s --tokens 100000", l.Subject, l.Period)
}

// budgets are the rows of budgets, as the journal vouches for them.
func budgets(ctx context.Context, d *db.DB) ([]op.Sealed, error) {
	rows, err := d.Query(ctx, "SELECT "+limitColumns+", tenant FROM session_limit")
	return db.Collect(rows, err, func(rows *sql.Rows) (op.Sealed, error) {
		var tenant string
		l, err := scanLimit(rows, &tenant)
		return l.seal(tenant), err
	})
}
