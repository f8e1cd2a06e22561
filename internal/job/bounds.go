package job

import (
	"database/sql"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
)

// How many jobs there are. Those that are over go, the oldest first, when there are too many: what became of them stays in the journal.
const (
	maxOpen     = 500 // of a tenant, that are neither merged nor stopped
	maxFrom     = 100 // of those, started by one
	maxKept     = 5000
	maxEvidence = 100 // runs of a job's check, the newest
)

// roomFor refuses a job more than there may be, and lets old ones go.
func (r *Room) roomFor(tx *db.Tx, c op.Caller) error {
	var all, open int
	if err := tx.QueryRow("SELECT count(*), COALESCE(SUM(CASE WHEN state IN (?, ?) THEN 0 ELSE 1 END), 0) FROM job WHERE tenant = ?",
		string(wire.Merged), string(wire.Stopped), c.Tenant).Scan(&all, &open); err != nil {
		return err
	}
	if open >= maxFrom {
		rows, err := tx.Query(columns+"tenant = ? AND state NOT IN (?, ?)", c.Tenant, string(wire.Merged), string(wire.Stopped))
		under, err := db.Collect(rows, err, func(rows *sql.Rows) (*Job, error) { return scan(rows) })
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
	rows, err := tx.Query(columns+"tenant = ? AND state IN (?, ?) ORDER BY id LIMIT 100", c.Tenant, string(wire.Merged), string(wire.Stopped))
	old, err := db.Collect(rows, err, func(rows *sql.Rows) (*Job, error) { return scan(rows) })
	if err != nil {
		return err
	}
	gone := 0
	for _, j := range old {
		if j.Path != "" || j.next() {
			continue
		}
		for _, q := range []string{"DELETE FROM job_evidence WHERE tenant = ? AND job = ?", "DELETE FROM job WHERE tenant = ? AND id = ?"} {
			if _, err := tx.Exec(q, j.Tenant, j.ID); err != nil {
				return err
			}
		}
		gone++
	}
	if gone == 0 {
		return fault.New(fault.Exhausted, "job.start", "there are %d jobs already, and the oldest of them still have workspaces", all).
			WithNext("discard some that nobody needs: tandem job stop JOB --discard")
	}
	return nil
}
