package resource

import (
	"context"
	"database/sql"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/resource/wire"
)

// Room is the service behind the resource operations.
type Room struct {
	db     *db.DB
	fences fences
	// Keys bounds how many keys a tenant has.
	Keys db.Bound
}

// New makes the room over an open database.
func New(d *db.DB) *Room {
	return &Room{db: d, fences: fences{last: map[string]int64{}}, Keys: db.Bound{Table: "resource", Most: MaxKeys}}
}

func at(key string) op.Resource { return op.Resource{Kind: "resource", Path: "/" + key} }

// Ops is this room's front door.
func (r *Room) Ops() []op.Op {
	return []op.Op{
		wire.List.Read(op.Spec{Right: "resource.read", Masked: true, Method: "GET", Path: "/resource",
			Doc: "List shared keys, in order, page by page."},
			func(in wire.ListIn) op.Resource { return at("") }, r.list),
		wire.Get.Read(op.Spec{Right: "resource.read", Method: "GET", Path: "/resource/{key...}",
			Doc: "Read one shared key."},
			func(in wire.KeyIn) op.Resource { return at(in.Key) }, r.get),
		wire.Put.State(op.Spec{Right: "resource.write", Method: "PUT", Path: "/resource/{key...}",
			Doc: "Create or change a shared key, by compare-and-set when asked.\nLocks and leases are keys that are put with " +
				"if_absent, own and ttl_ms.",
			Aliases: []op.Alias{{Method: "PATCH", Path: "/resource/{key...}"}, {Method: "PUT", Path: "/resource"}}},
			func(in wire.PutIn) op.Resource { return at(in.Key) }, r.put),
		wire.Delete.State(op.Spec{Right: "resource.write", Method: "DELETE", Path: "/resource/{key...}",
			Doc:     "Delete a shared key; its owner alone may, while it has one.",
			Aliases: []op.Alias{{Method: "DELETE", Path: "/resource"}}},
			func(in wire.DeleteIn) op.Resource { return at(in.Key) }, r.delete),
		wire.Sweep.State(op.Spec{Right: "resource.write", MCP: "-",
			Doc: "Remove the keys whose time to live has passed and record which."},
			func(struct{}) op.Resource { return at("") }, r.sweep),
	}
}

func (r *Room) list(ctx context.Context, in wire.ListIn) (wire.ListOut, error) {
	out := wire.ListOut{Items: []*wire.Resource{}}
	if in.Limit < 0 || in.Limit > 1000 {
		return out, fault.New(fault.Invalid, "resource.list", "limit lies between 1 and 1000")
	}
	if in.Limit == 0 {
		in.Limit = 100
	}
	now := r.db.Now()
	// The mask may leave out rows, so pages are read until one is full.
	after := in.After
	for {
		rows, err := r.db.Query(ctx, "SELECT "+columns+` FROM resource WHERE tenant = ? AND key > ? AND substr(key, 1, ?) = ?
			ORDER BY key LIMIT ?`, op.CallerFrom(ctx).Tenant, after, len([]rune(in.Prefix)), in.Prefix, 500)
		page, err := db.Collect(rows, err, func(rows *sql.Rows) (*wire.Resource, error) { return scan(rows) })
		if err != nil {
			return out, err
		}
		for _, res := range page {
			after = res.Key
			if !res.Live(now) || !op.May(ctx, "resource.read", at(res.Key)) {
				continue
			}
			if len(out.Items) == in.Limit {
				out.More = true
				return out, nil
			}
			out.Items = append(out.Items, res)
			out.Count = len(out.Items)
		}
		if len(page) < 500 {
			return out, nil
		}
	}
}

func (r *Room) get(ctx context.Context, in wire.KeyIn) (*wire.Resource, error) {
	if err := CheckKey(in.Key); err != nil {
		return nil, err
	}
	res, err := scan(r.db.Find(ctx, "SELECT "+columns+" FROM resource WHERE tenant = ? AND key = ?", op.CallerFrom(ctx).Tenant, in.Key))
	if err != nil && !db.NoRows(err) {
		return nil, err
	}
	if err != nil || !res.Live(r.db.Now()) {
		return nil, fault.New(fault.NotFound, "resource.get", "there is no key %s", in.Key).WithNext("list what there is: tandem resource list")
	}
	return res, nil
}

