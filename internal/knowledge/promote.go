package knowledge

import (
	"context"
	"database/sql"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/knowledge/wire"
	"tandem/internal/memory/postings"
	"tandem/internal/op"
)

// owned is an item that the caller answers for, with where it lies. The knowledge space is locked first, always.
func (r *Room) owned(ctx context.Context, tx *db.Tx, id string) (*space, *item, error) {
	c := op.CallerFrom(ctx)
	var name string
	err := tx.QueryRow(`SELECT k.name FROM knowledge_item i JOIN knowledge k ON k.tenant = i.tenant AND k.nr = i.place
		WHERE i.tenant = ? AND i.id = ?`, c.Tenant, id).Scan(&name)
	if db.NoRows(err) {
		err = noItem(id)
	}
	if err != nil {
		return nil, nil, err
	}
	k, err := r.held(ctx, tx, name)
	if err == nil && k.forged {
		err = forged(name)
	}
	if fault.Is(err, fault.NotFound) { // that the item exists is not told either
		err = noItem(id)
	}
	if err != nil {
		return nil, nil, err
	}
	i, err := find(tx, c.Tenant, id, tx.ForUpdate())
	if err == nil && i == nil {
		err = noItem(id)
	}
	if err != nil {
		return nil, nil, err
	}
	i.Space = k.Name
	return k, i, nil
}

// promote lets an item answer, as read by an owner who is present. One that answers already is fresh again.
func (r *Room) promote(ctx context.Context, tx *db.Tx, in wire.PromoteIn) (wire.Changed, error) {
	c := op.CallerFrom(ctx)
	k, i, err := r.owned(ctx, tx, in.ID)
	if err != nil {
		return wire.Changed{}, err
	}
	switch {
	case in.Version == 0:
		return wire.Changed{}, bad("which version of %s was read? version is missing", i.ID).
			WithNext("read it, and say its version: GET /knowledge/item/%s", i.ID)
	case in.Version != i.Version:
		return wire.Changed{}, fault.New(fault.Conflict, "knowledge", "%s is at version %d, not %d", i.ID, i.Version, in.Version).
			WithNext("read it again: tandem knowledge show %s", i.ID)
	case k.Trust == wire.Sourced && !sourced(i):
		return wire.Changed{}, fault.New(fault.Conflict, "knowledge", "%s takes only what names where it comes from, and %s does not",
			k.Name, i.ID).
			WithNext("add it again with --source, as file:PATH or url:ADDRESS")
	case in.Default && len(i.Covers) == 0:
		return wire.Changed{}, fault.New(fault.Conflict, "knowledge", "%s covers no topic, so it cannot be the default of one", i.ID).
			WithNext("add it again with --covers, and the same --key")
	}
	to, replaced, err := r.stepAside(tx, c, k, i, in.Default || i.State == wire.Default) // who looks again takes nothing away
	if err != nil {
		return wire.Changed{}, err
	}
	if i.State != wire.Promoted && i.State != wire.Default {
		if err := index(tx, c.Tenant, k, i); err != nil {
			return wire.Changed{}, err
		}
	}
	i.State, i.By, i.Reason, i.ReplacedBy, i.LookedAt = to, c.Name, "", "", tx.Now()
	i.Version++
	out := changed(ctx, i)
	out.Replaced = replaced
	return out, keep(tx, c.Tenant, i)
}

// sourced reports whether an item names where it comes from, beside the session that wrote it.
func sourced(i *item) bool {
	for _, s := range i.Sources {
		if s.Kind != "turn" {
			return true
		}
	}
	return false
}

// stepAside deprecates what an item takes the place of, and lets other default items of its topics answer as all others do.
func (r *Room) stepAside(tx *db.Tx, c op.Caller, k *space, i *item, first bool) (to wire.State, replaced []string, err error) {
	rows, err := tx.Query("SELECT "+itemColumns+" FROM knowledge_item i WHERE i.tenant = ? AND i.place = ? AND i.id <> ? "+
		"AND i.state IN ('promoted', 'default') AND (i.state = 'default' OR i.dedupe = ? AND i.dedupe <> '') ORDER BY i.nr"+tx.ForUpdate(),
		c.Tenant, k.nr, i.ID, i.Key)
	others, err := db.Collect(rows, err, scanItems)
	to = wire.Promoted
	for _, o := range others {
		if err == nil && i.Key != "" && o.Key == i.Key {
			first = first || o.State == wire.Default && len(i.Covers) > 0
		}
	}
	if first {
		to = wire.Default
	}
	for _, o := range others {
		switch {
		case err != nil:
			return to, nil, err
		case i.Key != "" && o.Key == i.Key:
			if err = unindex(tx, c.Tenant, k, o); err != nil {
				return to, nil, err
			}
			o.State, o.By, o.Reason, o.ReplacedBy = wire.Deprecated, c.Name, "a newer item has its key", i.ID
			replaced = append(replaced, o.ID)
		case first && o.State == wire.Default && meets(o.Covers, i.Covers):
			o.State = wire.Promoted
		default:
			continue
		}
		o.Version++
		err = keep(tx, c.Tenant, o)
	}
	return to, replaced, err
}

