package artifact

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"encoding/json"
	"slices"

	"tandem/internal/artifact/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are this room's tables.
var Migrations = db.Migrations{Room: "artifact", FS: schema}

// row is an artifact as it is stored.
type row struct {
	wire.Artifact
	tenant   string
	readable string // digest of its text, where its bytes are none
}

const columns = "tenant, id, name, version, kind, digest, size, readable, run, node, item, attempt, inputs, checks, ai, made_by, made_at"

func scan(rows interface{ Scan(...any) error }) (*row, error) {
	var a row
	var inputs, checks string
	var ai, made int64
	err := rows.Scan(&a.tenant, &a.ID, &a.Name, &a.Version, &a.Kind, &a.Digest, &a.Size, &a.readable, &a.Run, &a.Node, &a.Item,
		&a.Attempt,
		&inputs, &checks, &ai, &a.MadeBy, &made)
	if err != nil {
		return nil, err
	}
	a.AI, a.MadeAt = ai != 0, db.Time(made)
	if err := json.Unmarshal([]byte(inputs), &a.Inputs); err != nil {
		return nil, err
	}
	return &a, json.Unmarshal([]byte(checks), &a.Checks)
}

func collect(rows *sql.Rows, err error) ([]*row, error) {
	return db.Collect(rows, err, func(rows *sql.Rows) (*row, error) { return scan(rows) })
}

// one finds a version of a name, the newest where none is named.
func (r *Room) one(ctx context.Context, name string, version int) (*row, error) {
	where, args := "tenant = ? AND name = ?", []any{op.CallerFrom(ctx).Tenant, name}
	if version != 0 {
		where, args = where+" AND version = ?", append(args, version)
	}
	a, err := scan(r.DB.QueryRow(ctx, "SELECT "+columns+" FROM artifact WHERE "+where+" ORDER BY version DESC LIMIT 1", args...))
	if db.NoRows(err) {
		return nil, none(name, version)
	}
	return a, err
}

func none(name string, version int) error {
	what := "artifact"
	if version != 0 {
		return fault.New(fault.NotFound, what, "there is no version %d of the artifact %.100q", version, name).
			WithNext("see which there are: tandem artifact list NAME")
	}
	return fault.New(fault.NotFound, what, "there is no artifact %.100q", name).WithNext("see which there are: tandem artifact list")
}

// body reads bytes by their digest.
func (r *Room) body(ctx context.Context, tenant, digest string) (data []byte, err error) {
	err = r.DB.QueryRow(ctx, "SELECT body FROM artifact_body WHERE tenant = ? AND digest = ?", tenant, digest).Scan(&data)
	if sum := sha256.Sum256(data); err == nil && hex.EncodeToString(sum[:]) != digest {
		return nil, fault.New(fault.Denied, "artifact", "the bytes of %.16s… were changed in the database, and not by a run: they are not shown",
			digest).WithNext("remove that version, and run the automation again")
	}
	return data, err
}

// text is an artifact as it can be read.
func (r *Room) text(ctx context.Context, a *row) (string, error) {
	digest := a.Digest
	if !readable(a.Kind) {
		digest = a.readable
	}
	data, err := r.body(ctx, a.tenant, digest)
	return string(data), err
}

// Text is what an artifact says, for a step of the same automation.
func (r *Room) Text(ctx context.Context, tenant, automation, id string) (text string, plain bool, err error) {
	a, err := scan(r.DB.QueryRow(ctx, "SELECT "+columns+" FROM artifact WHERE tenant = ? AND automation = ? AND id = ?", tenant,
		automation, id))
	if db.NoRows(err) {
		return "", false, fault.New(fault.NotFound, "artifact", "the artifact %.64q is not kept any more", id)
	}
	if err != nil {
		return "", false, err
	}
	text, err = r.text(ctx, a)
	return text, readable(a.Kind), err
}

// drop deletes rows, and the bodies that no row names any more.
func drop(tx *db.Tx, gone []*row) error {
	for _, a := range gone {
		if _, err := tx.Exec("DELETE FROM artifact WHERE tenant = ? AND id = ?", a.tenant, a.ID); err != nil {
			return err
		}
		for _, digest := range slices.Compact([]string{a.Digest, a.readable}) {
			var locked string // whoever stores the same bytes now has the row, and is waited for: then their own row is seen
			err := tx.QueryRow("SELECT digest FROM artifact_body WHERE tenant = ? AND digest = ?"+tx.ForUpdate(), a.tenant, digest).Scan(&locked)
			if db.NoRows(err) {
				continue
			}
			if err != nil {
				return err
			}
			if _, err := tx.Exec(`DELETE FROM artifact_body WHERE tenant = ? AND digest = ? AND NOT EXISTS (SELECT 1 FROM artifact
				WHERE tenant = ? AND (digest = ? OR readable = ?))`, a.tenant, digest, a.tenant, digest, digest); err != nil {
				return err
			}
		}
	}
	return nil
}
