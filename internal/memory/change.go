package memory

import (
	"context"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/memory/wire"
	"tandem/internal/op"
)

// store writes a record that was changed; before is what it was.
func store(ctx context.Context, tx *db.Tx, before, rec *row, what string) (wire.Changed, error) {
	c := op.CallerFrom(ctx)
	if before.State == wire.Live {
		if err := unindex(tx, c.Tenant, before); err != nil {
			return wire.Changed{}, err
		}
	}
	rec.Version, rec.ChangedAt = before.Version+1, tx.Now()
	if err := update(tx, c.Tenant, rec); err != nil {
		return wire.Changed{}, err
	}
	if rec.State == wire.Live {
		if err := index(tx, c.Tenant, rec); err != nil {
			return wire.Changed{}, err
		}
	}
	if rec.place != before.place {
		if err := vacate(tx, c.Tenant, before.place); err != nil {
			return wire.Changed{}, err
		}
	}
	return changed(ctx, rec), keep(tx, c.Tenant, rec, what, c.Name)
}

// changeable is a record that can still be changed, at the version that somebody read.
func changeable(ctx context.Context, tx *db.Tx, id string, version int64) (before, rec *row, err error) {
	before, err = seen(ctx, tx, id)
	if err == nil {
		err = atVersion(before, version)
	}
	if err == nil && before.State != wire.Live && before.State != wire.Proposed {
		err = conflict("%s is %s", id, before.State).WithNext("see what became of it: tandem memory history %s", id)
	}
	if err == nil && expired(before, tx.Now()) {
		err = conflict("%s expired", id).WithNext("add it anew, or delete its text: tandem memory forget %s", id)
	}
	if err != nil {
		return nil, nil, err
	}
	next := *before
	return before, &next, nil
}

// edit mends a record. Who answers for it does not change by that.
func (r *Room) edit(ctx context.Context, tx *db.Tx, in wire.EditIn) (wire.Changed, error) {
	before, rec, err := changeable(ctx, tx, in.ID, in.Version)
	if err != nil {
		return wire.Changed{}, err
	}
	if in.Text == nil && in.Kind == "" && in.Labels == nil {
		return wire.Changed{}, bad("nothing is to be changed").WithNext("give a new text, kind or labels")
	}
	if in.Text != nil {
		if err := checkText(*in.Text); err != nil {
			return wire.Changed{}, err
		}
		rec.Text, rec.digest = *in.Text, digest(*in.Text)
	}
	if in.Kind != "" {
		if err := checkKind(in.Kind); err != nil {
			return wire.Changed{}, err
		}
		rec.Kind = in.Kind
	}
	if in.Labels != nil {
		if err := checkLabels(*in.Labels); err != nil {
			return wire.Changed{}, err
		}
		rec.Labels = *in.Labels
	}
	return store(ctx, tx, before, rec, "edited")
}

// promote makes a record live, and may let it reach further. A person has read it: it is approved, unless it follows from what is not.
func (r *Room) promote(ctx context.Context, tx *db.Tx, in wire.MoveIn) (wire.Changed, error) {
	before, rec, err := changeable(ctx, tx, in.ID, in.Version)
	if err != nil {
		return wire.Changed{}, err
	}
	moved, err := move(ctx, tx, rec, in)
	if err != nil {
		return wire.Changed{}, err
	}
	if moved && wider(before.Tier, rec.Tier) {
		return wire.Changed{}, bad("%s reaches less far than %s", rec.Tier, before.Tier).WithNext("to narrow it: tandem memory demote %s", in.ID)
	}
	if before.State == wire.Live && !moved {
		return wire.Changed{}, conflict("%s is live already", in.ID).WithNext("to let it reach further, say where: --tier team")
	}
	tenant := op.CallerFrom(ctx).Tenant
	if err := sources(tx, tenant, &rec.Record); err != nil {
		return wire.Changed{}, err
	}
	trust := rec.Trust
	if trust == wire.Untrusted {
		trust = wire.Approved
	}
	if rec.Trust, err = trusted(ctx, tx, trust, rec.Sources); err != nil {
		return wire.Changed{}, err
	}
	rec.State = wire.Live
	what := "made live"
	if moved {
		what = "promoted to " + at(rec.Tier, rec.Of).Path[1:]
	}
	if before.State == wire.Proposed && rec.Replaces != "" {
		if old, err := load(tx, tenant, rec.Replaces); err != nil {
			return wire.Changed{}, err
		} else if old != nil && old.State == wire.Live && sees(ctx, old) {
			if err := supersede(ctx, tx, old, rec.ID); err != nil {
				return wire.Changed{}, err
			}
		}
	}
	return store(ctx, tx, before, rec, what)
}

// demote lets a record reach less far, or takes it back until a person makes it live again.
func (r *Room) demote(ctx context.Context, tx *db.Tx, in wire.MoveIn) (wire.Changed, error) {
	before, rec, err := changeable(ctx, tx, in.ID, in.Version)
	if err != nil {
		return wire.Changed{}, err
	}
	moved, err := move(ctx, tx, rec, in)
	switch {
	case err != nil:
		return wire.Changed{}, err
	case moved && !wider(before.Tier, rec.Tier):
		return wire.Changed{}, bad("%s does not reach less far than %s", rec.Tier, before.Tier).
			WithNext("to widen it: tandem memory promote %s", in.ID)
	case moved:
		return store(ctx, tx, before, rec, "demoted to "+at(rec.Tier, rec.Of).Path[1:])
	case before.State == wire.Proposed:
		return wire.Changed{}, conflict("%s is proposed already", in.ID).WithNext("to delete it: tandem memory forget %s", in.ID)
	}
	rec.State = wire.Proposed
	return store(ctx, tx, before, rec, "taken back")
}

// move puts a record into another place, when one is named that is not its own.
func move(ctx context.Context, tx *db.Tx, rec *row, in wire.MoveIn) (moved bool, err error) {
	if in.Tier == "" || in.Tier == rec.Tier && in.Of == rec.Of {
		return false, nil
	}
	if err := checkPlace(in.Tier, in.Of); err != nil {
		return false, err
	}
	if !op.May(ctx, "memory.write", at(in.Tier, in.Of)) {
		return false, fault.New(fault.Denied, "memory", "you may not write into %s", at(in.Tier, in.Of)).
			WithNext("ask for a grant: tandem grant list")
	}
	rec.Tier, rec.Of = in.Tier, in.Of
	rec.place, err = placed(ctx, tx, in.Tier, in.Of, wire.Live)
	return true, err
}
