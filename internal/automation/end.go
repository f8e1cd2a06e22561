package automation

import (
	"errors"

	"tandem/internal/automation/run"
	"tandem/internal/db"
)

// errEnded is why a step under way ends before its time.
var errEnded = errors.New("it was ended in the middle: its run was cancelled, or its automation switched off")

// end ends the commands under way here that somebody wants no more. An operation is short, and comes to its end.
func (r *Room) end(unwanted func(*job) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for j, cancel := range r.inHand {
		if j.body.Command != nil && unwanted(j) {
			cancel(errEnded)
		}
	}
}

// endRun ends what is under way in a run.
func (r *Room) endRun(k runKey) { r.end(func(j *job) bool { return j.runKey == k }) }

// endAll ends what is under way in all runs of an automation.
func (r *Room) endAll(tenant, name string) {
	r.end(func(j *job) bool { return j.tenant == tenant && j.name == name })
}

// stillWanted reports whether the run of a step goes on: another server may have cancelled it or switched its automation off.
func stillWanted(tx *db.Tx, j *job) (bool, error) {
	var n int
	err := tx.QueryRow(`SELECT count(*) FROM automation_run r JOIN automation a ON a.tenant = r.tenant AND a.name = r.name
		WHERE r.tenant = ? AND r.id = ? AND r.ended_at = 0 AND a.live <> ''`, j.tenant, j.id).Scan(&n)
	return n > 0, err
}

// cut is what became of a step that was ended in the middle: what it did is not undone, and nobody knows how far it came.
func cut(res result) result {
	if res.Kind == run.Finished || res.waits != "" {
		return res
	}
	return lost("%v", errEnded)
}