func (r *Room) put(ctx context.Context, tx *db.Tx, in wire.PutIn) (wire.PutOut, error) {
	var out wire.PutOut
	if err := CheckKey(in.Key); err != nil {
		return out, err
	}
	if in.TTL > MaxTTL.Milliseconds() {
		return out, tooLong()
	}
	c := op.CallerFrom(ctx)
	cur, err := load(tx, c.Tenant, in.Key)
	if err != nil {
		return out, err
	}
	if err := disputed(tx, cur); err != nil {
		return out, err
	}
	fence := int64(0)
	if !cur.Live(tx.Now()) {
		if fence, err = r.fences.next(tx, c.Tenant); err != nil {
			return out, err
		}
	}
	change := Change{Value: in.Value, IfMatch: in.IfMatch, IfAbsent: in.IfAbsent, Fence: in.Fence, Own: in.Own,
		TTL: time.Duration(in.TTL) * time.Millisecond}
	next, err := Put(cur, change, c.Name, op.May(ctx, "resource.admin", at(in.Key)), fence, tx.Now())
	if err != nil {
		return out, err
	}
	next.Key = in.Key
	write := update
	if cur == nil {
		full, err := r.Keys.Full(tx, c.Tenant)
		if err != nil {
			return out, err
		}
		if full {
			return out, fault.New(fault.Exhausted, "resource.put", "there are %d shared keys already, as many as there may be", r.Keys.Most).
				WithNext("delete some that nobody needs: tandem resource list, then tandem resource delete KEY; or give new ones a time to live")
		}
		write = insert
	}
	if err := write(tx, c.Tenant, next); err != nil {
		return out, err
	}
	op.Note(ctx, "rev", next.Rev)
	op.Note(ctx, "fence", next.Fence)
	return wire.PutOut{OK: true, Resource: *next}, nil
}

func (r *Room) delete(ctx context.Context, tx *db.Tx, in wire.DeleteIn) (wire.DeleteOut, error) {
	if err := CheckKey(in.Key); err != nil {
		return wire.DeleteOut{}, err
	}
	c := op.CallerFrom(ctx)
	cur, err := load(tx, c.Tenant, in.Key)
	if err != nil {
		return wire.DeleteOut{}, err
	}
	if err := disputed(tx, cur); err != nil {
		return wire.DeleteOut{}, err
	}
	if err := Delete(cur, in.IfMatch, in.Fence, c.Name, op.May(ctx, "resource.admin", at(in.Key)), tx.Now()); err != nil {
		return wire.DeleteOut{}, err
	}
	_, err = tx.Exec("DELETE FROM resource WHERE tenant = ? AND key = ?", c.Tenant, in.Key)
	return wire.DeleteOut{OK: true, Key: in.Key}, err
}

// disputed refuses everybody what has ended by one of two clocks alone: neither its holder nor who comes next can know whose it is.
func disputed(tx *db.Tx, cur *wire.Resource) error {
	if cur == nil || cur.Live(tx.Now()) || !cur.Live(tx.Ended()) {
		return nil
	}
	return fault.New(fault.Unavailable, "resource.put", "the clock of the server was set, so nobody knows whether the time of %s is over",
		cur.Key).
		WithNext("set the server's clock right, or wait until it is taken as right; at the server: tandem doctor")
}

func (r *Room) sweep(ctx context.Context, tx *db.Tx, _ struct{}) (wire.SweepOut, error) {
	rows, err := tx.Query("DELETE FROM resource WHERE tenant = ? AND expires_at > 0 AND expires_at <= ? RETURNING key",
		op.CallerFrom(ctx).Tenant, tx.Ended())
	keys, err := db.Collect(rows, err, func(rows *sql.Rows) (key string, err error) { return key, rows.Scan(&key) })
	if err != nil {
		return wire.SweepOut{}, err
	}
	op.Note(ctx, "expired", keys)
	return wire.SweepOut{Expired: keys}, nil
}

// Due reports whether sweeping would remove anything, so that an idle server
// writes nothing.
func (r *Room) Due(ctx context.Context) (bool, error) {
	var n int
	err := r.db.QueryRow(ctx, "SELECT count(*) FROM resource WHERE tenant = ? AND expires_at > 0 AND expires_at <= ?",
		op.CallerFrom(ctx).Tenant, r.db.Now()).Scan(&n)
	return n > 0, err
}
