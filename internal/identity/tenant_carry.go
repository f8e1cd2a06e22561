package identity

import (
	"context"
	"database/sql"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
)

// A tenant is written to a file, locked, and comes up on another server with its ids: suspended, until a person there has confirmed what it
// brings.

// Carry writes tenants to files and reads them.
type Carry struct {
	Out func(ctx context.Context, t *Tenant, in ExportIn) (ExportOut, error)
	In  func(ctx context.Context, in ImportIn) (ImportOut, error)
	// Unconfirmed counts what a person has yet to confirm of a tenant.
	Unconfirmed func(tenant string) int
}

// ExportIn says which tenant is written to which file, and what locks it.
type ExportIn struct {
	Name       string `json:"name" jsonschema:"the tenant's name or id"`
	Path       string `json:"path,omitempty" jsonschema:"a new file: a name in exports of the data folder; by a command there, a path"`
	Passphrase string `json:"passphrase,omitempty" jsonschema:"locks the file; this or a recipient is needed"`
	Recipient  string `json:"recipient,omitempty" jsonschema:"locks the file to the identity of this recipient"`
	tenantID
}

// minLock is how short a passphrase may be: the file has secrets, and whoever has it can try as often as they like.
const minLock = 8

// Check refuses a file that would lie open.
func (in ExportIn) Check() error {
	where := string(TenantExport)
	switch {
	case in.Passphrase == "" && in.Recipient == "":
		return fault.New(fault.Invalid, where, "a tenant's file has secrets, PINs and tokens: it is locked").
			WithNext("add --passphrase-file, or --recipient-file with what tandem server backup-key makes")
	case in.Passphrase != "" && len(in.Passphrase) < minLock:
		return fault.New(fault.Invalid, where, "what locks the file has at least %d characters", minLock)
	}
	return checkFile(where, in.Path)
}

// checkFile refuses paths that depend on where the server was started.
func checkFile(where, path string) error {
	if path == "" || filepath.IsAbs(path) || path == filepath.Base(path) && !strings.HasPrefix(path, ".") {
		return nil
	}
	return fault.New(fault.Invalid, where, "the path of a tenant's file is absolute, or a name alone")
}

// ExportOut says what is in the file.
type ExportOut struct {
	Tenant  string    `json:"tenant"`
	Name    string    `json:"name"`
	Path    string    `json:"path" jsonschema:"on the server's own machine"`
	Made    time.Time `json:"made"`
	Records int64     `json:"records"`
	Events  int64     `json:"events" jsonschema:"how large the server's journal was, of which the tenant's own entries are in it"`
	Secrets int       `json:"secrets"`
	Bytes   int64     `json:"bytes"`
	Digest  string    `json:"digest" jsonschema:"the file's SHA-256: whoever takes it compares"`
	Doubt   []string  `json:"doubt,omitempty" jsonschema:"what the journal does not vouch for or does not open: it counts nowhere"`

	Left map[string]int64 `json:"left,omitempty" jsonschema:"rows that are of this server and stay, by what they are"`
}

// ImportIn names a tenant's file and what opens it.
type ImportIn struct {
	Path       string `json:"path" jsonschema:"a file in exports of the data folder, by its name; by a command there, a path"`
	Name       string `json:"name,omitempty" jsonschema:"what it is called here; as it was called there when left out"`
	Passphrase string `json:"passphrase,omitempty" jsonschema:"opens a file that was locked with it"`
	Identity   string `json:"identity,omitempty" jsonschema:"opens a file that was locked to its recipient"`
	Digest     string `json:"digest,omitempty" jsonschema:"the SHA-256 that the export printed: no other file is taken"`
}

// Check refuses names that nobody could have.
func (in ImportIn) Check() error {
	if in.Path == "" {
		return fault.New(fault.Invalid, string(TenantImport), "say which file")
	}
	if in.Name != "" {
		if err := (TenantIn{Name: in.Name, Owner: "somebody"}).Check(); err != nil {
			return err
		}
	}
	if in.Digest != "" && !digestForm.MatchString(in.Digest) {
		return fault.New(fault.Invalid, string(TenantImport), "%.80q is no SHA-256", in.Digest).
			WithNext("give the 64 characters that the export of the tenant printed")
	}
	return checkFile(string(TenantImport), in.Path)
}

var digestForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// ImportOut is a tenant that came from elsewhere, and what it brings.
type ImportOut struct {
	Tenant
	Made      time.Time      `json:"made" jsonschema:"when the file was written"`
	Digest    string         `json:"digest" jsonschema:"the file's SHA-256: compare it with what the export printed"`
	Records   int64          `json:"records"`
	Secrets   int            `json:"secrets"`
	Authority []string       `json:"authority" jsonschema:"what in it lets somebody do something"`
	Waits     int            `json:"waits" jsonschema:"how many of these wait for a person's word: audit.confirm"`
	Ended     map[string]int `json:"ended,omitempty" jsonschema:"what was open there and does not go on here"`
	Doubt     []string       `json:"doubt,omitempty" jsonschema:"what does not count: nobody vouched for it, or it does not open"`
	Journal   string         `json:"journal" jsonschema:"the journal that it had there, which audit.export gives as former"`
	Verified  bool           `json:"verified" jsonschema:"that journal verifies, with the key that the file names"`
	Key       string         `json:"key" jsonschema:"that key: compare it with what audit.anchor says on the first server"`
}

func (r *Room) carryOps(admin func(op.Spec) op.Spec) []op.Op {
	return []op.Op{
		plan(r, TenantExport.Effect(admin(op.Spec{Once: true, Method: "POST", Path: "/tenant/{name}/export", Secret: []string{"passphrase"},
			Doc: "Write everything that a suspended tenant has to a locked file, from which another server takes it with tenant.import.\n" +
				"Nothing of any other tenant is in it, and nothing that is bound to this server. Needs a person present."}),
			func(in ExportIn) op.Resource { return in.at(in.Name) }, r.exportTenant, nil), ExportIn.find),
		TenantImport.Effect(admin(op.Spec{Once: true, Method: "POST", Path: "/tenant/import", Status: 201,
			Secret: []string{"passphrase", "identity"},
			Doc: "Take a tenant from a file that tenant.export wrote on another server. It keeps its ids, and is suspended until a person " +
				"has confirmed what it brings (audit.confirm) and resumes it.\nWhat was open there is not done again here, and nothing is " +
				"switched on. A file with anything in it that no tenant can have is refused. Needs a person present."}),
			func(in ImportIn) op.Resource { return tenantAt("") }, r.importTenant, nil),
	}
}

func (in ExportIn) find(ctx context.Context, r *Room) ExportIn {
	in.id = r.idOf(ctx, in.Name)
	return in
}

func (r *Room) exportTenant(ctx context.Context, in ExportIn) (out ExportOut, err error) {
	t, err := r.showTenant(ctx, TenantRef{Name: in.ref(in.Name)})
	switch {
	case err != nil:
		return out, err
	case t.Own:
		return out, fault.New(fault.Invalid, string(TenantExport), "%s is the house's own tenant, which the server itself belongs to", t.Name).
			WithNext("copy the server instead: tandem server backup PATH")
	case t.State == TenantErasing:
		return out, fault.New(fault.Conflict, string(TenantExport), "the tenant %s is being erased", t.Name)
	case t.State != TenantSuspended:
		return out, fault.New(fault.Conflict, string(TenantExport), "the tenant %s is open: what happens in it meanwhile would be half in "+
			"the file", t.Name).WithNext("suspend it first: tandem tenant suspend %s", t.Name)
	}
	return r.Carry.Out(ctx, t, in)
}

func (r *Room) importTenant(ctx context.Context, in ImportIn) (out ImportOut, err error) {
	if err := ofTheHouse(ctx, string(TenantImport)); err != nil {
		return out, err
	}
	return r.Carry.In(ctx, in)
}

