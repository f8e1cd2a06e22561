package identity

import (
	"context"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// codesOf is under which name tries with recovery codes are counted, apart from those with PINs.
func codesOf(actor string) string { return "recovery:" + actor }

// ProveCode finds the recovery code that somebody typed. It does not spend it: that happens with what it is for. All who try share
// one count, and a try is counted before it is looked up.
func (r *Room) ProveCode(ctx context.Context, tenant, actor, code, caller string) (string, error) {
	w := WrongPIN{Tenant: tenant, Actor: actor, Caller: caller, Door: op.DoorSocket, Code: true}
	var found codeRow
	err := r.db.Write(ctx, func(tx *db.Tx) error {
		var wrong int
		var until int64
		err := tx.QueryRow("SELECT wrong, wait_until FROM pin_try WHERE tenant = ? AND actor = ? AND caller = ?"+tx.ForUpdate(), tenant,
			codesOf(actor), theRest).Scan(&wrong, &until)
		if err != nil && !db.NoRows(err) {
			return err
		}
		if wait := db.Time(until).Sub(tx.Now()); wait > 0 {
			return fault.New(fault.Exhausted, "recovery", "too many wrong recovery codes; the next try is possible in %s", wait.Round(time.Second)).
				WithNext("wait, then try again: tandem recover")
		}
		w.Count, w.Pause = wrong+1, pause(wrong+1, true)
		if _, err = tx.Exec(`INSERT INTO pin_try (tenant, actor, caller, wrong, wait_until, tried_at, proven_at) VALUES (?, ?, ?, 1, ?, ?, 0)
			ON CONFLICT (tenant, actor, caller) DO UPDATE SET wrong = pin_try.wrong + 1, wait_until = excluded.wait_until,
			tried_at = excluded.tried_at`,
			tenant, codesOf(actor), theRest, tx.Now().Add(w.Pause), tx.Now()); err != nil {
			return err
		}
		found, err = scanCode(tx.QueryRow("SELECT "+codeColumns+" FROM recovery_code WHERE tenant = ? AND actor = ? AND hash = ? AND used_at = 0",
			tenant, actor, codeHash(code)))
		if db.NoRows(err) {
			found, err = codeRow{}, nil
		}
		return err
	})
	if err != nil {
		return "", err
	}
	if found.id == "" || !r.Vouch.Holds(ctx, found.Seal()) {
		return "", r.wrong(ctx, w)
	}
	return found.id, r.db.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec("DELETE FROM pin_try WHERE tenant = ? AND actor = ?", tenant, codesOf(actor))
		return err
	})
}
