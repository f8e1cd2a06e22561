package space

import (
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/space/seal"
)

// LeaseFacts is what the host decided about a path lease.
type LeaseFacts struct {
	Tag   string `json:"tag"`
	Until int64  `json:"until"`
}

func checkTag(tag string) error {
	if len(tag) != 32 {
		return fault.New(fault.Invalid, "space", "a name is sent as a tag of 32 characters")
	}
	return nil
}

// reserve leases a path to the sender. Its own lease is renewed. Shared leases get in nobody's way but that of one who wants the path
// alone.
func reserve(tx *db.Tx, tenant string, env *seal.Envelope, now time.Time) (any, error) {
	var c LeaseClear
	if err := Clear(env, &c); err != nil {
		return nil, err
	}
	if err := checkTag(c.Tag); err != nil {
		return nil, err
	}
	ttl := time.Duration(c.TTL) * time.Millisecond
	if ttl == 0 {
		ttl = DefaultLease
	}
	if ttl < time.Second || ttl > MaxLease {
		return nil, fault.New(fault.Invalid, "space.reserve", "a lease lasts between a second and %d hours", int(MaxLease.Hours()))
	}
	if len(c.Above) > maxAbove {
		return nil, fault.New(fault.Invalid, "space.reserve", "a path lies in %d folders at most", maxAbove)
	}
	for _, tag := range c.Above {
		if err := checkTag(tag); err != nil {
			return nil, err
		}
	}
	shared := 0
	if env.Class == ClassShared {
		shared = 1
	}
	for _, tag := range append([]string{c.Tag}, c.Above...) {
		if err := free(tx, tenant, env, shared,
			"SELECT holder, until FROM space_lease WHERE tag = ? AND tenant = ? AND space = ? AND holder <> ? AND until > ? AND shared + ? < 2"+
				tx.ForUpdate(), tag); err != nil {
			return nil, err
		}
	}
	if err := free(tx, tenant, env, shared,
		`SELECT l.holder, l.until FROM space_lease l JOIN space_lease_above a ON a.tenant = l.tenant AND a.space = l.space AND a.tag = l.tag
		WHERE a.above = ? AND l.tenant = ? AND l.space = ? AND l.holder <> ? AND l.until > ? AND l.shared + ? < 2 LIMIT 1`, c.Tag); err != nil {
		return nil, err
	}
	f := LeaseFacts{Tag: c.Tag, Until: db.Micros(now.Add(ttl))}
	return f, keepLease(tx, tenant, env, f, c.Above)
}

// maxAbove is how many folders deep a leased path may lie.
const maxAbove = 64

// free refuses where a query finds another's lease. Two that are shared, each counted as one, are not in each other's way.
func free(tx *db.Tx, tenant string, env *seal.Envelope, shared int, query, tag string) error {
	var holder string
	var until int64
	err := tx.QueryRow(query, tag, tenant, env.Space, env.From, tx.Ended(), shared).Scan(&holder, &until)
	if db.NoRows(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return fault.New(fault.Conflict, "space.reserve", "that path is leased to %s until %s", holder, db.Time(until).Format(time.RFC3339)).
		With("holder", holder).WithNext("ask the holder to release it, or work on something else meanwhile")
}

// keepLease writes a lease down. It was let in, so that what is in its way of the same path has ended.
func keepLease(tx *db.Tx, tenant string, env *seal.Envelope, f LeaseFacts, above []string) error {
	shared, ended := 0, "DELETE FROM space_lease WHERE tenant = ? AND space = ? AND tag = ?"
	if env.Class == ClassShared {
		shared, ended = 1, ended+" AND shared = 0"
	}
	if _, err := tx.Exec(ended, tenant, env.Space, f.Tag); err != nil {
		return err
	}
	if _, err := tx.Exec(`INSERT INTO space_lease (tenant, space, tag, holder, shared, until, env) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (tenant, space, tag, holder) DO UPDATE SET until = excluded.until, env = excluded.env`,
		tenant, env.Space, f.Tag, env.From, shared, f.Until, env.ID); err != nil {
		return err
	}
	if shared == 0 { // the folders of a shared one are for all its holders
		if _, err := tx.Exec("DELETE FROM space_lease_above WHERE tenant = ? AND space = ? AND tag = ?", tenant, env.Space, f.Tag); err != nil {
			return err
		}
	}
	for _, tag := range above {
		if _, err := tx.Exec("INSERT INTO space_lease_above (tenant, space, tag, above) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
			tenant, env.Space, f.Tag, tag); err != nil {
			return err
		}
	}
	return nil
}

func release(tx *db.Tx, tenant string, env *seal.Envelope) (any, error) {
	var c LeaseClear
	if err := Clear(env, &c); err != nil {
		return nil, err
	}
	n, err := tx.Changed("DELETE FROM space_lease WHERE tenant = ? AND space = ? AND tag = ? AND holder = ?", tenant, env.Space, c.Tag,
		env.From)
	if err == nil && n == 0 {
		err = fault.New(fault.NotFound, "space.release", "you hold no lease on that path").
			WithNext("see who does: intandem_reserve without a path lists them")
	}
	return nil, err
}
