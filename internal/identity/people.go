package identity

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// Human is a person as they are listed: who they are, and the machines on which they logged in.
type Human struct {
	Name      string     `json:"name"`
	Owner     bool       `json:"owner,omitempty" jsonschema:"one of those whose house it is"`
	Devices   int        `json:"devices" jsonschema:"machines that can answer for them"`
	Terminals []string   `json:"terminals" jsonschema:"the actors of their machines, those that may still come in"`
	SeenAt    *time.Time `json:"seen_at,omitempty" jsonschema:"when one of their machines was last heard of"`
	CreatedAt time.Time  `json:"created_at"`
	LeftAt    *time.Time `json:"left_at,omitempty"`
}

// PeopleIn asks for people.
type PeopleIn struct {
	Like  string `json:"like,omitempty" jsonschema:"only those whose names have this in them"`
	After string `json:"after,omitempty" jsonschema:"only those behind this name: the last of the page before"`
	Limit int    `json:"limit,omitempty" jsonschema:"at most this many, 500 unless told, 1000 at most"`
}

// PeopleOut is a page of people, by name.
type PeopleOut struct {
	People []*Human `json:"people"`
	More   bool     `json:"more,omitempty"`
}

// Device is a machine that answers for a person elsewhere.
type Device struct {
	ID        string     `json:"id"`
	Person    string     `json:"person"`
	Terminal  string     `json:"terminal" jsonschema:"the actor as which its commands act"`
	Machine   string     `json:"machine"`
	CreatedAt time.Time  `json:"created_at"`
	UsedAt    *time.Time `json:"used_at,omitempty" jsonschema:"when it last proved that the person is present"`
	RevokedAt *time.Time `json:"revoked_at,omitempty"`
}

// DevicesIn asks for devices.
type DevicesIn struct {
	Person string `json:"person,omitempty" jsonschema:"only those of this person"`
	After  string `json:"after,omitempty" jsonschema:"only those behind this id: the last of the page before"`
	Limit  int    `json:"limit,omitempty" jsonschema:"at most this many, 500 unless told, 1000 at most"`
}

// DevicesOut is a page of devices, the oldest first.
type DevicesOut struct {
	Devices []*Device `json:"devices"`
	More    bool      `json:"more,omitempty"`
}

// HumanOut is one person with their machines.
type HumanOut struct {
	Human
	Machines []*Device `json:"machines"`
}

// DeviceIn names a device.
type DeviceIn struct {
	ID string `json:"id" jsonschema:"the device's id, dev_…"`
}

// RemovedOut says what ended.
type RemovedOut struct {
	Name     string `json:"name"`
	Tokens   int    `json:"tokens"`
	Devices  int    `json:"devices"`
	Browsers int    `json:"browsers"`
}

func (r *Room) peopleOps() []op.Op {
	return []op.Op{
		PersonList.Read(op.Spec{Right: "actor.read", Masked: true, Method: "GET", Path: "/person",
			Doc: "List the people of this house and how many machines answer for each."},
			func(PeopleIn) op.Resource { return actorAt("") }, r.people),
		PersonShow.Read(op.Spec{Right: "actor.read", Method: "GET", Path: "/person/{name}",
			Doc: "Show a person and the machines on which they logged in."},
			func(in NameIn) op.Resource { return actorAt(in.Name) }, r.person),
		PersonRemove.State(op.Spec{Right: "actor.write", Method: "DELETE", Path: "/person/{name}", Present: true, People: true, MCP: "-",
			Doc: "Remove a person: their tokens, devices, browsers, passkeys and invitations end, and what their sessions were " +
				"about to do is refused.\n" +
				"They come back by a new invitation. An owner cannot be removed, nor can the first person."},
			func(in NameIn) op.Resource { return actorAt(in.Name) }, r.removePerson),
		DeviceList.Read(op.Spec{Right: "actor.read", Masked: true, Method: "GET", Path: "/device",
			Doc: "List the machines that answer for people, with their last use."},
			func(DevicesIn) op.Resource { return actorAt("") }, r.devices),
		DeviceRevoke.State(op.Spec{Right: "server.view", Present: true, People: true, Method: "DELETE", Path: "/device/{id}", MCP: "-",
			Doc: "Revoke a machine that answers for a person, as one that was lost: it proves nothing any more, and its token lets nobody in.\n" +
				"People revoke their own; an owner revokes anybody's."},
			func(DeviceIn) op.Resource { return op.Resource{Kind: "server", Path: "/"} }, r.revokeDevice),
	}
}

func noPerson(name string) error {
	return fault.New(fault.NotFound, "person", "there is no person %.64q", name).WithNext("list them: tandem person list")
}

