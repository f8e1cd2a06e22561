package connector

import (
	"context"
	"encoding/json"
	"errors"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/tool"
)

// AddIn adds a connector at an address.
type AddIn struct {
	Name   string   `json:"name"`
	URL    string   `json:"url" jsonschema:"the address of its streamable HTTP endpoint"`
	Header string   `json:"header,omitempty" jsonschema:"the header that carries its secret, e.g. Authorization"`
	Allow  []string `json:"allow,omitempty" jsonschema:"only these of its tools"`
	Inside bool     `json:"inside,omitempty" jsonschema:"its name leads inside this machine or its network; a person decides that"`
}

// CommandIn adds a connector that is a program.
type CommandIn struct {
	Name    string   `json:"name"`
	Command []string `json:"command" jsonschema:"absolute path and arguments"`
	Network bool     `json:"network,omitempty"`
	Allow   []string `json:"allow,omitempty"`
}

// NameIn names a connector.
type NameIn struct {
	Name string `json:"name"`
}

// UpdateIn changes a connector; what is left out stays.
type UpdateIn struct {
	Name    string    `json:"name"`
	Enabled *bool     `json:"enabled,omitempty"`
	Allow   *[]string `json:"allow,omitempty"`
}

// SecretIn stores a connector's secret.
type SecretIn struct {
	Name   string `json:"name"`
	Secret string `json:"secret" jsonschema:"the value of its header; sealed, never shown"`
}

// AcceptIn accepts what a connector offers.
type AcceptIn struct {
	Name   string `json:"name"`
	Digest string `json:"digest,omitempty" jsonschema:"the digest that was looked at; refused when it offers something else by now"`
}

// ListOut lists connectors.
type ListOut struct {
	Connectors []*Connector `json:"connectors"`
}

// CallIn is one call of a connector's tool.
type CallIn struct {
	Connector string          `json:"connector"`
	Tool      string          `json:"tool"`
	Args      json.RawMessage `json:"args"`
	Session   string          `json:"session,omitempty"`
	Turn      string          `json:"turn,omitempty"`
	Call      string          `json:"call,omitempty"`
}

// CallOut is what it answered.
type CallOut struct {
	Result tool.Result `json:"result"`
}

// OK says that it was done.
type OK struct {
	OK bool `json:"ok"`
}

// Nothing is an input without fields.
type Nothing struct{}

func named(in NameIn) op.Resource { return at(in.Name) }

// Ops is this room's front door.
func (r *Room) Ops() []op.Op {
	return append([]op.Op{
		op.Read(op.Spec{Name: "connector.list", Right: "connector.list", Masked: true, Method: "GET", Path: "/connectors", Doc: "List connectors, their state and what they offer."},
			func(Nothing) op.Resource { return at("") }, r.list),
		op.State(op.Spec{Name: "connector.add", Right: "connector.write", Method: "POST", Path: "/connectors", MCP: "-",
			Doc: "Add an outside MCP server at an address. It can be called once a person accepted what it offers."},
			func(in AddIn) op.Resource { return at(in.Name) }, r.add),
		op.State(op.Spec{Name: "connector.command", Right: "connector.admin", Method: "POST", Path: "/connectors/command", MCP: "-", Present: true, People: true,
			Doc: "Add a program that speaks MCP as a connector. It runs in a sandbox; adding it is running code."},
			func(in CommandIn) op.Resource { return at(in.Name) }, r.addCommand),
		op.State(op.Spec{Name: "connector.update", Right: "connector.write", Method: "PATCH", Path: "/connectors/{name}", MCP: "-", Doc: "Enable, disable or restrict a connector. The next call obeys it."},
			func(in UpdateIn) op.Resource { return at(in.Name) }, r.update),
		op.State(op.Spec{Name: "connector.remove", Right: "connector.write", Method: "DELETE", Path: "/connectors/{name}", MCP: "-", Doc: "Remove a connector, and the secret and the sign-in that were kept for it."}, named, r.remove),
		op.State(op.Spec{Name: "connector.secret", Right: "connector.write", Method: "PUT", Path: "/connectors/{name}/secret", MCP: "-", Secret: []string{"secret"},
			Doc: "Store the secret that a connector's header carries, sealed."},
			func(in SecretIn) op.Resource { return at(in.Name) }, r.secret),
		op.Effect(op.Spec{Name: "connector.sync", Right: "connector.write", Method: "POST", Path: "/connectors/{name}/sync", MCP: "-",
			Doc: "Ask a connector what it offers now."}, named, r.sync, nil),
		op.Effect(op.Spec{Name: "connector.accept", Right: "connector.admin", Method: "POST", Path: "/connectors/{name}/accept", MCP: "-", Present: true, People: true,
			Doc: "Accept what a connector offers, so that it can be called. When it changes, it is quarantined until somebody accepts it again."},
			func(in AcceptIn) op.Resource { return at(in.Name) }, r.accept, nil),
		op.Touching(op.Effect(op.Spec{Name: "connector.call", Right: "connector.call", MCP: "-", Doc: "Call one tool of a connector."},
			func(in CallIn) op.Resource { return at(in.Connector + "/" + in.Tool) }, r.callOp, nil),
			func(_ context.Context, in CallIn) op.Touch {
				return op.Touch{Tool: "mcp." + in.Connector + "." + in.Tool}
			}),
	}, r.signInOps()...)
}

