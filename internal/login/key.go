package login

import (
	"context"
	"encoding/json"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/login/wire"
	"tandem/internal/op"
)

// ours refuses everybody but the programs of this user: nobody who works for them under rules of their own.
func ours(ctx context.Context, what string) error {
	if c := op.CallerFrom(ctx); c.Door != op.DoorSocket || !c.Here() {
		return fault.New(fault.Denied, what, "the key of a login is for its person's own terminal")
	}
	return nil
}

func (r *Room) device(ctx context.Context, in wire.NameIn) (out wire.DeviceOut, err error) {
	if err := ours(ctx, string(wire.Device)); err != nil {
		return out, err
	}
	tenant := op.CallerFrom(ctx).Tenant
	l, err := r.load(ctx, r.db.QueryRow(ctx, selectRow, tenant, in.Name), tenant, in.Name)
	if err != nil {
		return out, err
	}
	if l.sealed == "" {
		return out, keyless(in.Name)
	}
	out.Of.Person, out.Of.Device, out.Of.Server = l.Person, l.Device, l.serverID
	return out, json.Unmarshal([]byte(l.sealed), &out.Sealed)
}

// keyless is a login that was made without a PIN: it proves nobody.
func keyless(name string) error {
	return fault.New(fault.Denied, "login", "no PIN was set for %s when you logged in there, so nobody can be proven to be here", name).
		With("pin", "none").WithNext("log in anew, at a terminal: ask there for another invitation; then: tandem login HOST:PORT#INVITE")
}

func (r *Room) pin(ctx context.Context, tx *db.Tx, in wire.PINIn) (wire.Login, error) {
	if err := ours(ctx, string(wire.PIN)); err != nil {
		return wire.Login{}, err
	}
	sealed, err := json.Marshal(in.Sealed)
	if err != nil {
		return wire.Login{}, err
	}
	tenant := op.CallerFrom(ctx).Tenant
	l, err := r.load(ctx, tx.QueryRow(selectRow, tenant, in.Name), tenant, in.Name)
	if err != nil {
		return wire.Login{}, err
	}
	if l.sealed == "" {
		return l.Login, keyless(in.Name)
	}
	l.sealed = string(sealed)
	op.Row(ctx, l.seal(tenant))
	_, err = tx.Exec("UPDATE login SET sealed_key = ? WHERE tenant = ? AND name = ?", l.sealed, tenant, in.Name)
	return l.Login, err
}
