package automation

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tandem/internal/automation/run"
	"tandem/internal/automation/spec"
	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// cannot lists why a version cannot be switched on here: what nobody built yet, and operations that no automation may call.
func (r *Room) cannot(a *spec.Automation) []string {
	out := unbuilt(a)
	each(a, func(n *spec.Node, b *spec.Body) {
		if b.Command != nil {
			if why := b.Command.Spliced(); why != "" {
				out = append(out, fmt.Sprintf("node %s: %s", n.ID, why))
			}
		}
		if b.Operation == nil {
			return
		}
		if o := r.Find(b.Operation.Name); o == nil {
			out = append(out, fmt.Sprintf("node %s: there is no operation %s", n.ID, b.Operation.Name))
		} else if why := notFor(o); why != "" {
			out = append(out, fmt.Sprintf("node %s: %s %s", n.ID, b.Operation.Name, why))
		}
	})
	return out
}

// notFor says why no node may call an operation, "" when one may. What a run keeps as an artifact is an output of a node: the server looks
// at it first.
func notFor(o *op.Op) string {
	switch {
	case o == nil:
		return ""
	case o.People || o.Present || o.Public || o.Once || o.Class == op.ClassStream:
		return "is for people"
	case o.Right == "" || strings.HasPrefix(o.Name, "automation.") && o.Name != string(wire.Hand) || strings.HasPrefix(o.Name, "artifact."):
		return "is not for automations"
	}
	return ""
}

// each visits every piece of work of a definition.
func each(a *spec.Automation, visit func(*spec.Node, *spec.Body)) {
	for i := range a.Nodes {
		n := &a.Nodes[i]
		if n.Map != nil {
			visit(n, &n.Map.Body)
		} else {
			visit(n, &n.Body)
		}
	}
}

func (r *Room) on(ctx context.Context, tx *db.Tx, in wire.OnIn) (*wire.Automation, error) {
	c := op.CallerFrom(ctx)
	s, err := find(tx, c.Tenant, in.Name)
	if err != nil || s == nil {
		return nil, orNone(err, in.Name)
	}
	v, err := versionIn(tx, c.Tenant, in.Name, in.Digest)
	if err != nil {
		return nil, err
	}
	if v == nil || v.digest != s.Latest {
		return nil, fault.New(fault.Conflict, string(wire.On), "%s changed since it was looked at", in.Name).
			WithNext("look again: tandem automation show %s", in.Name)
	}
	a, err := r.read(v)
	if err != nil {
		return nil, err
	}
	if no := r.cannot(a); len(no) > 0 {
		return nil, fault.New(fault.Invalid, string(wire.On), "this server cannot do what %s asks for:\n%s", in.Name, strings.Join(no, "\n")).
			WithNext("change the definition, then: tandem automation add FILE")
	}
	if err := straight(a); err != nil {
		return nil, err
	}
	if err := unseen(ctx, a); err != nil {
		return nil, err
	}
	if err := r.takeBack(ctx, tx, s); err != nil {
		return nil, err
	}
	if s.Actor, err = r.Actor(ctx, tx, actorName(s.Name)); err != nil {
		return nil, err
	}
	for _, g := range needs(a) {
		id, err := r.Grant(ctx, tx, g)
		if err != nil {
			return nil, err
		}
		s.grants = append(s.grants, id)
	}
	if _, err := tx.Exec("UPDATE automation_version SET actor = ?, approved_by = ?, approved_at = ? WHERE tenant = ? "+
		"AND name = ? AND digest = ?",
		s.Actor, c.Name, tx.Now(), c.Tenant, s.Name, v.digest); err != nil {
		return nil, err
	}
	v.actor, v.approvedBy = s.Actor, c.Name
	op.Row(ctx, v.Seal())
	if err := r.arm(tx, s, a); err != nil {
		return nil, err
	}
	s.actsFor = c.Actor
	if err := r.pauseAll(tx, s, v.digest, c.Name); err != nil {
		return nil, err
	}
	s.Live, s.On, s.SwitchedBy, s.SwitchedAt = v.digest, true, c.Name, tx.Now()
	op.Row(ctx, s.Seal())
	return s.seen(a), s.save(tx)
}

