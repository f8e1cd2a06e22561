package automation

import (
	"context"

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

// repairs are the definitions by which open runs go that were repaired: the newest of each.
func repairs(ctx context.Context, d *db.DB) (out []op.Sealed, err error) {
	err = eachEvent(ctx, d, run.Repaired, func(tenant, id string, e run.Event) {
		s := repairSeal(tenant, id, e.Digest)
		if n := len(out); n > 0 && out[n-1].Tenant == tenant && out[n-1].Subject == s.Subject {
			out = out[:n-1]
		}
		out = append(out, s)
	})
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