func (r *Room) list(ctx context.Context, _ Nothing) (ListOut, error) {
	all, err := r.All(ctx, op.CallerFrom(ctx).Tenant)
	out := ListOut{Connectors: []*Connector{}}
	for _, c := range all {
		if op.May(ctx, "connector.list", at(c.Name)) {
			out.Connectors = append(out.Connectors, c)
		}
	}
	return out, err
}

func (r *Room) add(ctx context.Context, tx *db.Tx, in AddIn) (*Connector, error) {
	return r.insert(ctx, tx, &Connector{Name: in.Name, URL: in.URL, Header: in.Header, Allow: in.Allow, Inside: in.Inside || plainlyInside(in.URL)})
}

func (r *Room) addCommand(ctx context.Context, tx *db.Tx, in CommandIn) (*Connector, error) {
	return r.insert(ctx, tx, &Connector{Name: in.Name, Command: in.Command, Network: in.Network, Allow: in.Allow})
}

func (r *Room) insert(ctx context.Context, tx *db.Tx, c *Connector) (*Connector, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	by := op.CallerFrom(ctx)
	var n int
	if err := tx.QueryRow("SELECT count(*) FROM connector WHERE tenant = ? AND name = ?", by.Tenant, c.Name).Scan(&n); err != nil {
		return nil, err
	}
	if n > 0 {
		return nil, fault.New(fault.Conflict, "connector.add", "there is a connector %s already", c.Name).WithNext("remove it first: tandem connector remove %s", c.Name)
	}
	c.Tenant, c.AddedBy, c.CreatedAt, c.State, c.Enabled, c.Tools = by.Tenant, by.Name, tx.Now(), Fresh, true, []Tool{}
	c.Failure = "nobody has looked at it yet"
	if err := r.forget(tx, c); err != nil { // what was kept under its name was meant for another address
		return nil, err
	}
	return c, save(tx, c)
}

// forget drops the secrets of a connector.
func (r *Room) forget(tx *db.Tx, c *Connector) error {
	return errors.Join(r.keys.Drop(tx, c.Tenant, secretName(c.Name)), r.keys.Drop(tx, c.Tenant, keptName(c.Name)))
}

func (r *Room) change(ctx context.Context, tx *db.Tx, name string, fn func(c *Connector) error) (*Connector, error) {
	c, err := scan(tx.QueryRow("SELECT "+columns+" FROM connector WHERE tenant = ? AND name = ?"+tx.ForUpdate(), op.CallerFrom(ctx).Tenant, name))
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

func (r *Room) update(ctx context.Context, tx *db.Tx, in UpdateIn) (*Connector, error) {
	return r.change(ctx, tx, in.Name, func(c *Connector) error {
		if in.Enabled != nil {
			c.Enabled = *in.Enabled
		}
		if in.Allow != nil {
			c.Allow = *in.Allow
		}
		return c.check()
	})
}

func (r *Room) remove(ctx context.Context, tx *db.Tx, in NameIn) (OK, error) {
	tenant := op.CallerFrom(ctx).Tenant
	n, err := tx.Changed("DELETE FROM connector WHERE tenant = ? AND name = ?", tenant, in.Name)
	if err == nil && n == 0 {
		err = missing(in.Name)
	}
	if err == nil {
		err = r.forget(tx, &Connector{Tenant: tenant, Name: in.Name})
	}
	return OK{err == nil}, err
}

func (r *Room) secret(ctx context.Context, tx *db.Tx, in SecretIn) (OK, error) {
	c := op.CallerFrom(ctx)
	if in.Secret == "" {
		return OK{}, fault.New(fault.Invalid, "connector.secret", "the secret is empty")
	}
	if _, err := r.change(ctx, tx, in.Name, func(*Connector) error { return nil }); err != nil {
		return OK{}, err
	}
	return OK{true}, r.keys.Put(tx, c.Tenant, secretName(in.Name), in.Secret, c.Name)
}

func (r *Room) sync(ctx context.Context, in NameIn) (*Connector, error) {
	return r.look(ctx, op.CallerFrom(ctx).Tenant, in.Name, false)
}

func (r *Room) accept(ctx context.Context, in AcceptIn) (*Connector, error) {
	tenant := op.CallerFrom(ctx).Tenant
	if in.Digest != "" {
		c, err := r.look(ctx, tenant, in.Name, false)
		if err != nil {
			return nil, err
		}
		if c.Digest != in.Digest {
			return nil, fault.New(fault.Conflict, "connector.accept", "%s offers something else by now", in.Name).WithNext("look at it again: tandem connector show %s", in.Name)
		}
	}
	return r.look(ctx, tenant, in.Name, true)
}

func (r *Room) callOp(ctx context.Context, in CallIn) (CallOut, error) {
	c := op.CallerFrom(ctx)
	if in.Session != "" && (c.Session != in.Session || c.Door != op.DoorInside) {
		return CallOut{}, fault.New(fault.Denied, "connector.call", "a session's tools are called by the session itself")
	}
	return r.call(ctx, in)
}
