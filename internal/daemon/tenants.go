package daemon

import (
	"context"
	"database/sql"
	"encoding/json"
	"path/filepath"

	"tandem/internal/approval"
	"tandem/internal/artifact"
	"tandem/internal/automation"
	"tandem/internal/board"
	"tandem/internal/contextrun"
	"tandem/internal/db"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/knowledge"
	"tandem/internal/memory"
	"tandem/internal/op"
	"tandem/internal/pack"
	"tandem/internal/policy"
	"tandem/internal/resource"
	"tandem/internal/server/health"
	"tandem/internal/session"
	"tandem/internal/space"
	"tandem/internal/space/peer"
	"tandem/internal/tenancy"
)

// policies is a tenant's policy while the tenant is open. A suspended one has none, so nothing of it passes, whoever calls and by
// whichever door: a token, a session that goes on, a timer.
func (d *Daemon) policies(ctx context.Context, tenant string) (*policy.Compiled, error) {
	if err := d.identity.Open(ctx, tenant); err != nil {
		return nil, err
	}
	return d.rooms.book.Policy(ctx, tenant)
}

// houseRule is what the house keeps for itself: this machine's files, programs, repositories, doors and settings, and the tenants.
const houseRule = `
@id("house") @reason("this machine, its files, programs, repositories and settings belong to the house that runs the server")
forbid (principal, action, resource) when {
  resource is Setting || resource is Tunnel || resource is Folder || resource is Tool || resource is Repo || resource is Workspace ||
  resource is Source || resource is Job || resource is Relay || resource is Connector || resource is Login || resource is Forge ||
  resource is Server && action != Action::"view" ||
  resource is Tenant && resource in Tenant::"/house" ||
  resource is Secret && context.op == "secret.rotate" ||
  ["audit.confirm", "session.open", "session.probe", "session.send", "session.interrupt", "session.close", "session.reap", "session.hook",
   "session.type", "session.checkout", "session.keep", "session.discard", "aside.keep", "aside.discard",
   "automation.command", "automation.look"].contains(context.op)
};
`

// keptFrom are the rules of the house about a tenant.
func keptFrom(tenant string) string {
	if tenant == identity.LocalTenant {
		return ""
	}
	return houseRule
}

// makeTenancy lets tenants be weighed, carried and erased.
func (d *Daemon) makeTenancy() {
	d.rooms.scales = tenancy.NewScales(d.db, d.identity)
	d.rooms.eraser = tenancy.NewEraser(d.db, d.journal, d.identity, d.data, d.forgotten, d.Log)
	d.identity.Has, d.identity.Erase = d.rooms.eraser.Has, d.rooms.eraser.Soon
	carrier := &tenancy.Carrier{DB: d.db, Migrations: migrations, Journal: d.journal, Identity: d.identity, Log: d.Log,
		Rooms: tenancy.Rooms{Secrets: d.rooms.secret, Approvals: d.rooms.approval, Sessions: d.rooms.session, Automations: d.rooms.automation,
			Peers: d.rooms.peer},
		At: tenancy.Place{Server: d.kept.ID, Version: d.Version, Data: d.data, SpaceKey: filepath.Join(d.data, spaceKey),
			Free: func() int64 { return health.Free(d.data) }},
		Sealed: d.sealedIn, LetsIn: letsIn, Try: d.tryTenant, Legible: legible()}
	d.identity.Carry = identity.Carry{Out: carrier.Out, In: carrier.In, Unconfirmed: d.journal.Unconfirmed}
}

// legible are the rooms that look at rows which a tenant brings; grants, tokens and what else the journal vouches for are read with its
// list.
func legible() []tenancy.Legible {
	return []tenancy.Legible{{Of: "asks", Read: approval.Legible}, {Of: "sessions", Read: session.Legible},
		{Of: "context runs", Read: contextrun.Legible}, {Of: "automations", Read: automation.Legible},
		{Of: "artifacts", Read: artifact.Legible}, {Of: "tasks", Read: board.Legible},
		{Of: "knowledge", Read: knowledge.Legible}, {Of: "memory", Read: memory.Legible}, {Of: "packs", Read: pack.Legible},
		{Of: "spaces", Read: space.Legible}, {Of: "seats in spaces", Read: peer.Legible}, {Of: "resources", Read: resource.Legible}}
}

// tenantTold writes into the journal of a tenant what the house did there.
func (d *Daemon) tenantTold(ctx context.Context, tx *db.Tx, what string, notes *op.Notes) error {
	c := op.CallerFrom(ctx)
	payload, err := json.Marshal(notes.Facts)
	if err != nil {
		return err
	}
	_, err = d.journal.Append(tx, journal.Event{Tenant: c.Tenant, Type: what, Actor: c.Name, Resource: "tenant:/", Request: c.Request,
		Payload: payload, Seals: journal.SealsOf(notes.Rows(c.Tenant))})
	return err
}

// systemOf is the caller of what tandem does by itself in a tenant.
func (d *Daemon) systemOf(tenant string) op.Caller {
	c := d.system()
	c.Tenant = tenant
	return c
}

// waits is what somebody would receive by a name alone: by grants and rules, and in knowledge spaces.
func (d *Daemon) waits(ctx context.Context, tx *db.Tx, tenant, principal string) ([]string, error) {
	out, err := d.rooms.book.Waits(ctx, tx, tenant, principal)
	if err != nil {
		return nil, err
	}
	more, err := d.rooms.knowledge.Waits(ctx, tx, tenant, principal)
	return append(out, more...), err
}

// allows is what the house lets a tenant use up.
func (d *Daemon) allows(row func(query string, args ...any) *sql.Row, tenant string) (session.Allowance, error) {
	name, l, err := d.identity.Limits(row, tenant)
	return session.Allowance{Sessions: l.Sessions, Limit: session.Limit{Subject: session.Everybody, Period: session.Period(l.Period),
		Budget: session.Budget{Cents: l.Cents}, SetBy: l.SetBy, SetAt: l.SetAt, Tenant: name}}, err
}

// tenantUses is what a tenant used of it.
func (d *Daemon) tenantUses(ctx context.Context, tenant, period string) (identity.TenantUse, error) {
	used, sessions, err := d.rooms.session.Budgets.TenantUsed(ctx, tenant, session.Period(period))
	if err != nil {
		return identity.TenantUse{}, err
	}
	bytes, err := d.rooms.scales.Weigh(ctx, tenant, tenancy.WeighedFor)
	return identity.TenantUse{Cost: int64(used.Cost), Sessions: sessions, Bytes: bytes}, err
}