func meets(a, b []string) bool {
	for _, x := range a {
		for _, y := range b {
			if x == y {
				return true
			}
		}
	}
	return false
}

// deprecate takes an item out of answers. It stays, with the reason.
func (r *Room) deprecate(ctx context.Context, tx *db.Tx, in wire.DeprecateIn) (wire.Changed, error) {
	c := op.CallerFrom(ctx)
	if len(in.Reason) > maxReason || !plain(in.Reason) {
		return wire.Changed{}, bad("a reason is plain text of at most %d bytes", maxReason)
	}
	k, i, err := r.owned(ctx, tx, in.ID)
	if err != nil {
		return wire.Changed{}, err
	}
	if i.State == wire.Deprecated {
		return wire.Changed{}, fault.New(fault.Conflict, "knowledge", "%s is deprecated already", i.ID).
			WithNext("let it answer again: tandem knowledge promote %s", i.ID)
	}
	if i.State != wire.Working {
		if err := unindex(tx, c.Tenant, k, i); err != nil {
			return wire.Changed{}, err
		}
	}
	i.State, i.By, i.Reason = wire.Deprecated, c.Name, in.Reason
	i.Version++
	return changed(ctx, i), keep(tx, c.Tenant, i)
}

// index makes an item findable, in the change that promotes it.
func index(tx *db.Tx, tenant string, k *space, i *item) error {
	length, err := postings.Put(tx, room, tenant, k.nr, i.nr, i.says())
	if err == nil {
		_, err = tx.Exec("UPDATE knowledge SET texts = texts + 1, length = length + ? WHERE tenant = ? AND name = ?", length, tenant, k.Name)
	}
	return err
}

// unindex takes an item out of the index again.
func unindex(tx *db.Tx, tenant string, k *space, i *item) error {
	length, err := postings.Drop(tx, room, tenant, k.nr, i.nr)
	if err == nil {
		_, err = tx.Exec("UPDATE knowledge SET texts = texts - 1, length = length - ? WHERE tenant = ? AND name = ?", length, tenant, k.Name)
	}
	return err
}

// beyond is where a removed text may still be.
var beyond = []string{"copies of the server that were made before", "conversations in which it was said"}

// remove deletes an item with its text.
func (r *Room) remove(ctx context.Context, tx *db.Tx, in wire.ItemIn) (wire.RemoveOut, error) {
	tenant := op.CallerFrom(ctx).Tenant
	k, i, err := r.owned(ctx, tx, in.ID)
	if err != nil {
		return wire.RemoveOut{}, err
	}
	if i.State == wire.Promoted || i.State == wire.Default {
		if err := unindex(tx, tenant, k, i); err != nil {
			return wire.RemoveOut{}, err
		}
	}
	tx.AfterCommit(r.Forgot)
	op.Note(ctx, "id", i.ID)
	if _, err = tx.Exec("DELETE FROM knowledge_read WHERE tenant = ? AND item = ?", tenant, i.ID); err != nil {
		return wire.RemoveOut{}, err
	}
	_, err = tx.Exec("DELETE FROM knowledge_item WHERE tenant = ? AND id = ?", tenant, i.ID)
	return wire.RemoveOut{Removed: 1, Beyond: beyond}, err
}

// close deletes a knowledge space with all of its items.
func (r *Room) close(ctx context.Context, tx *db.Tx, in wire.NameIn) (wire.RemoveOut, error) {
	tenant := op.CallerFrom(ctx).Tenant
	k, err := r.held(ctx, tx, in.Name)
	if err != nil {
		return wire.RemoveOut{}, err
	}
	rows, err := tx.Query("SELECT nr FROM knowledge_item WHERE tenant = ? AND place = ?", tenant, k.nr)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (nr int64, err error) { return nr, rows.Scan(&nr) })
	for _, nr := range all {
		if err == nil {
			_, err = postings.Drop(tx, room, tenant, k.nr, nr)
		}
	}
	if err != nil {
		return wire.RemoveOut{}, err
	}
	if _, err := tx.Exec(`DELETE FROM knowledge_read WHERE tenant = ? AND item IN
		(SELECT id FROM knowledge_item WHERE tenant = ? AND place = ?)`, tenant, tenant, k.nr); err != nil {
		return wire.RemoveOut{}, err
	}
	n, err := tx.Changed("DELETE FROM knowledge_item WHERE tenant = ? AND place = ?", tenant, k.nr)
	if err != nil {
		return wire.RemoveOut{}, err
	}
	tx.AfterCommit(r.Forgot)
	op.Note(ctx, "name", k.Name)
	op.Seal(ctx, subject(k.Name))
	_, err = tx.Exec("DELETE FROM knowledge WHERE tenant = ? AND name = ?", tenant, k.Name)
	return wire.RemoveOut{Removed: int(n), Beyond: beyond}, err
}