func (r *Room) revokeDevice(ctx context.Context, tx *db.Tx, in DeviceIn) (OK, error) {
	c := op.CallerFrom(ctx)
	d, err := scanDevice(tx.QueryRow("SELECT "+deviceColumns+" FROM device WHERE tenant = ? AND id = ?"+tx.ForUpdate(), c.Tenant, in.ID))
	switch {
	case db.NoRows(err) || err == nil && (d.revoked != 0 || d.actor != c.Actor && !op.Allowed(ctx, "actor.write", actorAt("device"))):
		return OK{}, fault.New(fault.NotFound, "device.revoke", "there is no device %s that you could revoke", in.ID).
			WithNext("list them: tandem device list")
	case err != nil:
		return OK{}, err
	}
	op.Note(ctx, "device", d.id)
	if _, err := endDevices(ctx, tx, "tenant = ? AND id = ?", d.tenant, d.id); err != nil {
		return OK{}, err
	}
	if _, err = endTokens(ctx, tx, d.tenant, d.terminal); err == nil {
		err = r.owned(ctx, tx, d.tenant, "device.revoke")
	}
	return OK{err == nil}, err
}

// endTokens revokes the tokens of an actor.
func endTokens(ctx context.Context, tx *db.Tx, tenant, actor string) (int, error) {
	rows, err := tx.Query("UPDATE token SET revoked_at = ? WHERE tenant = ? AND actor = ? AND revoked_at = 0 RETURNING "+tokenColumns,
		tx.Now(),
		tenant, actor)
	gone, err := collectSealed(rows, err, scanToken)
	for _, s := range gone {
		op.Row(ctx, s)
	}
	return len(gone), err
}

// removePerson ends everything that is a person's. Their row stays: what they did is told by it.
func (r *Room) removePerson(ctx context.Context, tx *db.Tx, in NameIn) (RemovedOut, error) {
	tenant, out := op.CallerFrom(ctx).Tenant, RemovedOut{Name: in.Name}
	if in.Name == Owner || in.Name == WellKnown(Owner) {
		return out, fault.New(fault.Invalid, "person.remove",
			"the first person cannot leave: the terminal of the server's own machine acts for them").
			WithNext("hand ownership over instead: tandem person owner hand-over NAME")
	}
	p, err := scanActor(tx.QueryRow("SELECT "+actorColumns+" FROM actor WHERE tenant = ? AND name = ? AND kind = ? AND disabled_at = 0"+
		tx.ForUpdate(), tenant, in.Name, op.Person))
	if db.NoRows(err) {
		return out, noPerson(in.Name)
	}
	if err != nil {
		return out, err
	}
	if err := r.notAnOwner(ctx, tx, tenant, "person.remove", p.Name); err != nil {
		return out, err
	}
	gone, err := collectActors(tx.Query("UPDATE actor SET disabled_at = ? WHERE tenant = ? AND disabled_at = 0 AND "+
		"(id = ? OR acts_for = ? AND kind = ?)"+
		" RETURNING "+actorColumns, tx.Now(), tenant, p.ID, p.ID, op.Local))
	if err != nil {
		return out, err
	}
	var who []string
	for _, a := range gone {
		op.Row(ctx, a.Seal())
		n, err := endTokens(ctx, tx, tenant, a.ID)
		if err != nil {
			return out, err
		}
		out.Tokens += n
		who = append(who, a.Name)
	}
	if out.Devices, err = endDevices(ctx, tx, "tenant = ? AND actor = ?", tenant, p.ID); err != nil {
		return out, err
	}
	if out.Browsers, err = r.endDoors(ctx, tx, p); err != nil {
		return out, err
	}
	op.Note(ctx, "ended", strings.Join(who, ", "))
	op.Note(ctx, "tokens", out.Tokens)
	op.Note(ctx, "devices", out.Devices)
	return out, nil
}

// endDoors ends a person's browsers, passkeys and the invitations that wait for them.
func (r *Room) endDoors(ctx context.Context, tx *db.Tx, p *Actor) (browsers int, err error) {
	if err = tx.QueryRow("SELECT count(*) FROM signin WHERE tenant = ? AND actor = ? AND kind = ?", p.Tenant, p.ID, kindCookie).
		Scan(&browsers); err != nil {
		return 0, err
	}
	if err := endSignins(ctx, tx, "tenant = ? AND actor = ?", p.Tenant, p.ID); err != nil {
		return 0, err
	}
	rows, err := tx.Query("DELETE FROM passkey WHERE tenant = ? AND actor = ? RETURNING id", p.Tenant, p.ID)
	_, err = db.Collect(rows, err, func(rows *sql.Rows) (id string, err error) {
		err = rows.Scan(&id)
		op.Seal(ctx, "passkey:"+id)
		return id, err
	})
	if err != nil {
		return 0, err
	}
	rows, err = tx.Query("UPDATE invite SET revoked_at = ? WHERE tenant = ? AND person = ? AND revoked_at = 0 AND used < uses RETURNING "+
		inviteColumns, tx.Now(), p.Tenant, p.Name)
	ended, err := collectSealed(rows, err, scanInvite)
	for _, s := range ended {
		op.Row(ctx, s)
	}
	return browsers, err
}
