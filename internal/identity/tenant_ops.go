package identity

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
)

// TenantIn makes a tenant.
type TenantIn struct {
	Name  string `json:"name" jsonschema:"what it is called, unique here: letters, digits, - _ ."`
	Owner string `json:"owner" jsonschema:"the name of the person who owns it, and who is invited"`
	TTL   int64  `json:"expires_in_secs,omitempty" jsonschema:"how long the owner's invitation is good for; a day when left out"`
}

// Check refuses names that nobody could have.
func (in TenantIn) Check() error {
	if err := CheckName(in.Name); err != nil {
		return err
	}
	if strings.HasPrefix(in.Name, tenantPrefix+"_") {
		return fault.New(fault.Invalid, string(TenantCreate), "a name does not begin with %s_, as the ids of tenants do", tenantPrefix).
			WithNext("choose another name")
	}
	return CheckName(in.Owner)
}

// TenantOut is a tenant and the invitation of its first person.
type TenantOut struct {
	Tenant
	Invite InviteOut `json:"invite" jsonschema:"with which its owner logs in, shown this once"`
}

// TenantsOut is a page of tenants, by their ids: the house's own first, then the oldest.
type TenantsOut struct {
	Tenants []*Tenant `json:"tenants"`
	More    bool      `json:"more,omitempty"`
}

// TenantRef names a tenant.
type TenantRef struct {
	Name string `json:"name" jsonschema:"the tenant's name or id"`
	tenantID
}

// SuspendIn says which tenant stops, and why.
type SuspendIn struct {
	Name   string `json:"name" jsonschema:"the tenant's name or id"`
	Reason string `json:"reason,omitempty" jsonschema:"why; everybody of the tenant is told it"`
	tenantID
}

// Check refuses reasons that are too long, or more than a line.
func (in SuspendIn) Check() error {
	if len(in.Reason) > maxReason || strings.ContainsAny(in.Reason, "\r\n") {
		return fault.New(fault.Invalid, string(TenantSuspend), "a reason is one line of at most %d bytes", maxReason)
	}
	return nil
}

// TenantInviteIn invites a person into a tenant.
type TenantInviteIn struct {
	Tenant string `json:"tenant" jsonschema:"the tenant's name or id"`
	Person string `json:"person" jsonschema:"the name of the person, who logs in with it on their own machine"`
	TTL    int64  `json:"expires_in_secs,omitempty" jsonschema:"how long it is good for; a day when left out"`
	tenantID
}

// tenantAt is a tenant as a resource. Who owns the tenant that one is in is another part of the same kind.
func tenantAt(name string) op.Resource {
	return op.Resource{Kind: "tenant", Path: strings.TrimSuffix("/house/"+name, "/")}
}

func (r *Room) tenantOps() []op.Op {
	admin := func(s op.Spec) op.Spec {
		s.Right, s.Present, s.People, s.MCP = "tenant.admin", true, true, "-"
		return s
	}
	return append(append(r.eraseOps(admin), r.carryOps(admin)...), []op.Op{
		TenantCreate.State(admin(op.Spec{Once: true, Method: "POST", Path: "/tenant", Status: 201,
			Doc: "Make a tenant and invite its owner. It has people, rules and events of its own, and sees nothing of the others. " +
				"Needs a person present."}),
			func(in TenantIn) op.Resource { return tenantAt(in.Name) }, r.createTenant),
		TenantList.Read(op.Spec{Right: "tenant.read", Masked: true, Method: "GET", Path: "/tenant", MCP: "-",
			Doc: "List the tenants of this server and whether each is open."},
			func(PageIn) op.Resource { return tenantAt("") }, r.tenants),
		plan(r, TenantShow.Read(op.Spec{Right: "tenant.read", Method: "GET", Path: "/tenant/{name}", MCP: "-",
			Doc: "Show a tenant."}, func(in TenantRef) op.Resource { return in.at(in.Name) }, r.showTenant), TenantRef.find),
		plan(r, TenantInvite.State(admin(op.Spec{Once: true, Method: "POST", Path: "/tenant/{tenant}/invite", Status: 201,
			Doc: "Invite a person into a tenant. They log in with it on their own machine. Needs a person present."}),
			func(in TenantInviteIn) op.Resource { return in.at(in.Tenant) }, r.inviteInto), TenantInviteIn.find),
		plan(r, TenantSuspend.State(admin(op.Spec{Method: "POST", Path: "/tenant/{name}/suspend",
			Doc: "Suspend a tenant: nothing of it passes, no credential, session nor timer, until it is resumed. Nothing of it is lost."}),
			func(in SuspendIn) op.Resource { return in.at(in.Name) }, r.suspend), SuspendIn.find),
		plan(r, TenantResume.State(admin(op.Spec{Method: "POST", Path: "/tenant/{name}/resume",
			Doc: "Resume a tenant that was suspended: what let its people and agents in does so again."}),
			func(in TenantRef) op.Resource { return in.at(in.Name) }, r.resume), TenantRef.find),
		plan(r, TenantLimit.State(admin(op.Spec{Method: "POST", Path: "/tenant/{name}/limit",
			Doc: "Set what a tenant may use up: what its models may cost, and how many sessions it keeps. Its own people do not change it."}),
			func(in TenantLimitIn) op.Resource { return in.at(in.Name) }, r.limitTenant), TenantLimitIn.find),
	}...)
}

