package secret

import (
	"context"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/secret/wire"
)

func at(name string) op.Resource { return op.Resource{Kind: "secret", Path: "/" + name} }

// Ops is this room's front door.
func (r *Room) Ops() []op.Op {
	return []op.Op{
		op.Touching(wire.Set.State(op.Spec{Right: "secret.write", Method: "PUT", Path: "/secret/{name...}", Secret: []string{"value"},
			Doc: "Store a secret, sealed. Tools and connectors are lent it for one call; nobody reads it back."},
			func(in wire.SetIn) op.Resource { return at(in.Name) }, r.set),
			func(_ context.Context, in wire.SetIn) op.Touch { return r.serves(in.Name) }),
		wire.List.Read(op.Spec{Right: "secret.list", Method: "GET", Path: "/secret",
			Doc: "List the names of secrets, their versions and who set them. Values are not shown."},
			func(struct{}) op.Resource { return at("") }, r.list),
		op.Touching(wire.Delete.State(op.Spec{Right: "secret.delete", Method: "DELETE", Path: "/secret/{name...}",
			Doc: "Delete a secret. What was lent before is not taken back: change it at its source too."},
			func(in wire.NameIn) op.Resource { return at(in.Name) }, r.remove),
			func(_ context.Context, in wire.NameIn) op.Touch { return r.serves(in.Name) }),
		wire.Unmask.State(op.Spec{Once: true, Right: "secret.unmask", Method: "POST", Path: "/secret-unmask", Present: true, People: true,
			MCP: "-",
			Doc: "Show a secret to a person who is present. That it was shown is recorded."},
			func(in wire.NameIn) op.Resource { return at(in.Name) }, r.unmask),
		wire.Rotate.Effect(op.Spec{Right: "secret.admin", Method: "POST", Path: "/secret-rotate", Present: true, People: true, MCP: "-",
			Doc: "Make a new master key, seal every secret anew under it and remove the old key."},
			func(struct{}) op.Resource { return at("") }, r.rotate, nil),
	}
}

func (r *Room) set(ctx context.Context, tx *db.Tx, in wire.SetIn) (wire.Info, error) {
	c := op.CallerFrom(ctx)
	if err := r.owned(tx, c, "secret.set", in.Name); err != nil {
		return wire.Info{}, err
	}
	if err := r.keeps(tx, c, "secret.set", in.Name); err != nil {
		return wire.Info{}, err
	}
	struck := struckOwn
	switch present := c.Kind == op.Person && c.Present != ""; {
	case present:
		struck = struckAll
	case in.All:
		return wire.Info{}, needsPerson(fault.New(fault.Denied, "secret.set",
			"keeping %s out of everybody's record needs a person who is present", in.Name))
	}
	info, err := r.put(tx, c.Tenant, in.Name, in.Value, c.Name, struck)
	op.Note(ctx, "version", info.Version)
	op.Note(ctx, "struck_from", info.Struck)
	return info, err
}

// keeps refuses to let what a present person stored be replaced or deleted by anybody else: it keeps everybody's record clean.
func (r *Room) keeps(tx *db.Tx, c op.Caller, verb, name string) error {
	var struck, by string
	err := tx.QueryRow("SELECT struck, updated_by FROM secret WHERE tenant = ? AND name = ?", c.Tenant, name).Scan(&struck, &by)
	if db.NoRows(err) || err == nil && (struck != struckAll || by == maker || c.Kind == op.Person && c.Present != "") {
		return nil
	}
	if err != nil {
		return err
	}
	return needsPerson(fault.New(fault.Denied, verb,
		"%s was stored by a person who was present, and is struck from everybody's record: changing it needs one too", name))
}

func needsPerson(f *fault.Error) error {
	return f.With("presence", "required").WithNext("do it on a terminal with the PIN, or in the panel with a passkey")
}

func (r *Room) list(ctx context.Context, _ struct{}) (wire.ListOut, error) {
	out := wire.ListOut{Secrets: []wire.Info{}}
	var err error
	if out.Keeper, err = r.Keeper(ctx); err != nil {
		return out, err
	}
	rows, err := r.db.Query(ctx, "SELECT name, version, created_at, updated_at, updated_by, struck FROM secret WHERE tenant = ? ORDER BY name",
		op.CallerFrom(ctx).Tenant)
	all, err := db.Collect(rows, err, func(s scanner) (i wire.Info, err error) {
		var created, updated int64
		err = s.Scan(&i.Name, &i.Version, &created, &updated, &i.By, &i.Struck)
		i.Created, i.Updated = db.Time(created), db.Time(updated)
		return i, err
	})
	for _, i := range all {
		if op.May(ctx, "secret.view", at(i.Name)) {
			out.Secrets = append(out.Secrets, i)
		}
	}
	return out, err
}

func (r *Room) remove(ctx context.Context, tx *db.Tx, in wire.NameIn) (wire.DeleteOut, error) {
	c := op.CallerFrom(ctx)
	if err := r.owned(tx, c, "secret.delete", in.Name); err != nil {
		return wire.DeleteOut{}, err
	}
	if err := r.keeps(tx, c, "secret.delete", in.Name); err != nil {
		return wire.DeleteOut{}, err
	}
	n, err := tx.Changed("DELETE FROM secret WHERE tenant = ? AND name = ?", c.Tenant, in.Name)
	r.forget(tx, c.Tenant, in.Name)
	if err == nil && n == 0 {
		err = missing(in.Name)
	}
	return wire.DeleteOut(in), err
}

func (r *Room) unmask(ctx context.Context, tx *db.Tx, in wire.NameIn) (wire.UnmaskOut, error) {
	value, err := r.Open(tx, op.CallerFrom(ctx).Tenant, in.Name)
	if err != nil {
		return wire.UnmaskOut{}, err
	}
	defer clear(value)
	return wire.UnmaskOut{Name: in.Name, Value: string(value)}, nil
}

func (r *Room) rotate(ctx context.Context, _ struct{}) (wire.RotateOut, error) {
	n, err := r.Rotate(ctx, op.CallerFrom(ctx).Tenant)
	if err != nil {
		return wire.RotateOut{}, err
	}
	keeper, err := r.Keeper(ctx)
	return wire.RotateOut{Sealed: n, Keeper: keeper}, err
}
