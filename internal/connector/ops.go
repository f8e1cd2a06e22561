package connector

import (
	"context"
	"errors"
	"slices"
	"strings"

	"tandem/internal/connector/wire"
	"tandem/internal/db"
	"tandem/internal/egress"
	"tandem/internal/fault"
	"tandem/internal/op"
)

func named(in wire.NameIn) op.Resource { return at(in.Name) }

// Ops is this room's front door.
func (r *Room) Ops() []op.Op {
	return append([]op.Op{
		wire.List.Read(op.Spec{Right: "connector.list", Masked: true, Method: "GET", Path: "/connectors",
			Doc: "List connectors, their state and what they offer."},
			func(wire.Nothing) op.Resource { return at("") }, r.list),
		wire.Add.State(op.Spec{Right: "connector.write", Method: "POST", Path: "/connectors", MCP: "-",
			Doc: "Add an outside MCP server at an address. It can be called once a person accepted what it offers."},
			func(in wire.AddIn) op.Resource { return at(in.Name) }, r.add),
		wire.AddCommand.State(op.Spec{Right: "connector.admin", Method: "POST", Path: "/connectors/command", MCP: "-", Present: true,
			People: true,
			Doc:    "Add a program that speaks MCP as a connector. It runs in a sandbox; adding it is running code."},
			func(in wire.CommandIn) op.Resource { return at(in.Name) }, r.addCommand),
		wire.Update.State(op.Spec{Right: "connector.write", Method: "PATCH", Path: "/connectors/{name}", MCP: "-",
			Doc: "Enable, disable or restrict a connector. The next call obeys it."},
			func(in wire.UpdateIn) op.Resource { return at(in.Name) }, r.update),
		wire.Remove.State(op.Spec{Right: "connector.write", Method: "DELETE", Path: "/connectors/{name}", MCP: "-",
			Doc: "Remove a connector, and the secret and the sign-in that were kept for it."}, named, r.remove),
		wire.Secret.State(op.Spec{Right: "connector.write", Method: "PUT", Path: "/connectors/{name}/secret", MCP: "-",
			Secret: []string{"secret"},
			Doc:    "Store the secret that a connector's header carries, sealed."},
			func(in wire.SecretIn) op.Resource { return at(in.Name) }, r.secret),
		op.Binding(wire.Sync.Effect(op.Spec{Right: "connector.write", Method: "POST", Path: "/connectors/{name}/sync", MCP: "-",
			Doc: "Ask a connector what it offers now."}, named, r.sync, nil), r.bindIt),
		wire.Accept.Effect(op.Spec{Right: "connector.admin", Method: "POST", Path: "/connectors/{name}/accept", MCP: "-", Present: true,
			People: true,
			Doc:    "Accept what a connector offers, so that it can be called. When it changes, it is quarantined until somebody accepts it again."},
			func(in wire.AcceptIn) op.Resource { return at(in.Name) }, r.accept, nil),
		op.Binding(op.Touching(wire.Call.Effect(op.Spec{Right: "connector.call", MCP: "-", Doc: "Call one tool of a connector."},
			func(in wire.CallIn) op.Resource { return at(in.Connector + "/" + in.Tool) }, r.callOp, nil),
			func(_ context.Context, in wire.CallIn) op.Touch {
				return op.Touch{Tool: "mcp." + in.Connector + "." + in.Tool}
			}), func(ctx context.Context, in wire.CallIn) ([]op.Bound, error) { return r.bindName(ctx, in.Connector) }),
	}, r.signInOps()...)
}

func (r *Room) list(ctx context.Context, _ wire.Nothing) (wire.ListOut, error) {
	all, err := r.All(ctx, op.CallerFrom(ctx).Tenant)
	out := wire.ListOut{Connectors: []*wire.Connector{}}
	for _, c := range all {
		if op.May(ctx, "connector.list", at(c.Name)) {
			out.Connectors = append(out.Connectors, c)
		}
	}
	return out, err
}

