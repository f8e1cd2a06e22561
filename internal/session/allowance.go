package session

import (
	"context"

	"tandem/internal/db"
	"tandem/internal/fault"
)

// Allowance is what the house that runs the server lets a tenant use up. It is no row of the tenant's own, which its owner could remove.
type Allowance struct {
	Limit    Limit // of everybody together
	Sessions int64 // that it keeps; 0 for no limit
}

func (b *Budgets) allowance(q reader, tenant string) (Allowance, error) {
	if b.Allows == nil {
		return Allowance{}, nil
	}
	return b.Allows(q.row, tenant)
}

// roomFor refuses a session more than the house lets the tenant keep.
func (b *Budgets) roomFor(tx *db.Tx, tenant string) error {
	a, err := b.allowance(inTx{tx}, tenant)
	if err != nil || a.Sessions == 0 {
		return err
	}
	n, err := kept(inTx{tx}, tenant)
	if err == nil && n >= a.Sessions {
		return fault.New(fault.Exhausted, "session.create", "the tenant %s keeps %d sessions, and its limit is %d", a.Limit.Tenant, n,
			a.Sessions).
			WithNext("delete some: tandem session delete SESSION; the people who run this server raise it: tandem tenant limit %s", a.Limit.Tenant)
	}
	return err
}

// kept is how many sessions a tenant has, archived ones too.
func kept(q reader, tenant string) (n int64, err error) {
	err = q.row("SELECT count(*) FROM session WHERE tenant = ?", tenant).Scan(&n)
	return n, err
}

// TenantUsed is what everybody of a tenant together used in a period, and how many sessions it keeps.
func (b *Budgets) TenantUsed(ctx context.Context, tenant string, p Period) (u Used, sessions int64, err error) {
	if u, err = b.usedBy(ctx, tenant, Everybody, p); err != nil {
		return u, 0, err
	}
	sessions, err = kept(outside{ctx, b.db}, tenant)
	return u, sessions, err
}
