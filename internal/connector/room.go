package connector

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/internal/connector/wire"
	"tandem/internal/db"
	"tandem/internal/egress"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/tool"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are the tables of this room.
var Migrations = db.Migrations{Room: "connector", FS: schema}

// Keys keeps connectors' secrets.
type Keys struct {
	Lend func(ctx context.Context, tenant, name string, fn func(value []byte) error) error
	Put  func(tx *db.Tx, tenant, name, value, by string) error
	Drop func(tx *db.Tx, tenant, name string) error
	// Learn keeps a value out of errors, events and logs.
	Learn func(value []byte)
}

// Room keeps connectors and calls them.
type Room struct {
	db      *db.DB
	keys    Keys
	sandbox *tool.Sandbox
	flows   flows
	offers  offers
	lasting lasting
	see     See

	// Vouch asks the journal about where connectors are and what was accepted of them.
	Vouch op.Vouch

	// Hidden are folders that no program sees, wherever its own folder is.
	Hidden []string

	// Callback is where a browser comes back to after a sign-in, "" when it cannot.
	Callback func() string
}

// See is what whoever calls may see of files.
type See func(ctx context.Context) (*tool.Sight, error)

// New makes the room.
func New(d *db.DB, keys Keys, box *tool.Sandbox, see See) *Room {
	return &Room{db: d, keys: keys, sandbox: box, see: see}
}

// guarded is the way out to one connector: outside, or to its own origin where a person let it be inside, and to nothing else there.
func (r *Room) guarded(c *wire.Connector) http.RoundTripper {
	if !c.Inside {
		return (&egress.Guard{}).Transport()
	}
	return (&egress.Guard{Origins: []string{c.URL}}).Transport()
}

func at(path string) op.Resource { return op.Resource{Kind: "connector", Path: "/" + path} }

const columns = "tenant, name, url, command, network, header, allow, enabled, state, tools, accepted, failure, added_by, created_at, " +
	"synced_at, inside, given"

type scanner interface{ Scan(...any) error }

func scan(row scanner) (*wire.Connector, error) {
	var c wire.Connector
	var command, allow, tools, given string
	var network, enabled, created, synced, inside int64
	if err := row.Scan(&c.Tenant, &c.Name, &c.URL, &command, &network, &c.Header, &allow, &enabled, &c.State, &tools, &c.Accepted, &c.Failure,
		&c.AddedBy, &created, &synced, &inside, &given); err != nil {
		return nil, err
	}
	c.Inside, c.Network, c.Enabled, c.CreatedAt, c.SyncedAt = inside != 0, network != 0, enabled != 0, db.Time(created), db.Time(synced)
	for _, f := range []struct {
		text string
		into any
	}{{command, &c.Command}, {allow, &c.Allow}, {tools, &c.Tools}, {given, &c.Given}} {
		if err := json.Unmarshal([]byte(f.text), f.into); err != nil { // nobody vouches for one that leads nowhere
			c.URL, c.Command, c.Tools, c.Failure = "", nil, nil, "its row cannot be read"
			break
		}
	}
	c.Digest = digest(c.Tools)
	return &c, nil
}

// Load is a connector as far as the journal vouches for it.
func (r *Room) Load(ctx context.Context, tenant, name string) (*wire.Connector, error) {
	c, err := scan(r.db.QueryRow(ctx, "SELECT "+columns+" FROM connector WHERE tenant = ? AND name = ?", tenant, name))
	if db.NoRows(err) {
		return nil, missing(name)
	}
	if err != nil {
		return nil, err
	}
	return c, r.vouched(ctx, c)
}

func missing(name string) error {
	return fault.New(fault.NotFound, "connector", "there is no connector %.60s", name).WithNext("list what there is: tandem connector list")
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // lists of strings and tools always encode
	}
	return string(b)
}

