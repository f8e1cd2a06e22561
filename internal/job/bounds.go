package job

import (
	"context"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
)

// How many jobs there are on one machine: nobody here can end those of another. Those that are over go, the oldest first, when there are
// too many: what became of them stays in the journal.
const (
	maxOpen     = 500 // of a tenant, that are neither merged nor stopped
	maxFrom     = 100 // of those, started by one
	maxKept     = 5000
	maxEvidence = 100 // runs of a job's check, the newest
)

// roomFor refuses a job more than there may be, and lets old ones go.
func (r *Room) roomFor(ctx context.Context, tx *db.Tx, c op.Caller) error {
	var all, open int
	if err := tx.QueryRow("SELECT count(*), COALESCE(SUM(CASE WHEN state IN (?, ?) THEN 0 ELSE 1 END), "+
		"0) FROM job WHERE tenant = ? AND home = ?",
		string(wire.Merged), string(wire.Stopped), c.Tenant, r.Owner.Home).Scan(&all, &open); err != nil {
		return err
	}
	if open >= maxFrom {
		under, err := collect(tx.Query(columns+"tenant = ? AND home = ? AND state NOT IN (?, ?)", c.Tenant, r.Owner.Home, string(wire.Merged),
			string(wire.Stopped)))
		if err != nil {
			return err
		}
		own := 0
		for _, j := range under {
			if j.Caller.Actor == c.Actor {
				own++
			}
		}
		if open >= maxOpen || own >= maxFrom {
			return fault.New(fault.Exhausted, "job.start", "%d jobs are open, %d of them started by %s: there may be %d and %d", open, own, c.Name,
				maxOpen, maxFrom).WithNext("merge or stop some: tandem job list")
		}
	}
	if all < maxKept {
		return nil
	}
	for gone, last := 0, ""; gone == 0; {
		old, err := collect(tx.Query(columns+"tenant = ? AND home = ? AND state IN (?, ?) AND id > ? ORDER BY id LIMIT 100", c.Tenant,
			r.Owner.Home, string(wire.Merged), string(wire.Stopped), last))
		if err != nil {
			return err
		}
		if len(old) == 0 {
			return fault.New(fault.Exhausted, "job.start", "there are %d jobs already, and those that are over still have workspaces", all).
				WithNext("discard some that nobody needs: tandem job stop JOB --discard")
		}
		if gone, err = r.forget(ctx, tx, old); err != nil {
			return err
		}
		last = old[len(old)-1].ID
	}
	return nil
}

// forget deletes those jobs that left nothing behind.
func (r *Room) forget(ctx context.Context, tx *db.Tx, old []*Job) (gone int, err error) {
	for _, j := range old {
		if j.Path != "" || j.unread || j.next() {
			continue
		}
		for _, q := range []string{"DELETE FROM job_evidence WHERE tenant = ? AND job = ?", "DELETE FROM job WHERE tenant = ? AND id = ?"} {
			if _, err := tx.Exec(q, j.Tenant, j.ID); err != nil {
				return gone, err
			}
		}
		if err := r.Unpost(ctx, tx, j.Tenant, j.ID); err != nil {
			return gone, err
		}
		op.Seal(ctx, j.seal().Subject)
		gone++
	}
	return gone, nil
}