func (r *Room) add(ctx context.Context, tx *db.Tx, in wire.AddIn) (*wire.Connector, error) {
	return r.insert(ctx, tx, &wire.Connector{Name: in.Name, URL: in.URL, Header: in.Header, Allow: in.Allow, Inside: in.Inside ||
		egress.PlainlyInside(in.URL)})
}

func (r *Room) addCommand(ctx context.Context, tx *db.Tx, in wire.CommandIn) (*wire.Connector, error) {
	return r.insert(ctx, tx, &wire.Connector{Name: in.Name, Command: in.Command, Network: in.Network, Allow: in.Allow, Given: in.Given})
}

func (r *Room) insert(ctx context.Context, tx *db.Tx, c *wire.Connector) (*wire.Connector, error) {
	if err := check(c); err != nil {
		return nil, err
	}
	by := op.CallerFrom(ctx)
	var n int
	if err := tx.QueryRow("SELECT count(*) FROM connector WHERE tenant = ? AND name = ?", by.Tenant, c.Name).Scan(&n); err != nil {
		return nil, err
	}
	if n > 0 {
		return nil, fault.New(fault.Conflict, "connector.add", "there is a connector %s already", c.Name).
			WithNext("remove it first: tandem connector remove %s", c.Name)
	}
	c.Tenant, c.AddedBy, c.CreatedAt, c.State, c.Enabled, c.Tools = by.Tenant, by.Name, tx.Now(), wire.Fresh, true, []wire.Tool{}
	c.Failure = "nobody has looked at it yet"
	if err := r.forget(tx, c); err != nil { // what was kept under its name was meant for another address
		return nil, err
	}
	op.Row(ctx, placeSeal(c))
	op.Seal(ctx, acceptSubject(c.Name))
	return c, save(tx, c)
}

// forget drops the secrets of a connector.
func (r *Room) forget(tx *db.Tx, c *wire.Connector) error {
	err := errors.Join(r.keys.Drop(tx, c.Tenant, secretName(c.Name)), r.keys.Drop(tx, c.Tenant, keptName(c.Name)))
	for _, v := range c.Given.Secrets {
		err = errors.Join(err, r.keys.Drop(tx, c.Tenant, sealedName(c.Name, v)))
	}
	return err
}

func (r *Room) change(ctx context.Context, tx *db.Tx, name string, fn func(c *wire.Connector) error) (*wire.Connector, error) {
	c, err := scan(tx.QueryRow("SELECT "+columns+" FROM connector WHERE tenant = ? AND name = ?"+tx.ForUpdate(), op.CallerFrom(ctx).Tenant,
		name))
	if db.NoRows(err) {
		return nil, missing(name)
	}
	if err != nil {
		return nil, err
	}
	if err := fn(c); err != nil {
		return nil, err
	}
	return c, save(tx, c)
}

func (r *Room) update(ctx context.Context, tx *db.Tx, in wire.UpdateIn) (*wire.Connector, error) {
	return r.change(ctx, tx, in.Name, func(c *wire.Connector) error {
		if in.Enabled != nil {
			c.Enabled = *in.Enabled
		}
		if in.Allow != nil {
			c.Allow = *in.Allow
		}
		return check(c)
	})
}

func (r *Room) remove(ctx context.Context, tx *db.Tx, in wire.NameIn) (wire.OK, error) {
	tenant := op.CallerFrom(ctx).Tenant
	c, err := scan(tx.QueryRow("SELECT "+columns+" FROM connector WHERE tenant = ? AND name = ?"+tx.ForUpdate(), tenant, in.Name))
	if db.NoRows(err) {
		c, err = &wire.Connector{Tenant: tenant, Name: in.Name}, nil
		if !r.Vouch.Knows(tenant, placeSubject(in.Name)) { // its row may be gone, and the journal's word not
			err = missing(in.Name)
		}
	}
	if err != nil {
		return wire.OK{}, err
	}
	op.Seal(ctx, placeSubject(in.Name))
	op.Seal(ctx, acceptSubject(in.Name))
	if _, err := tx.Exec("DELETE FROM connector WHERE tenant = ? AND name = ?", tenant, in.Name); err != nil {
		return wire.OK{}, err
	}
	tx.AfterCommit(func() { go r.lasting.endAll(tenant, in.Name) }) // a call that is under way is waited for
	err = r.forget(tx, c)
	return wire.OK{OK: err == nil}, err
}