// needs are the grants of a definition: its own commands, schedules and gates. What else it does, the policy of services says.
func needs(a *spec.Automation) (out []Grant) {
	actor := "service:" + actorName(a.Name)
	commands := false
	each(a, func(_ *spec.Node, b *spec.Body) { commands = commands || b.Command != nil })
	if commands {
		out = append(out, Grant{Actor: actor, Resource: commandsOf(a.Name).String()})
	}
	if slices.ContainsFunc(a.Nodes, func(n spec.Node) bool { return n.Makes() }) {
		out = append(out, Grant{Actor: actor, Resource: op.Resource{Kind: "artifact", Path: "/" + a.Name}.String()})
	}
	if len(begins(a)) > 0 {
		out = append(out, Grant{Actor: actor, Resource: ticksOf(a.Name).String()})
	}
	for i := range a.Nodes {
		if g := a.Nodes[i].Asks(); g != nil {
			out = append(out, Grant{Actor: actor, Resource: gatesOf(a.Name, a.Nodes[i].ID).String(), Ask: true, Approvers: persons(g.Approvers...)})
			if g.OnExpiry == spec.Escalate {
				out = append(out, Grant{Actor: actor, Resource: higherOf(a.Name, a.Nodes[i].ID).String(), Ask: true,
					Approvers: persons(append(slices.Clone(g.Approvers), g.Escalate)...)})
			}
		}
	}
	seen := map[string]bool{}
	each(a, func(n *spec.Node, b *spec.Body) {
		if a.Profile == spec.Strict && acts(b) {
			out = append(out, Grant{Actor: actor, Resource: gatesOf(a.Name, n.ID).String(), Ask: true})
		}
		if b.Automation != nil && !seen[b.Automation.Name] {
			seen[b.Automation.Name] = true
			out = append(out, Grant{Actor: actor, Resource: at(b.Automation.Name).String()})
		}
	})
	return out
}

func persons(names ...string) (out []string) {
	for _, p := range names {
		out = append(out, "person:"+strings.TrimPrefix(p, "person:"))
	}
	return out
}

// ticksOf is what the schedules of an automation touch.
func ticksOf(name string) op.Resource {
	return op.Resource{Kind: "automation", Path: "/" + name + "/tick"}
}

// commandsOf is what the commands of an automation touch.
func commandsOf(name string) op.Resource {
	return op.Resource{Kind: "automation", Path: "/" + name + "/command"}
}

func orNone(err error, name string) error {
	if err == nil {
		err = op.NoSuch("automation", name)
	}
	return err
}

