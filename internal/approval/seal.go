package approval

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"time"

	"tandem/internal/db"
)

// Sealed is a row that confers authority and what it says, for the journal to vouch for.
type Sealed struct {
	Tenant, Subject string
	Says            []string
	What            string // for people
}

// Seal is an approval: who let exactly which call of whom pass, and until when.
func (a *Ask) Seal() Sealed {
	decided := ""
	if a.DecidedAt != nil {
		decided = micros(*a.DecidedAt)
	}
	return Sealed{a.Tenant, "approval:" + a.ID, []string{a.Tenant, a.ID, a.Op, a.Resource, a.Digest, a.AskerID, a.Session, a.DecidedBy, decided, micros(a.ExpiresAt)},
		"the approval " + a.ID + " of " + a.Op + ", by " + a.DecidedBy}
}

// Seal is a standing answer.
func (r *Rule) Seal() Sealed {
	return Sealed{r.Tenant, "rule:" + r.ID, []string{r.Tenant, r.ID, string(r.Scope), r.Session, strings.Join(r.For, "\n"), r.Op, r.Pattern, r.Owner, r.Ask, micros(r.ExpiresAt)},
		"the standing answer " + r.ID + " (" + r.Pattern + "), by " + r.Owner}
}

func micros(t time.Time) string { return strconv.FormatInt(t.UnixMicro(), 10) }

// Disown takes away a row that says approved and that nobody vouches for: the same call asks anew.
func (r *Room) Disown(tx *db.Tx, a *Ask) error { return retire(tx, a) }

// Standing lists every approval and standing answer that would count now.
func (r *Room) Standing(ctx context.Context) ([]Sealed, error) {
	var out []Sealed
	asks, err := collect(r.db.Query(ctx, "SELECT "+columns+" FROM approval WHERE standing = 1 AND state = 'approved' AND expires_at > ?", r.db.Now()))
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