// ofTheHouse refuses callers of other tenants, whatever their rules say.
func ofTheHouse(ctx context.Context, where string) error {
	if op.CallerFrom(ctx).Tenant != LocalTenant {
		return fault.New(fault.Denied, where, "only the house's own people look after tenants").WithNext("ask whoever runs this server")
	}
	return nil
}

// within is a context in which a change is told in another tenant's journal, as the house's doing.
func (r *Room) within(ctx context.Context, tenant string) (context.Context, *op.Notes) {
	var notes op.Notes
	by := op.Caller{Tenant: tenant, Actor: WellKnown(System), Name: byHouse(ctx), Kind: op.Service, Door: op.DoorInside,
		Request: op.CallerFrom(ctx).Request}
	return op.WithNotes(op.WithCaller(ctx, by), &notes), &notes
}

// byHouse names somebody of the house to the people of another tenant.
func byHouse(ctx context.Context) string { return LocalTenant + "/" + op.CallerFrom(ctx).Name }

// fromStart are the actors that every tenant has from the start.
var fromStart = []struct {
	kind op.Kind
	name string
}{{op.Service, System}, {op.Service, Newcomer}, {op.Agent, MCP}}

func (r *Room) createTenant(ctx context.Context, tx *db.Tx, in TenantIn) (out TenantOut, err error) {
	if err := ofTheHouse(ctx, string(TenantCreate)); err != nil {
		return out, err
	}
	life, err := inviteFor(in.TTL)
	if err != nil {
		return out, err
	}
	if err := r.room(tx, string(TenantCreate)); err != nil {
		return out, err
	}
	t := Tenant{ID: id.New(tenantPrefix), Name: in.Name, State: TenantActive, CreatedAt: tx.Now(), CreatedBy: op.CallerFrom(ctx).Name,
		People: 1, Actors: int64(len(fromStart)) + 1}
	taken := fault.New(fault.Conflict, string(TenantCreate), "there is a tenant %s already", in.Name).WithNext("choose another name")
	if in.Name == LocalTenant {
		return out, taken
	}
	_, err = tx.Exec("INSERT INTO tenant (id, name, created_at, state, reason, created_by, changed_at) VALUES (?, ?, ?, ?, '', ?, 0)", t.ID,
		t.Name, t.CreatedAt, t.State, t.CreatedBy)
	if db.Exists(err) {
		return out, taken
	}
	if err != nil {
		return out, err
	}
	op.Note(ctx, "tenant", t.ID)
	op.Note(ctx, "owner", in.Owner)
	op.Row(ctx, t.Seal())
	inside, notes := r.within(ctx, t.ID)
	for _, b := range fromStart {
		a := &Actor{ID: WellKnown(b.name), Tenant: t.ID, Kind: b.kind, Name: b.name}
		if _, err := tx.Exec("INSERT INTO actor ("+actorColumns+") VALUES (?, ?, ?, ?, '', ?, 0)", a.Tenant, a.ID, a.Kind, a.Name,
			tx.Now()); err != nil {
			return out, err
		}
		op.Row(inside, a.Seal())
	}
	owner, err := freshActor(inside, tx, t.ID, op.Person, in.Owner, "")
	if err == nil && owner.Name != in.Owner {
		err = fault.New(fault.Conflict, string(TenantCreate), "%s is the name of an actor that every tenant has", in.Owner).
			WithNext("name the owner otherwise")
	}
	if err == nil {
		err = r.Own(inside, tx, in.Owner)
	}
	if err != nil {
		return out, err
	}
	invite, err := r.invite(inside, tx, inviteRow{tenant: t.ID, by: byHouse(ctx), uses: 1, person: in.Owner}, life)
	if err != nil {
		return out, err
	}
	return TenantOut{t, invite}, r.Told(inside, tx, string(TenantCreate), notes)
}

// find is a tenant by name or id, in a change. One that the journal does not know is not there.
func (r *Room) find(ctx context.Context, row *sql.Row, where, name string) (*Tenant, error) {
	t, err := scanTenant(row)
	switch {
	case db.NoRows(err) || err == nil && t.State == TenantErased:
		return nil, fault.New(fault.NotFound, where, "there is no tenant %.64q", name).WithNext("list them: tandem tenant list")
	case err != nil:
		return nil, err
	case !r.stands(ctx, t):
		return nil, forged(where, t.Seal().What)
	}
	return t, nil
}

const tenantQuery = "SELECT " + tenantColumns + " FROM tenant WHERE id = ? OR name = ?"

// another is a tenant that is not the house's own, in a change of the house's people.
func (r *Room) another(ctx context.Context, tx *db.Tx, where, name, instead string) (*Tenant, error) {
	if err := ofTheHouse(ctx, where); err != nil {
		return nil, err
	}
	t, err := r.find(ctx, tx.QueryRow(tenantQuery, name, name), where, name)
	if err == nil && t.Own {
		return nil, fault.New(fault.Invalid, where, "%s is the house's own tenant, which the server itself belongs to", t.Name).
			WithNext("%s", instead)
	}
	return t, err
}