// takeBack ends the grants of an automation. One that somebody revoked already is gone.
func (r *Room) takeBack(ctx context.Context, tx *db.Tx, s *row) error {
	for _, id := range s.grants {
		if err := r.Revoke(ctx, tx, id, actorName(s.Name)); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	s.grants = nil
	return nil
}

func (r *Room) off(ctx context.Context, tx *db.Tx, in wire.NameIn) (*wire.Automation, error) {
	c := op.CallerFrom(ctx)
	s, err := find(tx, c.Tenant, in.Name)
	if err != nil || s == nil {
		return nil, orNone(err, in.Name)
	}
	if err := r.takeBack(ctx, tx, s); err != nil {
		return nil, err
	}
	if err := disarm(tx, s); err != nil {
		return nil, err
	}
	if s.On && s.SwitchedBy != c.Name && r.SwitchedOff != nil {
		if err := r.SwitchedOff(tx, c.Tenant, s.Name, s.SwitchedBy, c.Name); err != nil {
			return nil, err
		}
	}
	s.Live, s.On, s.SwitchedBy, s.SwitchedAt = "", false, c.Name, tx.Now()
	op.Seal(ctx, s.Seal().Subject)
	if err := r.pauseAll(tx, s, "", c.Name); err != nil {
		return nil, err
	}
	tx.AfterCommit(func() { r.endAll(s.tenant, s.Name); r.rearm() })
	a := &spec.Automation{} // it is switched off whether or not it can be read
	v, err := versionIn(tx, c.Tenant, s.Name, s.Latest)
	if err != nil {
		return nil, err
	}
	if v != nil {
		if read, err := r.read(v); err == nil {
			a = read
		}
	}
	return s.seen(a), s.save(tx)
}

// pauseAll pauses the open runs of an automation, but not those of the version that is switched on now, begun with the same authority.
func (r *Room) pauseAll(tx *db.Tx, s *row, live, by string) error {
	open, err := collectRuns(tx.Query("SELECT "+runColumns+
		" FROM automation_run WHERE tenant = ? AND name = ? AND ended_at = 0", s.tenant, s.Name))
	if err != nil {
		return err
	}
	for _, row := range open {
		pause := run.Event{Kind: run.Pausing, By: by}
		switch {
		case live == "":
			pause.Text = "the automation was switched off"
		case row.digest != live:
			pause.Text = "another version was switched on"
		case row.actsFor != s.actsFor:
			pause.Text = "another person switched it on"
		default:
			continue
		}
		_, err := r.tell(tx, s.tenant, row.id, func(h *held) error { return h.apply(pause) })
		if errors.Is(err, errUnread) {
			err = r.giveUp(tx, row, by)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Room) remove(ctx context.Context, tx *db.Tx, in wire.NameIn) (wire.OK, error) {
	c := op.CallerFrom(ctx)
	s, err := find(tx, c.Tenant, in.Name)
	if err != nil || s == nil {
		return wire.OK{}, orNone(err, in.Name)
	}
	if s.On {
		return wire.OK{}, fault.New(fault.Conflict, string(wire.Remove), "%s is switched on", s.Name).
			WithNext("switch it off first: tandem automation off %s", s.Name)
	}
	var n int
	if err := tx.QueryRow("SELECT count(*) FROM automation_run WHERE tenant = ? AND name = ? AND ended_at = 0", c.Tenant, s.Name).
		Scan(&n); err != nil {
		return wire.OK{}, err
	}
	if n > 0 {
		return wire.OK{}, fault.New(fault.Conflict, string(wire.Remove), "%s has %d open runs", s.Name, n).
			WithNext("cancel them first: tandem automation runs list %s", s.Name)
	}
	approved, err := tx.Query("SELECT "+versionColumns+" FROM automation_version WHERE tenant = ? AND name = ? AND approved_at > 0",
		c.Tenant, s.Name)
	all, err := db.Collect(approved, err, func(rows *sql.Rows) (*version, error) { return scanVersion(rows) })
	if err != nil {
		return wire.OK{}, err
	}
	for _, v := range all {
		op.Seal(ctx, v.Seal().Subject) // from here on nothing vouches for it
	}
	op.Seal(ctx, s.Seal().Subject) // also where a row alone says that it is switched off
	for _, q := range []string{
		"DELETE FROM automation_event WHERE tenant = ? AND run IN (SELECT id FROM automation_run WHERE tenant = ? AND name = ?)",
		"DELETE FROM automation_step WHERE tenant = ? AND run IN (SELECT id FROM automation_run WHERE tenant = ? AND name = ?)",
	} {
		if _, err := tx.Exec(q, c.Tenant, c.Tenant, s.Name); err != nil {
			return wire.OK{}, err
		}
	}
	hooks, err := tx.Query("SELECT trigger_id FROM automation_hook WHERE tenant = ? AND name = ?", c.Tenant, s.Name)
	triggers, err := db.Collect(hooks, err, func(rows *sql.Rows) (t string, err error) { return t, rows.Scan(&t) })
	if err != nil {
		return wire.OK{}, err
	}
	for _, t := range triggers {
		if err := r.Drop(tx, c.Tenant, hookSecret(s.Name, t)); err != nil && !fault.Is(err, fault.NotFound) {
			return wire.OK{}, err
		}
	}
	for _, table := range []string{"automation_delivery", "automation_remembered", "automation_hook",
		"automation_tick", "automation_trigger", "automation_run", "automation_version", "automation"} {
		if _, err := tx.Exec("DELETE FROM "+table+" WHERE tenant = ? AND name = ?", c.Tenant, s.Name); err != nil {
			return wire.OK{}, err
		}
	}
	return wire.OK{OK: true}, nil
}
