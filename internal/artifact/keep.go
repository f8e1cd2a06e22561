package artifact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
	"unicode/utf8"

	"tandem/internal/artifact/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
)

// keep stores what a step made as the next version of its name, and lets versions go that are too old or too many.
func (r *Room) keep(ctx context.Context, tx *db.Tx, in wire.KeepIn) (*wire.Artifact, error) {
	c, name := op.CallerFrom(ctx), nameOf(in)
	refuse := func(format string, args ...any) (*wire.Artifact, error) {
		return nil, fault.New(fault.Invalid, string(wire.Keep), format, args...)
	}
	switch {
	case c.Door != op.DoorInside || c.Kind != op.Service || c.Name != "automation."+in.Automation:
		return nil, fault.New(fault.Denied, string(wire.Keep), "a run does this by itself, and nobody else").
			WithNext("give a node an output with an artifact: see docs/artifact.md")
	case !nameForm.MatchString(name) || len(name) > 250:
		return refuse("%.100q is no name of an artifact", name)
	case ends[in.Kind] == "":
		return refuse("%.20q is no kind of artifact", in.Kind)
	case len(in.Data) > MaxBody || len(in.Text) > MaxBody:
		return refuse("%s has %d bytes; %d are allowed", name, max(len(in.Data), len(in.Text)), MaxBody)
	case readable(in.Kind) && !utf8.Valid(in.Data) || !utf8.ValidString(in.Text):
		return refuse("%s is no text in UTF-8", name)
	}
	a := &row{tenant: c.Tenant, Artifact: wire.Artifact{ID: id.New("art"), Name: name, Kind: in.Kind, Size: len(in.Data), Run: in.Run,
		Node: in.Node, Item: in.Item, Attempt: in.Attempt, Inputs: in.Inputs, Checks: in.Checks, AI: in.AI, MadeBy: c.Name,
		MadeAt: tx.Now()}}
	// The row is locked until the end: two runs that make the same at once get numbers one after the other.
	err := tx.QueryRow(`INSERT INTO artifact_number (tenant, name, newest) VALUES (?, ?, 1) ON CONFLICT (tenant, name)
		DO UPDATE SET newest = artifact_number.newest + 1 RETURNING newest`, c.Tenant, name).Scan(&a.Version)
	if err != nil {
		return nil, err
	}
	if a.Digest, err = store(tx, c.Tenant, in.Data); err != nil {
		return nil, err
	}
	if !readable(in.Kind) {
		if a.readable, err = store(tx, c.Tenant, []byte(in.Text)); err != nil {
			return nil, err
		}
	}
	op.Note(ctx, "digest", a.Digest)
	op.Note(ctx, "version", a.Version)
	if err := a.insert(tx, in.Automation); err != nil {
		return nil, err
	}
	return &a.Artifact, r.prune(tx, a)
}

// store puts bytes under their digest, once. The row is locked, whoever made it: nobody drops it before this change is stored.
func store(tx *db.Tx, tenant string, data []byte) (string, error) {
	sum := sha256.Sum256(data)
	digest := hex.EncodeToString(sum[:])
	if _, err := tx.Exec(`INSERT INTO artifact_body (tenant, digest, size, body) VALUES (?, ?, ?, ?) ON CONFLICT (tenant, digest)
		DO UPDATE SET size = excluded.size`, tenant, digest, len(data), data); err != nil {
		return digest, err
	}
	var all int64
	if err := tx.QueryRow("SELECT COALESCE(SUM(size), 0) FROM artifact_body WHERE tenant = ?", tenant).Scan(&all); err != nil {
		return digest, err
	}
	if all > maxAll {
		return digest, fault.New(fault.Exhausted, string(wire.Keep), "artifacts have more than %d MiB, which is as much as is kept",
			maxAll>>20).
			WithNext("remove some that nobody needs: tandem artifact list")
	}
	return digest, nil
}

func (a *row) insert(tx *db.Tx, automation string) error {
	inputs, err := json.Marshal(a.Inputs)
	if err != nil {
		return err
	}
	checks, err := json.Marshal(a.Checks)
	if err != nil {
		return err
	}
	ai := 0
	if a.AI {
		ai = 1
	}
	_, err = tx.Exec("INSERT INTO artifact ("+columns+", automation) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		a.tenant,
		a.ID, a.Name, a.Version, a.Kind, a.Digest, a.Size, a.readable, a.Run, a.Node, a.Item, a.Attempt, string(inputs),
		string(checks), ai,
		a.MadeBy, a.MadeAt, automation)
	return err
}

// prune lets the versions of a name go that are beyond the number kept, and of all names those that are too old; the newest of each
// stays, and so does what a run made that is not over.
func (r *Room) prune(tx *db.Tx, a *row) error {
	gone, err := collect(tx.Query("SELECT "+columns+" FROM artifact WHERE tenant = ? AND name = ? AND version <= ?", a.tenant, a.Name,
		a.Version-versions))
	if err != nil {
		return err
	}
	if days := r.Days(); days > 0 {
		old, err := collect(tx.Query("SELECT "+
			""+columns+` FROM artifact WHERE tenant = ? AND made_at < ? AND EXISTS (SELECT 1 FROM artifact newer
			WHERE newer.tenant = artifact.tenant AND newer.name = artifact.name AND newer.version > artifact.version) LIMIT 500`, a.tenant,
			tx.Now().Add(-time.Duration(days)*24*time.Hour)))
		if err != nil {
			return err
		}
		gone = append(gone, old...)
	}
	var free []*row
	for _, one := range gone {
		open, err := r.Open(tx, one.tenant, one.Run)
		if err != nil {
			return err
		}
		if !open {
			free = append(free, one)
		}
	}
	return drop(tx, free)
}

func (r *Room) remove(ctx context.Context, tx *db.Tx, in wire.RemoveIn) (wire.Removed, error) {
	where, args := "tenant = ? AND name = ?", []any{op.CallerFrom(ctx).Tenant, in.Name}
	if in.Version != 0 {
		where, args = where+" AND version = ?", append(args, in.Version)
	}
	gone, err := collect(tx.Query("SELECT "+columns+" FROM artifact WHERE "+where, args...))
	if err != nil {
		return wire.Removed{}, err
	}
	if len(gone) == 0 {
		return wire.Removed{}, none(in.Name, in.Version)
	}
	for _, a := range gone {
		open, err := r.Open(tx, a.tenant, a.Run)
		if err != nil {
			return wire.Removed{}, err
		}
		if open { // its gate shows it, and its next node is given it
			return wire.Removed{}, fault.New(fault.Conflict, string(wire.Remove), "%s made version %d, and is not over", a.Run, a.Version).
				WithNext("wait for its end, or end it: tandem automation runs cancel %s", a.Run)
		}
	}
	if err := r.Told(tx, gone[0].tenant, in, len(gone), op.CallerFrom(ctx).Name); err != nil {
		return wire.Removed{}, err
	}
	return wire.Removed{Removed: len(gone)}, drop(tx, gone)
}
