package identity

import (
	"context"
	"database/sql"
	"slices"
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

// PeopleOut lists people by name.
type PeopleOut struct {
	People []*Human `json:"people"`
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

// DevicesOut lists devices.
type DevicesOut struct {
	Devices []*Device `json:"devices"`
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
			func(Nothing) op.Resource { return actorAt("") }, r.people),
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
			func(Nothing) op.Resource { return actorAt("") }, r.devices),
		DeviceRevoke.State(op.Spec{Right: "server.view", Present: true, People: true, Method: "DELETE", Path: "/device/{id}", MCP: "-",
			Doc: "Revoke a machine that answers for a person, as one that was lost: it proves nothing any more, and its token lets nobody in.\n" +
				"People revoke their own; an owner revokes anybody's."},
			func(DeviceIn) op.Resource { return op.Resource{Kind: "server", Path: "/"} }, r.revokeDevice),
	}
}

func (r *Room) people(ctx context.Context, _ Nothing) (PeopleOut, error) {
	tenant, out := op.CallerFrom(ctx).Tenant, PeopleOut{People: []*Human{}}
	all, err := collectActors(r.db.Query(ctx, "SELECT "+actorColumns+" FROM actor WHERE tenant = ? AND kind IN (?, ?) ORDER BY name, id",
		tenant,
		op.Person, op.Local))
	if err != nil {
		return out, err
	}
	owners, err := r.owners(ctx, nil, tenant)
	if err != nil {
		return out, err
	}
	byID := map[string]*Human{}
	for _, a := range all {
		if a.Kind == op.Person && op.May(ctx, "actor.read", actorAt(a.Name)) {
			byID[a.ID] = &Human{Name: a.Name, Owner: owners[a.Name] && a.DisabledAt == nil, Terminals: []string{},
				CreatedAt: a.CreatedAt, LeftAt: a.DisabledAt}
			out.People = append(out.People, byID[a.ID])
		}
	}
	of := map[string]*Human{}
	for _, a := range all {
		if h := byID[a.For]; a.Kind == op.Local && h != nil {
			if of[a.ID] = h; a.DisabledAt == nil {
				h.Terminals = append(h.Terminals, a.Name)
			}
		}
	}
	rows, err := r.db.Query(ctx, "SELECT actor, used_at FROM token WHERE tenant = ? AND used_at > 0", tenant)
	_, err = db.Collect(rows, err, func(rows *sql.Rows) (none struct{}, err error) {
		var actor string
		var used int64
		err = rows.Scan(&actor, &used)
		if h := of[actor]; h != nil && (h.SeenAt == nil || h.SeenAt.Before(db.Time(used))) {
			h.SeenAt = optional(used)
		}
		return none, err
	})
	if err != nil {
		return out, err
	}
	rows, err = r.db.Query(ctx, "SELECT actor, count(*) FROM device WHERE tenant = ? AND revoked_at = 0 GROUP BY actor", tenant)
	_, err = db.Collect(rows, err, func(rows *sql.Rows) (none struct{}, err error) {
		var actor string
		var n int
		err = rows.Scan(&actor, &n)
		if h := byID[actor]; h != nil {
			h.Devices = n
		}
		return none, err
	})
	return out, err
}

func (r *Room) person(ctx context.Context, in NameIn) (HumanOut, error) {
	all, err := r.people(ctx, Nothing{})
	if err != nil {
		return HumanOut{}, err
	}
	i := slices.IndexFunc(all.People, func(h *Human) bool { return h.Name == in.Name })
	if i < 0 {
		return HumanOut{}, noPerson(in.Name)
	}
	devices, err := r.devices(ctx, Nothing{})
	out := HumanOut{Human: *all.People[i], Machines: []*Device{}}
	for _, d := range devices.Devices {
		if d.Person == in.Name {
			out.Machines = append(out.Machines, d)
		}
	}
	return out, err
}

func noPerson(name string) error {
	return fault.New(fault.NotFound, "person", "there is no person %.64q", name).WithNext("list them: tandem person list")
}

func (r *Room) devices(ctx context.Context, _ Nothing) (DevicesOut, error) {
	rows, err := r.db.Query(ctx, `SELECT d.id, p.name, t.name, d.name, d.created_at, d.used_at, d.revoked_at FROM device d
		JOIN actor p ON p.tenant = d.tenant AND p.id = d.actor JOIN actor t ON t.tenant = d.tenant AND t.id = d.terminal
		WHERE d.tenant = ? ORDER BY d.created_at, d.id`, op.CallerFrom(ctx).Tenant)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (*Device, error) {
		var d Device
		var created, used, revoked int64
		err := rows.Scan(&d.ID, &d.Person, &d.Terminal, &d.Machine, &created, &used, &revoked)
		d.CreatedAt, d.UsedAt, d.RevokedAt = db.Time(created), optional(used), optional(revoked)
		return &d, err
	})
	out := DevicesOut{Devices: []*Device{}}
	for _, d := range all {
		if op.May(ctx, "actor.read", actorAt(d.Person)) {
			out.Devices = append(out.Devices, d)
		}
	}
	return out, err
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