// CheckArrival refuses a tenant from elsewhere with an id, a name or limits that no tenant can have.
func CheckArrival(tenant, name string, l TenantLimits) error {
	where := string(TenantImport)
	if id.Check(tenantPrefix, tenant) != nil {
		return fault.New(fault.Invalid, where, "%.64q is no tenant that can come from elsewhere", tenant)
	}
	if err := (TenantIn{Name: name, Owner: "somebody"}).Check(); err != nil || name == LocalTenant {
		return fault.New(fault.Invalid, where, "%.64q is no name for a tenant", name).
			WithNext("give it another name here: tandem tenant import FILE --as NAME")
	}
	if l.None() {
		return nil
	}
	return TenantLimitIn{Cents: &l.Cents, Sessions: &l.Sessions, Bytes: &l.Bytes, Period: l.Period}.Check()
}

// Arrive makes a tenant that comes from elsewhere, with the id that it had. The caller copies what it has and lets the journal vouch.
func (r *Room) Arrive(tx *db.Tx, t *Tenant) error {
	where := string(TenantImport)
	if t.Limits.SetBy, t.Limits.SetAt = "", (time.Time{}); !t.Limits.None() { // nobody here is who set them there
		t.Limits.SetBy, t.Limits.SetAt = t.CreatedBy, *t.ChangedAt
	}
	if err := CheckArrival(t.ID, t.Name, t.Limits); err != nil {
		return err
	}
	if err := r.room(tx, where); err != nil {
		return err
	}
	var state TenantState
	err := tx.QueryRow("SELECT state FROM tenant WHERE id = ?", t.ID).Scan(&state)
	switch {
	case err == nil && state == TenantErased:
		return fault.New(fault.Conflict, where, "the tenant %s was erased here, for good", t.ID).
			WithNext("import it on a server that never had it")
	case err == nil:
		return fault.New(fault.Conflict, where, "the tenant %s is here already", t.ID).WithNext("look at it: tandem tenant show %s", t.ID)
	case !db.NoRows(err):
		return err
	}
	_, err = tx.Exec("INSERT INTO tenant (id, name, created_at, state, reason, created_by, changed_at, limits) "+
		"VALUES (?, ?, ?, ?, ?, ?, ?, ?)", t.ID, t.Name, t.CreatedAt, t.State, t.Reason, t.CreatedBy, *t.ChangedAt, t.Limits.text())
	if db.Exists(err) {
		return fault.New(fault.Conflict, where, "there is a tenant %s already", t.Name).
			WithNext("give it another name here: tandem tenant import FILE --as NAME")
	}
	return err
}

// room refuses one tenant too many.
func (r *Room) room(tx *db.Tx, where string) error {
	var n int
	if err := tx.QueryRow("SELECT count(*) FROM tenant WHERE state <> ?", TenantErased).Scan(&n); err != nil {
		return err
	}
	if n >= MaxTenants {
		return fault.New(fault.Exhausted, where, "there are %d tenants, as many as a server has", n)
	}
	return nil
}

// unconfirmed refuses to open a tenant that brings what nobody has looked at yet.
func (r *Room) unconfirmed(t *Tenant) error {
	if r.Carry.Unconfirmed == nil {
		return nil
	}
	if n := r.Carry.Unconfirmed(t.ID); n > 0 {
		return fault.New(fault.Conflict, string(TenantResume), "the tenant %s came from another server, and nobody has confirmed what "+
			"it brings: %d grants, tokens and the like", t.Name, n).WithNext("look, and confirm: tandem audit confirm")
	}
	return nil
}

// In are the rows of another database that the journal would vouch for.
func (r *Room) In(ctx context.Context, d *db.DB) ([]op.Sealed, error) {
	return (&Room{db: d, Vouch: r.Vouch}).Rows(ctx)
}

// People are the names of so many people of a tenant, the oldest first.
func (r *Room) People(ctx context.Context, tenant string, most int) ([]string, error) {
	rows, err := r.db.Query(ctx, "SELECT name FROM actor WHERE tenant = ? AND kind = 'person' AND disabled_at = 0 ORDER BY created_at, id "+
		"LIMIT ?", tenant, most)
	return db.Collect(rows, err, func(rows *sql.Rows) (name string, err error) { return name, rows.Scan(&name) })
}
