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

// reserve leases a path to the sender. Its own lease is renewed.
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
	var holder string
	var until int64
	err := tx.QueryRow("SELECT holder, until FROM space_lease WHERE tenant = ? AND space = ? AND tag = ?"+tx.ForUpdate(), tenant, env.Space, c.Tag).Scan(&holder, &until)
	if err != nil && !db.NoRows(err) {
		return nil, err
	}
	if err == nil && holder != string(env.From) && now.Before(db.Time(until)) {
		return nil, fault.New(fault.Conflict, "space.reserve", "that path is leased to %s until %s", holder, db.Time(until).Format(time.RFC3339)).
			With("holder", holder).WithNext("ask the holder to release it, or work on something else meanwhile")
	}
	f := LeaseFacts{Tag: c.Tag, Until: db.Micros(now.Add(ttl))}
	_, err = tx.Exec(`INSERT INTO space_lease (tenant, space, tag, holder, until, env) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (tenant, space, tag) DO UPDATE SET holder = excluded.holder, until = excluded.until, env = excluded.env`,
		tenant, env.Space, c.Tag, env.From, f.Until, env.ID)
	return f, err
}

func release(tx *db.Tx, tenant string, env *seal.Envelope) (any, error) {
	var c LeaseClear
	if err := Clear(env, &c); err != nil {
		return nil, err
	}
	n, err := tx.Changed("DELETE FROM space_lease WHERE tenant = ? AND space = ? AND tag = ? AND holder = ?", tenant, env.Space, c.Tag, env.From)
	if err == nil && n == 0 {
		err = fault.New(fault.NotFound, "space.release", "you hold no lease on that path").WithNext("see who does: intandem_reserve without a path lists them")
	}
	return nil, err
}
