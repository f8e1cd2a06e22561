package identity

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
)

// PasskeysOut lists passkeys.
type PasskeysOut struct {
	Passkeys []*Passkey `json:"passkeys"`
}

// PasskeyAddIn registers a passkey that a device just made.
type PasskeyAddIn struct {
	Name   string          `json:"name" jsonschema:"how its owner will know it again"`
	Site   Site            `json:"site" jsonschema:"the panel's address in the browser"`
	Answer json.RawMessage `json:"answer" jsonschema:"the device's answer, as the browser gives it"`
}

// PasskeyIn names a passkey.
type PasskeyIn struct {
	ID string `json:"id" jsonschema:"the passkey's id, pk_…"`
}

func (r *Room) passkeyOps() []op.Op {
	return []op.Op{
		PasskeyList.Read(op.Spec{Right: "token.read", Masked: true, Method: "GET", Path: "/passkey", MCP: "-",
			Doc: "List your passkeys with their last use."},
			func(Nothing) op.Resource { return tokenAt("") }, r.passkeys),
		PasskeyAdd.State(op.Spec{Right: "token.mint", Present: true, People: true, MCP: "-", Secret: []string{"answer"},
			Doc: "Register a passkey that a device made in the panel. Needs a person present: the PIN for the first one."},
			func(in PasskeyAddIn) op.Resource { return tokenAt("passkey") }, r.addPasskey),
		PasskeyRemove.State(op.Spec{Right: "token.revoke", Method: "DELETE", Path: "/passkey/{id}", Present: true, People: true,
			MCP: "-",
			Doc: "Forget a passkey: it proves nothing any more."},
			func(in PasskeyIn) op.Resource { return tokenAt("passkey") }, r.removePasskey),
	}
}

func (r *Room) passkeys(ctx context.Context, _ Nothing) (PasskeysOut, error) {
	c := op.CallerFrom(ctx)
	rows, err := r.db.Query(ctx,
		"SELECT id, name, host, created_at, used_at FROM passkey WHERE tenant = ? AND actor = ? ORDER BY created_at, id", c.Tenant, c.Actor)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (*Passkey, error) {
		p := Passkey{Actor: c.Name}
		var created, used int64
		err := rows.Scan(&p.ID, &p.Name, &p.Host, &created, &used)
		p.CreatedAt, p.UsedAt = db.Time(created), optional(used)
		return &p, err
	})
	if all == nil {
		all = []*Passkey{}
	}
	return PasskeysOut{all}, err
}

func (r *Room) addPasskey(ctx context.Context, tx *db.Tx, in PasskeyAddIn) (*Passkey, error) {
	if err := checkPasskeyName(in.Name); err != nil {
		return nil, err
	}
	w, err := party(in.Site)
	if err != nil {
		return nil, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(in.Answer)
	if err != nil {
		return nil, fault.New(fault.Invalid, "passkey.add", "that is not a new passkey")
	}
	c := op.CallerFrom(ctx)
	s, err := takeChallenge(tx, c, registering, parsed.Response.CollectedClientData.Challenge)
	if err != nil {
		return nil, err
	}
	p, err := r.loadPerson(ctx, tx, c, in.Site.Host)
	if err != nil {
		return nil, err
	}
	k, err := w.CreateCredential(p, s, parsed)
	if err != nil {
		return nil, refused(err)
	}
	text, err := json.Marshal(k)
	if err != nil {
		return nil, err
	}
	out := &Passkey{ID: id.New("pk"), Actor: c.Name, Name: in.Name, Host: in.Site.Host, CreatedAt: tx.Now()}
	_, err = tx.Exec("INSERT INTO passkey (tenant, id, actor, name, host, credential_id, credential, created_at, used_at) VALUES "+
		"(?, ?, ?, ?, ?, ?, ?, ?, 0)",
		c.Tenant, out.ID, c.Actor, out.Name, out.Host, k.ID, string(text), tx.Now())
	if db.Exists(err) {
		return nil, fault.New(fault.Conflict, "passkey.add", "this passkey is registered already")
	}
	op.Note(ctx, "passkey", out.ID)
	op.Row(ctx, passkeySeal(c.Tenant, out.ID, c.Actor, out.Host, k))
	return out, err
}

func (r *Room) removePasskey(ctx context.Context, tx *db.Tx, in PasskeyIn) (OK, error) {
	c := op.CallerFrom(ctx)
	n, err := tx.Changed("DELETE FROM passkey WHERE tenant = ? AND actor = ? AND id = ?", c.Tenant, c.Actor, in.ID)
	if err == nil && n == 0 {
		err = fault.New(fault.NotFound, "passkey.remove", "you have no passkey %s", in.ID)
	}
	op.Seal(ctx, passkeySeal(c.Tenant, in.ID, c.Actor, "", &webauthn.Credential{}).Subject)
	if err == nil {
		err = r.owned(ctx, tx, c.Tenant, "passkey.remove")
	}
	return OK{err == nil}, err
}
