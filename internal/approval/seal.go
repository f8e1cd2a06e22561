package approval

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// Seal is an approval: who let exactly which call of whom pass, and until when.
func (a *Ask) Seal() op.Sealed {
	decided := ""
	if a.DecidedAt != nil {
		decided = micros(*a.DecidedAt)
	}
	s := op.Sealed{Tenant: a.Tenant, Subject: "approval:" + a.ID,
		Says: []string{a.Tenant, a.ID, a.Op, a.Resource, a.Digest, a.AskerID, a.Session, a.DecidedBy, decided, micros(a.ExpiresAt)},
		What: "the approval " + a.ID + " of " + a.Op + ", by " + a.DecidedBy}
	if _, needs, answers, err := a.texts(); len(a.Answers) > 0 || err != nil { // an older program kept a name alone
		s.Says = append(s.Says, needs, answers)
	}
	return s
}

// Seal is a standing answer.
func (r *Rule) Seal() op.Sealed {
	return op.Sealed{Tenant: r.Tenant, Subject: "rule:" + r.ID,
		Says: []string{r.Tenant, r.ID, string(r.Scope), r.Session, strings.Join(r.For, "\n"), r.Op, r.Pattern, r.Owner, r.Ask,
			micros(r.ExpiresAt)},
		What: "the standing answer " + r.ID + " (" + r.Pattern + "), by " + r.Owner}
}

func micros(t time.Time) string { return strconv.FormatInt(t.UnixMicro(), 10) }

// forged refuses a yes beside a first answer that nobody gave.
func forged(a *Ask) error {
	return fault.New(fault.Denied, "approval.decide",
		"the first answer to %s is in the database and not in the journal: no person gave it", a.ID).
		With("reason", "forged").WithNext("deny it, and see what else was changed: tandem audit verify --whole")
}

// Disown takes away a row that says approved and that nobody vouches for: the same call asks anew.
func (r *Room) Disown(tx *db.Tx, a *Ask) error { return retire(tx, a) }

// EndUnvouched ends the answers that were there before the journal vouched for any: they do not count, and left standing they would look
// like somebody's hand. The same calls ask anew. It returns how many they were.
func EndUnvouched(tx *db.Tx) (int64, error) {
	asks, err := tx.Changed("UPDATE approval SET state = 'expired', standing = 0 WHERE standing = 1 AND " + answered)
	if err != nil {
		return 0, err
	}
	rules, err := tx.Changed("DELETE FROM approval_rule")
	return asks + rules, err
}

// answered finds asks whose answer, or the first of several, is in the row.
const answered = "(state = 'approved' OR state = 'pending' AND answers <> '')"

// Standing lists every approval and standing answer that would count now.
func (r *Room) Standing(ctx context.Context) ([]op.Sealed, error) {
	var out []op.Sealed
	asks, err := collect(r.db.Query(ctx,
		"SELECT "+columns+" FROM approval WHERE standing = 1 AND "+answered+" AND expires_at > ?",
		r.db.Now()))
	if err != nil {
		return nil, err
	}
	for _, a := range asks {
		out = append(out, a.Seal())
	}
	rows, err := r.db.Query(ctx, "SELECT "+ruleColumns+" FROM approval_rule WHERE expires_at > ?", r.db.Now())
	rules, err := db.Collect(rows, err, func(rows *sql.Rows) (Rule, error) { return scanRule(rows) })
	for i := range rules {
		out = append(out, rules[i].Seal())
	}
	return out, err
}