func (r *Room) inviteInto(ctx context.Context, tx *db.Tx, in TenantInviteIn) (InviteOut, error) {
	life, err := inviteFor(in.TTL)
	if err != nil {
		return InviteOut{}, err
	}
	t, err := r.another(ctx, tx, string(TenantInvite), in.ref(in.Tenant), "leave the tenant out: tandem invite --person "+in.Person)
	if err == nil {
		err = r.opened(ctx, t)
	}
	if err != nil {
		return InviteOut{}, err
	}
	inside, notes := r.within(ctx, t.ID)
	if err := CheckName(in.Person); err != nil {
		return InviteOut{}, err
	}
	receives, err := r.mayInvite(inside, tx, t.ID, InviteIn{Person: in.Person})
	if err != nil {
		return InviteOut{}, err
	}
	out, err := r.invite(inside, tx, inviteRow{tenant: t.ID, by: byHouse(ctx), uses: 1, person: in.Person}, life)
	if err != nil {
		return InviteOut{}, err
	}
	op.Note(ctx, "invite", out.ID)
	out.Receives = receives
	return out, r.Told(inside, tx, string(TenantInvite), notes)
}

func (r *Room) suspend(ctx context.Context, tx *db.Tx, in SuspendIn) (*Tenant, error) {
	return r.turn(ctx, tx, string(TenantSuspend), in.ref(in.Name), TenantActive, TenantSuspended, in.Reason)
}

func (r *Room) resume(ctx context.Context, tx *db.Tx, in TenantRef) (*Tenant, error) {
	return r.turn(ctx, tx, string(TenantResume), in.ref(in.Name), TenantSuspended, TenantActive, "")
}

// turn takes a tenant from one state to the other, and tells it in its own journal, too.
func (r *Room) turn(ctx context.Context, tx *db.Tx, where, name string, from, to TenantState, why string) (*Tenant, error) {
	t, err := r.another(ctx, tx, where, name, "stop the server instead: tandem down")
	if err != nil {
		return nil, err
	}
	if t.State != from {
		return nil, fault.New(fault.Conflict, where, "the tenant %s is %s already", t.Name, t.State)
	}
	if to == TenantActive {
		if err := r.unconfirmed(t); err != nil {
			return nil, err
		}
	}
	now := tx.Now()
	t.State, t.Reason, t.ChangedAt = to, why, &now
	_, err = tx.Exec("UPDATE tenant SET state = ?, reason = ?, changed_at = ? WHERE id = ?", t.State, t.Reason, now, t.ID)
	if err != nil {
		return nil, err
	}
	op.Note(ctx, "tenant", t.ID)
	op.Note(ctx, "name", t.Name)
	op.Row(ctx, t.Seal())
	inside, notes := r.within(ctx, t.ID)
	return t, r.Told(inside, tx, where, notes)
}

func (r *Room) tenants(ctx context.Context, in PageIn) (TenantsOut, error) {
	out := TenantsOut{Tenants: []*Tenant{}}
	limit, err := atMost(string(TenantList), in.Limit)
	if err != nil || ofTheHouse(ctx, string(TenantList)) != nil {
		return out, err
	}
	tenants := pages[*Tenant]{size: limit + 1, place: func(t *Tenant) string { return t.ID }, read: func(after string) ([]*Tenant, error) {
		rows, err := r.db.Query(ctx, "SELECT "+tenantColumns+" FROM tenant WHERE state <> ? AND id > ? ORDER BY id LIMIT ?", TenantErased, after,
			limit+1)
		return db.Collect(rows, err, func(rows *sql.Rows) (*Tenant, error) { return scanTenant(rows) })
	}, seen: func(t *Tenant) bool { return r.stands(ctx, t) && op.May(ctx, "tenant.read", tenantAt(t.ID)) }}
	found, more, err := tenants.from(in.After, limit)
	for _, t := range found {
		out.Tenants = append(out.Tenants, t)
		if !t.Limits.None() && err == nil {
			err = r.use(ctx, t)
		}
	}
	out.More = more
	return out, err
}

func (r *Room) showTenant(ctx context.Context, in TenantRef) (*Tenant, error) {
	if err := ofTheHouse(ctx, string(TenantShow)); err != nil {
		return nil, err
	}
	t, err := r.find(ctx, r.db.QueryRow(ctx, tenantQuery, in.ref(in.Name), in.ref(in.Name)), string(TenantShow), in.Name)
	if err != nil {
		return nil, err
	}
	return t, r.use(ctx, t)
}

// inviteFor is how long an invitation is good for; 0 for as long as usual.
func inviteFor(seconds int64) (time.Duration, error) {
	if seconds < 0 || seconds > int64(maxInvite/time.Second) {
		return 0, fault.New(fault.Invalid, string(JoinInvite), "an invitation is good for a second to thirty days")
	}
	return time.Duration(seconds) * time.Second, nil
}
