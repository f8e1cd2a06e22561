package identity

import (
	"context"
	"database/sql"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// The states of a tenant that goes. Of an erased one its id is left, so that the journal can say whose entries lost their words and so
// that nobody is let in by what named it.
const (
	TenantErasing TenantState = "erasing"
	TenantErased  TenantState = "erased"
)

// TenantContents is what a tenant has on this server: what goes when it is erased.
type TenantContents struct {
	Rows    []ContentRows `json:"rows" jsonschema:"records in the database, by what they are of; those of the journal keep their hashes"`
	Records int64         `json:"records" jsonschema:"how many these are"`
	Files   int64         `json:"files" jsonschema:"folders and files beside the database"`
	Stays   []string      `json:"stays" jsonschema:"what tandem cannot reach, and what the house keeps"`
}

// ContentRows counts the records of one thing.
type ContentRows struct {
	Of   string `json:"of"`
	Rows int64  `json:"rows"`
}

// EraseIn says which tenant goes for good.
type EraseIn struct {
	Name    string `json:"name" jsonschema:"the tenant's name or id"`
	Confirm string `json:"confirm" jsonschema:"the tenant's name, once more"`
	tenantID
}

// EraseOut is a tenant that goes, and what goes with it.
type EraseOut struct {
	Tenant
	Contents TenantContents `json:"contents"`
}

// ContentsOut is a tenant and what it has.
type ContentsOut struct {
	Tenant
	Contents TenantContents `json:"contents"`
}

func (r *Room) eraseOps(admin func(op.Spec) op.Spec) []op.Op {
	return []op.Op{
		plan(r, TenantContent.Read(op.Spec{Right: "tenant.read", Method: "GET", Path: "/tenant/{name}/contents", MCP: "-",
			Doc: "Count what a tenant has on this server: what goes when it is erased, and what that does not reach."},
			func(in TenantRef) op.Resource { return in.at(in.Name) }, r.contents), TenantRef.find),
		plan(r, TenantErase.State(admin(op.Spec{Method: "POST", Path: "/tenant/{name}/erase",
			Doc: "Erase a suspended tenant for good: its people, sessions, memory, spaces, secrets and whatever else it has, and the words of " +
				"its journal. It goes on by itself, also after a crash, and tenant.show does not find the tenant when it is done."}),
			func(in EraseIn) op.Resource { return in.at(in.Name) }, r.erase), EraseIn.find),
	}
}

func (r *Room) contents(ctx context.Context, in TenantRef) (out ContentsOut, err error) {
	t, err := r.showTenant(ctx, in)
	if err != nil {
		return out, err
	}
	out.Tenant = *t
	return out, r.db.Read(ctx, func(tx *db.Tx) (err error) { out.Contents, err = r.Has(tx, t.ID); return err })
}

func (r *Room) erase(ctx context.Context, tx *db.Tx, in EraseIn) (out EraseOut, err error) {
	where := string(TenantErase)
	t, err := r.another(ctx, tx, where, in.ref(in.Name), "remove the data folder instead, after tandem down")
	switch {
	case err != nil:
		return out, err
	case in.Confirm != t.Name:
		return out, fault.New(fault.Invalid, where, "to erase the tenant %s, confirm its name", t.Name).
			WithNext("it cannot be undone; see what goes: tandem tenant erase %s", t.Name)
	case t.State == TenantErasing:
		return out, fault.New(fault.Conflict, where, "the tenant %s is being erased already", t.Name)
	case t.State != TenantSuspended:
		return out, fault.New(fault.Conflict, where, "the tenant %s is open: people and agents may be at work in it", t.Name).
			WithNext("suspend it first: tandem tenant suspend %s", t.Name)
	}
	if out.Contents, err = r.Has(tx, t.ID); err != nil {
		return out, err
	}
	now := tx.Now()
	t.State, t.Reason, t.ChangedAt = TenantErasing, "", &now
	if _, err := tx.Exec("UPDATE tenant SET state = ?, reason = '', changed_at = ? WHERE id = ?", t.State, now, t.ID); err != nil {
		return out, err
	}
	op.Note(ctx, "tenant", t.ID)
	op.Note(ctx, "name", t.Name)
	op.Note(ctx, "records", out.Contents.Records)
	for _, s := range t.Seals() {
		op.Row(ctx, s)
	}
	tx.AfterCommit(r.Erase)
	out.Tenant = *t
	return out, nil
}

// Seals are what the journal of the house vouches for about a tenant: what it is and, once it goes, that it was erased.
func (t *Tenant) Seals() []op.Sealed {
	out := []op.Sealed{t.Seal()}
	if t.State == TenantErasing || t.State == TenantErased {
		says := []string{t.ID}
		if t.State == TenantErased && t.Reason != "" {
			says = append(says, t.Reason)
		}
		out = append(out, op.Sealed{Tenant: LocalTenant, Subject: "erased:" + t.ID, Says: says,
			What: "that the tenant " + t.ID + " was erased"})
	}
	return out
}

// Going are the tenants that a person had erased and that are not gone yet, as far as the journal vouches for it.
func (r *Room) Going(ctx context.Context) (out []*Tenant, err error) {
	rows, err := r.db.Query(ctx, "SELECT "+tenantColumns+" FROM tenant WHERE state = ? ORDER BY changed_at, id", TenantErasing)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (*Tenant, error) { return scanTenant(rows) })
	for _, t := range all {
		if r.stands(ctx, t) {
			out = append(out, t)
		}
	}
	return out, err
}

// Gone leaves of a tenant its id alone and, in the place of a reason, a digest of what the journal has left of it. It is false where
// somebody else did so before.
func (r *Room) Gone(tx *db.Tx, tenant, left string) (seals []op.Sealed, gone bool, err error) {
	t := Tenant{ID: tenant, Name: tenant, State: TenantErased, Reason: left}
	n, err := tx.Changed("UPDATE tenant SET name = id, state = ?, reason = ?, created_by = '', limits = '', changed_at = ? "+
		"WHERE id = ? AND state = ?", t.State, left, tx.Now(), tenant, TenantErasing)
	return t.Seals(), n == 1, err
}
