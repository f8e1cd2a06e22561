package gate

import (
	"context"

	"tandem/internal/approval"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/op"
)

// seals are the rows that the call's event vouches for.
func (c *call) seals() (out []journal.Seal) {
	for subject, says := range c.notes.Seals {
		out = append(out, journal.Seal{Subject: subject, Digest: journal.Digest(says...)})
	}
	return out
}

// held reports whether the journal vouches for a row as it stands. A row that says approved and was never decided, was decided
// otherwise, or was used before, is nobody's answer: somebody wrote it into the database.
func (g *Gate) held(tx *db.Tx, tenant string, s op.Sealed) (bool, error) {
	return g.journal.Vouches(tx, tenant, journal.Seal{Subject: s.Subject, Digest: journal.Digest(s.Says...)})
}

func forged(c *call, askID string) *fault.Error {
	return fault.New(fault.Denied, c.op.Name,
		"the approval %s is in the database and not in the journal: no person gave it to this call, or it was used already", askID).
		With("reason", "forged").WithNext("find out who wrote it: tandem audit log --type approval.*; then repeat the call to ask again")
}

// vouched leaves out the standing answers that no entry of the journal vouches for.
func (g *Gate) vouched(ctx context.Context, rules []approval.Rule) (out []approval.Rule, err error) {
	if len(rules) == 0 {
		return nil, nil
	}
	err = g.journal.View(ctx, func(tx *db.Tx) error {
		out = nil
		for _, r := range rules {
			ok, err := g.held(tx, r.Tenant, r.Seal())
			if err != nil {
				return err
			}
			if ok {
				out = append(out, r)
			}
		}
		return nil
	})
	return out, err
}
