package automation

import (
	"context"
	"database/sql"
	"encoding/json"

	"tandem/internal/automation/run"
	"tandem/internal/automation/spec"
	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/op"
)

// repairSeal is that a person had a run told something else: the definition that it goes by since then.
func repairSeal(tenant, id, digest string) op.Sealed {
	return op.Sealed{Tenant: tenant, Subject: "repair:" + id, Says: []string{id, digest}, What: "that the run " + id + " was repaired"}
}

// unrepaired says why a run does not go on that goes by other words than its version: no person said them.
func (r *Room) unrepaired(h *held) (string, error) {
	if len(h.run.Repairs) == 0 {
		return "", nil
	}
	a, err := r.told(h)
	if err != nil {
		return "", err
	}
	if kept, err := r.Kept(h.tx, repairSeal(h.tenant, h.id, a.Digest())); err != nil || !kept {
		return "it was repaired, and not by a person here: the database was changed", err
	}
	return "", nil
}

// repairs are the definitions by which open runs go that were repaired.
func repairs(ctx context.Context, d *db.DB) (out []op.Sealed, err error) {
	rows, err := d.Query(ctx, `SELECT e.tenant, e.run, e.body FROM automation_event e JOIN automation_run r ON r.tenant = e.tenant AND
		r.id = e.run WHERE r.ended_at = 0 AND e.body LIKE '{"kind":"repaired"%' ORDER BY e.run, e.seq`)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (s op.Sealed, err error) {
		var tenant, id, body string
		var e run.Event
		if err = rows.Scan(&tenant, &id, &body); err != nil {
			return s, err
		}
		if json.Unmarshal([]byte(body), &e) == nil { // a run does not go on whose events cannot be read
			s = repairSeal(tenant, id, e.Digest)
		}
		return s, nil
	})
	for i, s := range all {
		if s.Subject != "" && (i+1 == len(all) || all[i+1].Subject != s.Subject) { // the newest one counts
			out = append(out, s)
		}
	}
	return out, err
}

// seenRepairs are the repairs of a run as people see them.
func (h *held) seenRepairs(a *spec.Automation) (out []wire.Repaired) {
	for _, one := range h.run.Repairs {
		a = a.Told(one.Node, one.Is)
		out = append(out, wire.Repaired{Node: one.Node, By: one.By, At: one.At, Reason: one.Why, Changes: wordsDiff(one.Was, one.Is),
			Digest: a.Digest()})
	}
	return out
}