func save(tx *db.Tx, c *wire.Connector) error {
	_, err := tx.Exec(`INSERT INTO connector (`+columns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (tenant, name) DO UPDATE SET header = excluded.header, allow = excluded.allow, `+
		`enabled = excluded.enabled, state = excluded.state,
		tools = excluded.tools, accepted = excluded.accepted, failure = excluded.failure, synced_at = excluded.synced_at`,
		c.Tenant, c.Name, c.URL, text(c.Command), c.Network, c.Header, text(c.Allow), c.Enabled, string(c.State), text(c.Tools), c.Accepted,
		c.Failure, c.AddedBy, c.CreatedAt, c.SyncedAt, c.Inside, text(c.Given))
	return err
}

// All lists a tenant's connectors.
func (r *Room) All(ctx context.Context, tenant string) ([]*wire.Connector, error) {
	rows, err := r.db.Query(ctx, "SELECT "+columns+" FROM connector WHERE tenant = ? ORDER BY name", tenant)
	return db.Collect(rows, err, func(rows *sql.Rows) (*wire.Connector, error) { return scan(rows) })
}

// look asks a connector what it offers and stores the answer: ready when it is what was accepted, quarantined when not.
func (r *Room) look(ctx context.Context, tenant, name string) (*wire.Connector, error) {
	c, err := r.Load(ctx, tenant, name)
	if err != nil {
		return nil, err
	}
	var tools []wire.Tool
	failed := r.talk(ctx, c, func(ctx context.Context, conv *conversation, s *mcp.ClientSession) (err error) {
		tools, err = offered(ctx, conv, s)
		return err
	})
	err = r.db.Write(ctx, func(tx *db.Tx) error {
		cur, err := scan(tx.QueryRow("SELECT "+columns+" FROM connector WHERE tenant = ? AND name = ?"+tx.ForUpdate(), tenant, name))
		if err != nil {
			return err
		}
		accepted := cur.Accepted
		if err := r.vouched(ctx, cur); err != nil {
			return err
		}
		c = cur
		settle(c, tools, failed)
		c.SyncedAt = tx.Now()
		row := *c
		row.Accepted = accepted // the entry that vouches for it may be a moment away
		return save(tx, &row)
	})
	if err == nil {
		err = failed
	}
	return c, err
}

// settle decides a connector's state after a look.
func settle(c *wire.Connector, tools []wire.Tool, failed error) {
	if failed != nil {
		c.Failure = fault.Public(failed).Msg
		switch {
		case dataOf(failed, "auth") == "required":
			c.State = wire.AuthRequired
		case c.State != wire.Quarantined:
			c.State = wire.Failed
		}
		return
	}
	c.Tools, c.Digest, c.Failure = tools, digest(tools), ""
	c.State = wire.Quarantined
	if c.Digest == c.Accepted {
		c.State = wire.Ready
	}
}

// call makes one call, if the connector still offers what was accepted.
func (r *Room) call(ctx context.Context, in wire.CallIn) (wire.CallOut, error) {
	c, err := r.Load(ctx, op.CallerFrom(ctx).Tenant, in.Connector)
	if err != nil {
		return wire.CallOut{}, err
	}
	if err := usable(c, in.Tool); err != nil {
		return wire.CallOut{}, err
	}
	if err := same(ctx, c); err != nil {
		return wire.CallOut{}, err
	}
	var out wire.CallOut
	changed := false
	talk := r.talk
	if c.URL == "" && in.Session != "" {
		talk = func(ctx context.Context, c *wire.Connector, fn func(context.Context, *conversation, *mcp.ClientSession) error) error {
			return r.lastingTalk(ctx, c, in.Session, fn)
		}
	}
	err = talk(ctx, c, func(ctx context.Context, conv *conversation, s *mcp.ClientSession) error {
		tools, err := offered(ctx, conv, s)
		if err != nil {
			return err
		}
		if digest(tools) != c.Accepted {
			changed = true
			return nil
		}
		res, err := s.CallTool(ctx, &mcp.CallToolParams{Name: in.Tool, Arguments: in.Args})
		if err != nil {
			return err
		}
		out.Result = result(conv, res)
		return nil
	})
	if dataOf(err, "auth") == "required" { // the next who looks sees why
		if _, e := r.look(ctx, c.Tenant, c.Name); e != nil && dataOf(e, "auth") == "" {
			err = e
		}
	}
	if err != nil || !changed {
		return out, err
	}
	if _, err := r.look(ctx, c.Tenant, c.Name); err != nil {
		return wire.CallOut{}, err
	}
	c.State = wire.Quarantined
	return wire.CallOut{}, usable(c, in.Tool)
}

// dataOf is a fact that a fault carries.
func dataOf(err error, key string) string {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.Data[key]
	}
	return ""
}