func (r *Room) secret(ctx context.Context, tx *db.Tx, in wire.SecretIn) (wire.OK, error) {
	c := op.CallerFrom(ctx)
	if in.Secret == "" {
		return wire.OK{}, fault.New(fault.Invalid, "connector.secret", "the secret is empty")
	}
	it, err := r.change(ctx, tx, in.Name, func(*wire.Connector) error { return nil })
	if err != nil {
		return wire.OK{}, err
	}
	if in.For == "" && it.URL != "" {
		return wire.OK{OK: true}, r.keys.Put(tx, c.Tenant, secretName(in.Name), in.Secret, c.Name)
	}
	if !slices.Contains(it.Given.Secrets, in.For) {
		f := fault.New(fault.Invalid, "connector.secret", "%s takes no secret in a variable %.60q", in.Name, in.For)
		if len(it.Given.Secrets) > 0 {
			return wire.OK{}, f.WithNext("it takes: %s", strings.Join(it.Given.Secrets, ", "))
		}
		return wire.OK{}, f.WithNext("add the program with the name of the variable: tandem connector add %s --secret NAME -- PROGRAM", in.Name)
	}
	tx.AfterCommit(func() { go r.lasting.endAll(c.Tenant, in.Name) }) // the next call begins with the new value
	return wire.OK{OK: true}, r.keys.Put(tx, c.Tenant, sealedName(in.Name, in.For), in.Secret, c.Name)
}

func (r *Room) sync(ctx context.Context, in wire.NameIn) (*wire.Connector, error) {
	return r.look(ctx, op.CallerFrom(ctx).Tenant, in.Name)
}

func (r *Room) accept(ctx context.Context, in wire.AcceptIn) (*wire.Connector, error) {
	tenant := op.CallerFrom(ctx).Tenant
	c, err := r.look(ctx, tenant, in.Name)
	if err != nil {
		return nil, err
	}
	if in.Digest != "" && c.Digest != in.Digest {
		return nil, fault.New(fault.Conflict, "connector.accept", "%s offers something else by now", in.Name).
			WithNext("look at it again: tandem connector show %s", in.Name)
	}
	c.Accepted, c.State = c.Digest, wire.Ready
	write := func(tx *db.Tx) error {
		cur, err := scan(tx.QueryRow("SELECT "+columns+" FROM connector WHERE tenant = ? AND name = ?"+tx.ForUpdate(), tenant, c.Name))
		if db.NoRows(err) {
			op.Seal(ctx, acceptSubject(c.Name)) // it was removed meanwhile: nothing is accepted
			return nil
		}
		if err != nil {
			return err
		}
		cur.Accepted, cur.State = c.Digest, wire.Quarantined
		if cur.Digest == c.Digest { // else somebody looked since, and found other tools
			cur.State = wire.Ready
		}
		return save(tx, cur)
	}
	op.Row(ctx, acceptSeal(c))
	if !op.Along(ctx, write) { // with the outcome that vouches for it
		err = r.db.Write(ctx, write)
	}
	return c, err
}

func (r *Room) callOp(ctx context.Context, in wire.CallIn) (wire.CallOut, error) {
	c := op.CallerFrom(ctx)
	if in.Session != "" && (c.Session != in.Session || c.Door != op.DoorInside) {
		return wire.CallOut{}, fault.New(fault.Denied, "connector.call", "a session's tools are called by the session itself")
	}
	return r.call(ctx, in)
}
