package login

import (
	"context"
	"encoding/json"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/login/wire"
	"tandem/internal/op"
	"tandem/internal/secret"
)

// Secrets are the names that this room reads by itself.
var Secrets = []secret.Owned{{Prefix: prefix}}

// Room knows where this machine's person is logged in.
type Room struct {
	db      *db.DB
	secrets *secret.Room
	Vouch   op.Vouch // asks the journal where logins are: their tokens go there
}

// New makes the room.
func New(d *db.DB, secrets *secret.Room) *Room { return &Room{db: d, secrets: secrets} }

// Token is a login and the token that lets this machine in there.
func (r *Room) Token(ctx context.Context, tenant, name string) (l wire.Login, token string, err error) {
	row, err := r.load(ctx, r.db.QueryRow(ctx, selectRow, tenant, name), tenant, name)
	if err != nil {
		return l, "", err
	}
	err = r.secrets.Lend(ctx, tenant, Secret(name), func(v []byte) error { token = string(v); return nil })
	return row.Login, token, err
}

func missing(name string) error {
	return fault.New(fault.NotFound, "login", "you are not logged in at %s", name).WithNext("see where you are: tandem login list")
}

func (r *Room) list(ctx context.Context, _ struct{}) (wire.ListOut, error) {
	all, err := collect(r.db.Query(ctx, "SELECT "+columns+" FROM login WHERE tenant = ? ORDER BY name", op.CallerFrom(ctx).Tenant))
	return wire.ListOut{Logins: all}, err
}

func (r *Room) add(ctx context.Context, tx *db.Tx, in wire.AddIn) (wire.Login, error) {
	c := op.CallerFrom(ctx)
	if err := CheckName(in.Name); err != nil {
		return wire.Login{}, err
	}
	old, err := scan(tx.QueryRow("SELECT "+columns+" FROM login WHERE tenant = ? AND name = ?", c.Tenant, in.Name))
	switch {
	case err == nil && (old.Server != in.Server || old.Person != in.Person):
		return wire.Login{}, fault.New(fault.Conflict, "login.add", "%s is what you call %s, where you are %s", in.Name, old.Server, old.Person).
			WithNext("give this one another name: --name NAME")
	case err != nil && !db.NoRows(err):
		return wire.Login{}, err
	}
	if _, err := tx.Exec("UPDATE login SET taken = 0 WHERE tenant = ? AND taken = 1", c.Tenant); err != nil {
		return wire.Login{}, err
	}
	l := row{Login: wire.Login{Name: in.Name, Server: in.Server, Key: in.Key, Person: in.Person, Terminal: in.Terminal, Taken: true,
		MadeAt: tx.Now()}, serverID: in.Of.Server}
	if in.Sealed != nil {
		sealed, err := json.Marshal(in.Sealed)
		if err != nil {
			return wire.Login{}, err
		}
		l.Device, l.sealed = in.Of.Device, string(sealed)
	}
	op.Row(ctx, l.seal(c.Tenant))
	_, err = tx.Exec("INSERT INTO login (tenant, "+columns+`, server_id, sealed_key) VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?)
		ON CONFLICT (tenant, name) DO UPDATE SET server_key = excluded.server_key, terminal = excluded.terminal, taken = 1, `+
		`made_at = excluded.made_at,
		device = excluded.device, server_id = excluded.server_id, sealed_key = excluded.sealed_key`,
		c.Tenant, l.Name, l.Server, l.Key, l.Person, l.Terminal, tx.Now(), l.Device, l.serverID, l.sealed)
	if err == nil {
		_, err = r.secrets.Put(tx, c.Tenant, Secret(l.Name), in.Token, c.Name)
	}
	return l.Login, err
}

func (r *Room) use(ctx context.Context, tx *db.Tx, in wire.NameIn) (wire.Login, error) {
	c := op.CallerFrom(ctx)
	if _, err := tx.Exec("UPDATE login SET taken = 0 WHERE tenant = ? AND taken = 1", c.Tenant); err != nil || in.Name == wire.Own {
		return wire.Login{Name: wire.Own, Taken: true}, err
	}
	l, err := scan(tx.QueryRow("UPDATE login SET taken = 1 WHERE tenant = ? AND name = ? RETURNING "+columns, c.Tenant, in.Name))
	if db.NoRows(err) {
		err = missing(in.Name)
	}
	return l, err
}

func (r *Room) forget(ctx context.Context, tx *db.Tx, in wire.NameIn) (wire.Login, error) {
	c := op.CallerFrom(ctx)
	l, err := scan(tx.QueryRow("DELETE FROM login WHERE tenant = ? AND name = ? RETURNING "+columns, c.Tenant, in.Name))
	if db.NoRows(err) {
		if !r.Vouch.Knows(c.Tenant, subject(in.Name)) { // its row may be gone, and the journal's word not
			return l, missing(in.Name)
		}
		l, err = wire.Login{Name: in.Name}, nil
	}
	op.Seal(ctx, subject(in.Name))
	if err == nil {
		err = r.secrets.Drop(tx, c.Tenant, Secret(in.Name))
	}
	return l, err
}
