package identity

import (
	"context"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
)

// pendingIn is the recovery that root began and that nobody stopped.
func (r *Room) pendingIn(ctx context.Context, tx *db.Tx, tenant string) (recoveryRow, error) {
	x, err := scanRecovery(tx.QueryRow("SELECT "+recoveryColumns+" FROM recovery WHERE tenant = ? AND actor = ? AND ended_at = 0", tenant,
		WellKnown(Owner)))
	if db.NoRows(err) || err == nil && !r.Vouch.Holds(ctx, x.Seal()) {
		return x, fault.New(fault.NotFound, "recovery", "no recovery is under way").With("recovery", "none").
			WithNext("see what there is: tandem recover status")
	}
	return x, err
}

func (r *Room) beginRecovery(ctx context.Context, tx *db.Tx, _ Nothing) (*PendingOut, error) {
	c := op.CallerFrom(ctx)
	if c.Recovers != ByRoot {
		return nil, fault.New(fault.Denied, "recovery.begin", "only root of this machine begins a recovery without a code").
			WithNext("use a recovery code: tandem recover")
	}
	has, err := r.HasPIN(ctx, c.Tenant, WellKnown(Owner))
	if err == nil && !has {
		err = fault.New(fault.Conflict, "recovery.begin", "no PIN was ever set, so none is to be replaced").WithNext("set one: tandem pin set")
	}
	if err != nil {
		return nil, err
	}
	x, err := r.pendingIn(ctx, tx, c.Tenant)
	if err == nil {
		return x.pending(tx.Now()), nil
	}
	if !fault.Is(err, fault.NotFound) {
		return nil, err
	}
	due := tx.Now().Add(rootWait)
	x = recoveryRow{tenant: c.Tenant, id: id.New("rec"), actor: WellKnown(Owner), started: db.Micros(tx.Now()), due: db.Micros(due)}
	if _, err := tx.Exec("INSERT INTO recovery ("+recoveryColumns+") VALUES (?, ?, ?, ?, ?, 0)", x.tenant, x.id, x.actor, x.started,
		x.due); err != nil {
		return nil, err
	}
	op.Row(ctx, x.Seal())
	op.Note(ctx, "recovery", x.id)
	return x.pending(tx.Now()), r.tell(tx, Recovered{Tenant: c.Tenant, What: "begun", Due: due})
}

func (r *Room) stopRecovery(ctx context.Context, tx *db.Tx, in StopIn) (OK, error) {
	tenant := op.CallerFrom(ctx).Tenant
	x, err := r.pendingIn(ctx, tx, tenant)
	if err == nil && in.ID != "" && in.ID != x.id {
		err = fault.New(fault.NotFound, "recovery.stop", "the recovery %s is not under way", in.ID).WithNext("see what is: tandem recover status")
	}
	if err != nil {
		return OK{}, err
	}
	if err := r.endRecovery(ctx, tx, tenant); err != nil {
		return OK{}, err
	}
	return OK{true}, r.tell(tx, Recovered{Tenant: tenant, What: "stopped"})
}

// endRecovery lets nothing stay under way.
func (r *Room) endRecovery(ctx context.Context, tx *db.Tx, tenant string) error {
	rows, err := tx.Query("UPDATE recovery SET ended_at = ? WHERE tenant = ? AND ended_at = 0 RETURNING "+recoveryColumns, tx.Now(), tenant)
	ended, err := collectSealed(rows, err, scanRecovery)
	for _, s := range ended {
		op.Row(ctx, s)
	}
	return err
}
