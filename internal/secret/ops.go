package secret

import (
	"context"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// SetIn stores a value.
type SetIn struct {
	Name  string `json:"name" jsonschema:"what it is called, e.g. provider/openai"`
	Value string `json:"value" jsonschema:"the secret itself; it is never shown again but to a person present"`
	All   bool   `json:"all,omitempty" jsonschema:"keep it out of everybody's record, not only of the caller's; needs a person who is present"`
}

// Check refuses a bad name or value before anybody is asked about it.
func (in SetIn) Check() error {
	if err := checkName(in.Name); err != nil {
		return err
	}
	return checkValue(in.Value)
}

// NameIn names a secret.
type NameIn struct {
	Name string `json:"name" jsonschema:"what it is called"`
}

// Check refuses what is no name.
func (in NameIn) Check() error { return checkName(in.Name) }

// ListOut are the secrets' names.
type ListOut struct {
	Secrets []Info `json:"secrets"`
	Keeper  string `json:"keeper" jsonschema:"where the master key is: keyring or file"`
}

// DeleteOut says what is gone.
type DeleteOut struct {
	Name string `json:"name"`
}

// UnmaskOut is a secret in the clear.
type UnmaskOut struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// RotateOut counts what was sealed anew.
type RotateOut struct {
	Sealed int    `json:"sealed"`
	Keeper string `json:"keeper"`
}

func at(name string) op.Resource { return op.Resource{Kind: "secret", Path: "/" + name} }

// Ops is this room's front door.
func (r *Room) Ops() []op.Op {
	return []op.Op{
		op.State(op.Spec{Name: "secret.set", Right: "secret.write", Method: "PUT", Path: "/secret/{name...}", Secret: []string{"value"},
			Doc: "Store a secret, sealed. Tools and connectors are lent it for one call; nobody reads it back."},
			func(in SetIn) op.Resource { return at(in.Name) }, r.set),
		op.Read(op.Spec{Name: "secret.list", Right: "secret.list", Method: "GET", Path: "/secret",
			Doc: "List the names of secrets, their versions and who set them. Values are not shown."},
			func(struct{}) op.Resource { return at("") }, r.list),
		op.State(op.Spec{Name: "secret.delete", Right: "secret.delete", Method: "DELETE", Path: "/secret/{name...}",
			Doc: "Delete a secret. What was lent before is not taken back: change it at its source too."},
			func(in NameIn) op.Resource { return at(in.Name) }, r.remove),
		op.State(op.Spec{Name: "secret.unmask", Once: true, Right: "secret.unmask", Method: "POST", Path: "/secret-unmask", Present: true, People: true, MCP: "-",
			Doc: "Show a secret to a person who is present. That it was shown is recorded."},
			func(in NameIn) op.Resource { return at(in.Name) }, r.unmask),
		op.Effect(op.Spec{Name: "secret.rotate", Right: "secret.admin", Method: "POST", Path: "/secret-rotate", Present: true, People: true, MCP: "-",
			Doc: "Make a new master key, seal every secret anew under it and remove the old key."},
			func(struct{}) op.Resource { return at("") }, r.rotate, nil),
	}
}

func (r *Room) set(ctx context.Context, tx *db.Tx, in SetIn) (Info, error) {
	c := op.CallerFrom(ctx)
	if err := r.owned(tx, c, "secret.set", in.Name); err != nil {
		return Info{}, err
	}
	if err := r.keeps(tx, c, "secret.set", in.Name); err != nil {
		return Info{}, err
	}
	struck := struckOwn
	switch present := c.Kind == op.Person && c.Present != ""; {
	case present:
		struck = struckAll
	case in.All:
		return Info{}, needsPerson(fault.New(fault.Denied, "secret.set", "keeping %s out of everybody's record needs a person who is present", in.Name))
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
	return needsPerson(fault.New(fault.Denied, verb, "%s was stored by a person who was present, and is struck from everybody's record: changing it needs one too", name))
}

func needsPerson(f *fault.Error) error {
	return f.With("presence", "required").WithNext("do it on a terminal with the PIN, or in the panel with a passkey")
}

func (r *Room) list(ctx context.Context, _ struct{}) (ListOut, error) {
	out := ListOut{Secrets: []Info{}}
	var err error
	if out.Keeper, err = r.Keeper(ctx); err != nil {
		return out, err
	}
	rows, err := r.db.Query(ctx, "SELECT name, version, created_at, updated_at, updated_by, struck FROM secret WHERE tenant = ? ORDER BY name", op.CallerFrom(ctx).Tenant)
	all, err := db.Collect(rows, err, func(s scanner) (i Info, err error) {
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

func (r *Room) remove(ctx context.Context, tx *db.Tx, in NameIn) (DeleteOut, error) {
	c := op.CallerFrom(ctx)
	if err := r.owned(tx, c, "secret.delete", in.Name); err != nil {
		return DeleteOut{}, err
	}
	if err := r.keeps(tx, c, "secret.delete", in.Name); err != nil {
		return DeleteOut{}, err
	}
	r.redact.Forget(in.Name, tx.Now().Add(forgetAfter))
	n, err := tx.Changed("DELETE FROM secret WHERE tenant = ? AND name = ?", c.Tenant, in.Name)
	if err == nil && n == 0 {
		err = missing(in.Name)
	}
	return DeleteOut{in.Name}, err
}

func (r *Room) unmask(ctx context.Context, tx *db.Tx, in NameIn) (UnmaskOut, error) {
	value, err := r.Open(tx, op.CallerFrom(ctx).Tenant, in.Name)
	if err != nil {
		return UnmaskOut{}, err
	}
	defer clear(value)
	return UnmaskOut{in.Name, string(value)}, nil
}

func (r *Room) rotate(ctx context.Context, _ struct{}) (RotateOut, error) {
	n, err := r.Rotate(ctx, op.CallerFrom(ctx).Tenant)
	if err != nil {
		return RotateOut{}, err
	}
	keeper, err := r.Keeper(ctx)
	return RotateOut{n, keeper}, err
}
