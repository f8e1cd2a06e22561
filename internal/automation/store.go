package automation

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"fmt"
	"time"

	"tandem/internal/automation/spec"
	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/op"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are this room's tables.
var Migrations = db.Migrations{Room: "automation", FS: schema}

// row is an automation as it is stored.
type row struct {
	wire.Automation
	tenant  string
	grants  []string
	actsFor string // the actor of whoever switched it on: with their authority it acts
}

const columns = "tenant, name, latest, live, actor, grants, made_by, made_at, switched_by, switched_at, acts_for"

func scan(rows interface{ Scan(...any) error }) (*row, error) {
	var r row
	var grants string
	var made, switched int64
	err := rows.Scan(&r.tenant, &r.Name, &r.Latest, &r.Live, &r.Actor, &grants, &r.MadeBy, &made, &r.SwitchedBy, &switched, &r.actsFor)
	if err != nil {
		return nil, err
	}
	r.On, r.MadeAt, r.SwitchedAt = r.Live != "", db.Time(made), db.Time(switched)
	_ = json.Unmarshal([]byte(grants), &r.grants) // what cannot be read names no grants: those that it has stand in their own rows
	return &r, nil
}

// find reads one automation for a change; nil when there is none.
func find(tx *db.Tx, tenant, name string) (*row, error) {
	r, err := scan(tx.QueryRow("SELECT "+columns+" FROM automation WHERE tenant = ? AND name = ?"+tx.ForUpdate(), tenant, name))
	if db.NoRows(err) {
		return nil, nil
	}
	return r, err
}

func (r *row) save(tx *db.Tx) error {
	grants, err := json.Marshal(r.grants)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE automation SET latest = ?, live = ?, actor = ?, grants = ?, switched_by = ?, switched_at = ?,
		acts_for = ? WHERE tenant = ? AND name = ?`, r.Latest, r.Live, r.Actor, string(grants), r.SwitchedBy, r.SwitchedAt, r.actsFor, r.tenant,
		r.Name)
	return err
}

// Seal is that an automation is switched on: with which version, as whom it acts, and with whose authority. A version that a person
// switched off again is not switched on by its row.
func (r *row) Seal() op.Sealed {
	return op.Sealed{Tenant: r.tenant, Subject: "switch:" + r.Name, Says: []string{r.Live, r.Actor, r.actsFor, r.SwitchedBy},
		What: "that the automation " + r.Name + " is switched on, by " + r.SwitchedBy}
}

// version is one frozen definition as it is stored.
type version struct {
	tenant, name, digest, text, actor string
	madeBy, approvedBy                string
	madeAt, approvedAt                time.Time
}

const versionColumns = "tenant, name, digest, text, actor, made_by, made_at, approved_by, approved_at"

func scanVersion(rows interface{ Scan(...any) error }) (*version, error) {
	var v version
	var made, approved int64
	err := rows.Scan(&v.tenant, &v.name, &v.digest, &v.text, &v.actor, &v.madeBy, &made, &v.approvedBy, &approved)
	v.madeAt, v.approvedAt = db.Time(made), db.Time(approved)
	return &v, err
}

// Seal is a version that a person switched on: what it means, and as whom it acts.
func (v *version) Seal() op.Sealed {
	return op.Sealed{Tenant: v.tenant, Subject: "automation:" + v.name + "/" + v.digest, Says: []string{v.digest, v.actor},
		What: "a version of the automation " + v.name + ", switched on by " + v.approvedBy}
}

// read is the definition of a version, once its text is what its digest says.
func (r *Room) read(v *version) (*spec.Automation, error) {
	m, known := r.texts.look(v.text)
	if !known {
		a, err := spec.Kept([]byte(v.text))
		if err != nil {
			return nil, fmt.Errorf("read the version %.12s of %s: %w", v.digest, v.name, err)
		}
		m = meant{a, a.Digest()}
		r.texts.put(v.text, m)
	}
	if m.digest != v.digest || m.Name != v.name {
		return nil, fmt.Errorf("the text of the version %.12s of %s is not what its digest says", v.digest, v.name)
	}
	return m.Automation, nil
}

func versionIn(tx *db.Tx, tenant, name, digest string) (*version, error) {
	v, err := scanVersion(tx.QueryRow("SELECT "+versionColumns+" FROM automation_version WHERE tenant = ? AND name = ? AND digest = ?",
		tenant, name, digest))
	if db.NoRows(err) {
		return nil, nil
	}
	return v, err
}

// versions are those of one automation, newest first.
func (r *Room) versions(ctx context.Context, tenant, name string) ([]*version, error) {
	rows, err := r.DB.Query(ctx, "SELECT "+versionColumns+
		" FROM automation_version WHERE tenant = ? AND name = ? ORDER BY made_at DESC, digest", tenant, name)
	return db.Collect(rows, err, func(rows *sql.Rows) (*version, error) { return scanVersion(rows) })
}

// Rows are what the journal vouches for: versions that were switched on once, those that are, and gates that open runs are past, and
// repairs of open runs.
func Rows(ctx context.Context, d *db.DB) (out []op.Sealed, err error) {
	rows, err := d.Query(ctx, "SELECT "+versionColumns+" FROM automation_version WHERE approved_at > 0 ORDER BY tenant, name, digest")
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (*version, error) { return scanVersion(rows) })
	if err != nil {
		return nil, err
	}
	for _, v := range all {
		out = append(out, v.Seal())
	}
	rows, err = d.Query(ctx, "SELECT "+columns+" FROM automation WHERE live <> '' ORDER BY tenant, name")
	on, err := db.Collect(rows, err, func(rows *sql.Rows) (*row, error) { return scan(rows) })
	if err != nil {
		return nil, err
	}
	for _, s := range on {
		out = append(out, s.Seal())
	}
	let, err := passes(ctx, d)
	if err != nil {
		return nil, err
	}
	told, err := repairs(ctx, d)
	return append(append(out, let...), told...), err
}
