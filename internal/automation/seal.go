package automation

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"tandem/internal/automation/run"
	"tandem/internal/automation/spec"
	"tandem/internal/db"
	"tandem/internal/op"
)

// unswitched says why a run does not go on, whatever its own events say: its automation is not switched on as the run began, or it is past
// a gate that nobody let it through.
func (r *Room) unswitched(ctx context.Context, h *held) (string, error) {
	s, err := find(h.tx, h.tenant, h.name)
	if err != nil {
		return "", err
	}
	const changed = ": the database was changed"
	switch {
	case s == nil || !s.On:
		return "its automation is not switched on" + changed, nil
	case !r.Vouch.Holds(ctx, s.Seal()):
		return "its automation is not switched on as a person said" + changed, nil
	case s.Live != h.digest || s.actsFor != h.actsFor:
		return "it is of another version, or of another person's authority, than is switched on" + changed, nil
	case r.Kept == nil:
		return "", nil
	}
	if why, err := r.unrepaired(h); err != nil || why != "" {
		return why, err
	}
	for _, step := range h.run.Steps() {
		g := h.node(step.Node).Asks()
		if g == nil || step.Phase != run.Done || g.OnExpiry == spec.Resume && step.Output["by"] == nil {
			continue
		}
		if held, err := r.Kept(h.tx, passSeal(h.tenant, h.id, step.Node)); err != nil || !held {
			return fmt.Sprintf("it is past the gate %s, and nobody let it through%s", step.Node, changed), err
		}
	}
	return "", nil
}

// passSeal is that a person let a run through a gate.
func passSeal(tenant, id, node string) op.Sealed {
	return op.Sealed{Tenant: tenant, Subject: "pass:" + id + "/" + node, Says: []string{id, node},
		What: "that the run " + id + " was let through its gate " + node}
}

// passes are the gates that open runs are past.
func passes(ctx context.Context, d *db.DB) (out []op.Sealed, err error) {
	err = eachEvent(ctx, d, run.Answered, func(tenant, id string, e run.Event) {
		if e.Answer == "approve" {
			out = append(out, passSeal(tenant, id, e.Node))
		}
	})
	return out, err
}

// eachEvent reads the events of one kind of all open runs, by run and in their order. One that cannot be read is passed over: its run does
// not go on.
func eachEvent(ctx context.Context, d *db.DB, kind run.Kind, do func(tenant, id string, e run.Event)) error {
	rows, err := d.Query(ctx, `SELECT e.tenant, e.run, e.body FROM automation_event e JOIN automation_run r ON r.tenant = e.tenant AND
		r.id = e.run WHERE r.ended_at = 0 AND e.body LIKE ? ORDER BY e.run, e.seq`, `{"kind":"`+string(kind)+`"%`)
	_, err = db.Collect(rows, err, func(rows *sql.Rows) (struct{}, error) {
		var tenant, id, body string
		var e run.Event
		err := rows.Scan(&tenant, &id, &body)
		if err == nil && json.Unmarshal([]byte(body), &e) == nil {
			do(tenant, id, e)
		}
		return struct{}{}, err
	})
	return err
}
