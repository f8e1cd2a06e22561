package knowledge

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/knowledge/wire"
	"tandem/internal/op"
)

// spaces are those that a caller may read, by name.
func (r *Room) spaces(ctx context.Context, tx *db.Tx, only string) ([]*space, error) {
	c := op.CallerFrom(ctx)
	names, bound, err := r.kept(ctx, tx)
	if err != nil || bound && len(names) == 0 {
		return nil, err
	}
	cond, args := "tenant = ? AND (? = '' OR name = ?)", []any{c.Tenant, only, only}
	if bound {
		cond += " AND name IN (?" + strings.Repeat(", ?", len(names)-1) + ")"
		for _, n := range names {
			args = append(args, n)
		}
	}
	rows, err := tx.Query("SELECT "+spaceColumns+" FROM knowledge WHERE "+cond+" ORDER BY name", args...)
	all, err := db.Collect(rows, err, scanSpaces)
	return slices.DeleteFunc(all, func(k *space) bool { return !reads(ctx, r.vouched(ctx, c.Tenant, k)) }), err
}

// within is a knowledge space by its name, where the caller may read it.
func (r *Room) within(ctx context.Context, tx *db.Tx, name string) (*space, error) {
	all, err := r.spaces(ctx, tx, name)
	if err == nil && (name == "" || len(all) == 0) {
		if err = noSpace(name); name != "" && op.May(ctx, "knowledge.admin", at(name)) {
			k, lost := scanSpace(tx.QueryRow("SELECT "+spaceColumns+" FROM knowledge WHERE tenant = ? AND name = ?",
				op.CallerFrom(ctx).Tenant, name))
			if lost == nil && r.vouched(ctx, op.CallerFrom(ctx).Tenant, k).forged {
				err = forged(name)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// sees reports whether a caller may see an item of a knowledge space that it may read. What is working is for people and for whoever
// wrote it, and what was deprecated, too: others are not to build on it.
func sees(c op.Caller, i *item) bool {
	return i.State == wire.Promoted || i.State == wire.Default || people(c) || i.actor == c.Actor
}

// seen is an item that the caller may see, with where it lies.
func (r *Room) seen(ctx context.Context, tx *db.Tx, id string) (*space, *item, error) {
	c := op.CallerFrom(ctx)
	i, err := find(tx, c.Tenant, id, "")
	if err != nil {
		return nil, nil, err
	}
	if i == nil || !sees(c, i) {
		return nil, nil, noItem(id)
	}
	k, err := scanSpace(tx.QueryRow("SELECT "+spaceColumns+" FROM knowledge WHERE tenant = ? AND nr = ?", c.Tenant, i.place))
	mine := false
	if err == nil {
		mine, err = r.lets(ctx, tx, r.vouched(ctx, c.Tenant, k))
	}
	if db.NoRows(err) || err == nil && !mine {
		err = noItem(id)
	}
	if err != nil {
		return nil, nil, err
	}
	i.Space = k.Name
	i.freshen(k, tx.Now())
	return k, i, nil
}

func (r *Room) list(ctx context.Context, in wire.ListIn) (wire.ListOut, error) {
	out := wire.ListOut{Spaces: []wire.Space{}}
	err := r.db.Read(ctx, func(tx *db.Tx) error {
		all, err := r.spaces(ctx, tx, "")
		for _, k := range all {
			if err == nil {
				err = r.told(ctx, tx, k)
			}
			out.Spaces = append(out.Spaces, k.Space)
		}
		if err == nil && in.Items && len(all) > 0 {
			out.Items, _, err = r.page(ctx, tx, all, wire.ShowIn{}, 200)
		}
		return err
	})
	return out, err
}

// told counts what somebody may know of a knowledge space: what waits there is for people.
func (r *Room) told(ctx context.Context, tx *db.Tx, k *space) error {
	c := op.CallerFrom(ctx)
	if !people(c) {
		return nil
	}
	return count(tx, c.Tenant, k)
}

func (r *Room) show(ctx context.Context, in wire.ShowIn) (wire.ShowOut, error) {
	out := wire.ShowOut{Items: []wire.Entry{}}
	limit := cmp.Or(in.Limit, 50)
	switch {
	case limit < 0 || limit > 200:
		return out, bad("limit lies between 1 and 200")
	case in.State != "" && !slices.Contains(wire.States, in.State):
		return out, bad("%.40q is no state", string(in.State)).WithNext("it is working, promoted, default or deprecated")
	}
	err := r.db.Read(ctx, func(tx *db.Tx) error {
		k, err := r.within(ctx, tx, in.Name)
		if err == nil {
			err = r.told(ctx, tx, k)
		}
		if err != nil {
			return err
		}
		out.Space = k.Space
		out.Items, out.More, err = r.page(ctx, tx, []*space{k}, in, limit)
		return err
	})
	return out, err
}

// page are items of some knowledge spaces that the caller may see, newest first, without their bodies.
func (r *Room) page(ctx context.Context, tx *db.Tx, all []*space, in wire.ShowIn, limit int) (out []wire.Entry, more bool, err error) {
	c := op.CallerFrom(ctx)
	at, numbers := map[int64]*space{}, []int64{}
	for _, k := range all {
		at[k.nr] = k
		numbers = append(numbers, k.nr)
	}
	cond, places := tx.Among("i.place", numbers)
	conds, args := []string{"i.tenant = ?", cond}, []any{c.Tenant, places}
	if in.State != "" {
		conds, args = append(conds, "i.state = ?"), append(args, string(in.State))
	} else {
		conds = append(conds, "i.state <> 'deprecated'")
	}
	if !people(c) {
		conds, args = append(conds, "(i.state IN ('promoted', 'default') OR i.actor = ?)"), append(args, c.Actor)
	}
	if in.Before != "" {
		conds, args = append(conds, "i.id < ?"), append(args, in.Before)
	}
	rows, err := tx.Query("SELECT "+itemColumns+" FROM knowledge_item i WHERE "+strings.Join(conds, " AND ")+" ORDER BY i.id DESC LIMIT ?",
		append(args, limit+1)...)
	items, err := db.Collect(rows, err, scanItems)
	if more = len(items) > limit; more {
		items = items[:limit]
	}
	out = []wire.Entry{}
	for _, i := range items {
		i.freshen(at[i.place], tx.Now())
		i.Space, i.Body = at[i.place].Name, ""
		out = append(out, i.Entry)
	}
	return out, more, err
}

func (r *Room) item(ctx context.Context, in wire.ItemIn) (out wire.Entry, err error) {
	err = r.db.Read(ctx, func(tx *db.Tx) error {
		_, i, err := r.seen(ctx, tx, in.ID)
		if err == nil {
			out = i.Entry
		}
		return err
	})
	if err == nil {
		err = r.note(ctx, out.ID)
	}
	return out, err
}
