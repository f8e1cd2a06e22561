package memory

import (
	"context"
	"database/sql"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/memory/wire"
	"tandem/internal/op"
)

// beyond is where a text may be that this room cannot reach.
func (r *Room) beyond() []string {
	out := []string{
		"copies of this server that were made before now",
		"conversations of sessions that wrote it or were told it: tandem session delete",
	}
	if r.db.Path() == "" {
		out = append(out, "pages and the write-ahead log of PostgreSQL, its replicas and archives: "+
			"VACUUM FULL of the tables memory_record, memory_version, "+
			"memory_source, memory_posting, memory_words, memory_vector and memory_pointed rewrites the pages")
	}
	return out
}

// forget deletes every text that a record ever had, its labels, sources and words in the index. That it was there, and who forgot it,
// stays. The journal never held any of it.
func (r *Room) forget(ctx context.Context, tx *db.Tx, in wire.IDIn) (wire.ForgetOut, error) {
	c := op.CallerFrom(ctx)
	out := wire.ForgetOut{ID: in.ID, Beyond: r.beyond()}
	rec, err := seen(ctx, tx, in.ID)
	if err != nil {
		return out, err
	}
	if rec.State == wire.Forgotten {
		return out, conflict("%s is forgotten already", in.ID).WithNext("see what is there: tandem memory list")
	}
	if rec.Trust == wire.Stated && rec.Owner != c.Name && !op.Allowed(ctx, "memory.admin", at(rec.Tier, rec.Of)) {
		return out, fault.New(fault.Denied, "memory.forget", "%s is what %s wrote, and forgetting takes it from everybody", in.ID, rec.Owner).
			WithNext("take it back without losing it: tandem memory demote %s; or ask %s, or an owner of this house", in.ID, rec.Owner)
	}
	if rec.State == wire.Live {
		if err := unindex(tx, c.Tenant, rec); err != nil {
			return out, err
		}
	}
	for _, table := range []string{"memory_version", "memory_source"} {
		if _, err := tx.Exec("DELETE FROM "+table+" WHERE tenant = ? AND id = ?", c.Tenant, in.ID); err != nil {
			return out, err
		}
	}
	rec.State, rec.Text, rec.digest, rec.Labels, rec.ChangedAt = wire.Forgotten, "", "", nil, tx.Now()
	rec.Version++
	if err := update(tx, c.Tenant, rec); err != nil {
		return out, err
	}
	if err := keep(tx, c.Tenant, rec, "forgotten", c.Name); err != nil {
		return out, err
	}
	tx.AfterCommit(func() { r.meaning.rouse(c.Tenant, rec.place) })
	if r.Forgot != nil {
		tx.AfterCommit(r.Forgot)
	}
	if out.Told, err = toldTo(tx, c.Tenant, in.ID); err != nil {
		return out, err
	}
	out.Derived, err = derived(ctx, tx, in.ID)
	return out, err
}

// derived are the records that name one as their source, as far as the caller sees them.
func derived(ctx context.Context, tx *db.Tx, id string) (out []string, err error) {
	tenant := op.CallerFrom(ctx).Tenant
	rows, err := tx.Query("SELECT DISTINCT id FROM memory_source WHERE tenant = ? AND kind = ? AND ref = ? ORDER BY id LIMIT 100", tenant,
		wire.FromMemory, id)
	ids, err := db.Collect(rows, err, func(rows *sql.Rows) (id string, err error) { return id, rows.Scan(&id) })
	for _, id := range ids {
		rec, err := find(tx, tenant, id, "")
		if err != nil {
			return nil, err
		}
		if rec != nil && sees(ctx, rec) {
			out = append(out, id)
		}
	}
	return out, err
}
