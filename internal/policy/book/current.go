package book

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/policy"
)

// A tenant's policy is compiled once, and follows its changes: a version that came looks at the grants that it names, and at the rules
// where those were written, whoever changed them, here or at another server. Only what has a doubt about it is read whole again.

// known is a compiled policy, what it was made of, and how far the journal was when all of it was read.
type known struct {
	*policy.Compiled
	written policy.Source // what stands beside the grants, as people wrote it
	rules   string        // those that are in force: people's, and what the house adds
	away    []away
	listing
	locked  bool // something is missing, and only people may act
	stale   bool // it changed since
	vouched vouched
}

// vouched is what the journal said of policies when one was read.
type vouched struct {
	turn   int64 // the last change of what a policy is made of, in any tenant
	adopts int64 // the last time that a person or an erasure put rows beyond what changes say
	whole  bool
}

func (b *Book) vouched() (v vouched) {
	if !b.Vouch.Asks() {
		return vouched{whole: true}
	}
	for _, kind := range sealedKinds {
		v.turn = max(v.turn, b.Vouch.Turn(kind))
	}
	return vouched{v.turn, max(b.Vouch.Turn("adoption"), b.Vouch.Turn("erased")), b.Vouch.Whole()}
}

// sealedKinds are the kinds of the rows that a policy is made of.
var sealedKinds = []string{"grant", "denial", "rules", "owner"}

// Policy is the tenant's policy in force. On an error there is none, and everything is refused.
func (b *Book) Policy(ctx context.Context, tenant string) (*policy.Compiled, error) {
	k, err := b.current(ctx, tenant)
	return k.Compiled, err
}

// current is what is known of a tenant, read on where something changed.
func (b *Book) current(ctx context.Context, tenant string) (known, error) {
	now := b.vouched()
	b.mu.Lock()
	have, turn := b.known[tenant], b.turn
	b.mu.Unlock()
	there := have.Compiled != nil && !have.stale && have.vouched == now
	if there && b.db.Name() == "sqlite" {
		return have, nil // one process owns the file, and it hears of every change below
	}
	if there {
		fresh, err := b.fresh(ctx, tenant, have.Version())
		if err != nil || fresh {
			return have, err
		}
	}
	var k known
	if err := b.db.Read(ctx, func(tx *db.Tx) (err error) { k, err = b.follow(ctx, tx, tenant, have, now); return err }); err != nil {
		return known{}, fmt.Errorf("load the policy of %s: %w", tenant, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.turn == turn {
		b.known[tenant] = k
	}
	return k, nil
}

// fresh asks a database that several servers share whether the policy is still the one we know.
func (b *Book) fresh(ctx context.Context, tenant string, version int64) (bool, error) {
	var now int64
	err := b.db.QueryRow(ctx, "SELECT version FROM policy_head WHERE tenant = ?", tenant).Scan(&now)
	if db.NoRows(err) {
		return version == 0, nil
	}
	return now == version, err
}

// changed lets what is known of a tenant follow once the change is on disk, before anybody is told of it.
func (b *Book) changed(tx *db.Tx, tenant string) {
	tx.AfterCommit(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.turn++
		if k, ok := b.known[tenant]; ok {
			k.stale = true
			b.known[tenant] = k
		}
	})
}

// came is changed for a change that has compiled what it leaves: the next one, and the next decision, follow from there and not from
// before all that came since somebody last asked.
func (b *Book) came(tx *db.Tx, tenant string, k known) {
	b.changed(tx, tenant)
	tx.AfterCommit(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if have := b.known[tenant]; have.Compiled == nil || have.Version() < k.Version() {
			b.known[tenant] = k
		}
	})
}

// within is the policy as the transaction sees it, with what the transaction itself changed; outside of one it is the current one.
func (b *Book) within(ctx context.Context, tx *db.Tx, tenant string) (known, error) {
	if tx == nil {
		return b.current(ctx, tenant)
	}
	now := b.vouched()
	b.mu.Lock()
	have := b.known[tenant]
	b.mu.Unlock()
	return b.follow(ctx, tx, tenant, have, now)
}

// check is the policy as the transaction would leave it: what does not compile is not written.
func (b *Book) check(ctx context.Context, tx *db.Tx, tenant, where string) (known, error) {
	k, err := b.within(ctx, tx, tenant)
	return k, refusal(where, err)
}

// maxFollowed is how many changes are followed one by one. Beyond that it is quicker to read all.
const maxFollowed = 256

// follow brings what is known to where the transaction is.
func (b *Book) follow(ctx context.Context, tx *db.Tx, tenant string, have known, now vouched) (known, error) {
	v, err := head(tx, tenant)
	if err != nil {
		return known{}, err
	}
	if have.Compiled == nil || have.locked || v < have.Version() || have.vouched.adopts != now.adopts || have.vouched.whole != now.whole {
		return b.load(ctx, tx, tenant, v, now)
	}
	ids, rewritten, ok, err := b.since(tx, tenant, have, v)
	if err != nil || !ok {
		return b.orLoad(ctx, tx, tenant, v, now, err)
	}
	c := changes{have: have, to: policy.Change{Version: v}, added: map[string]int64{}, listing: have.listing}
	for _, id := range ids {
		if ok, err := b.look(ctx, tx, tenant, id, &c); err != nil || !ok {
			return b.orLoad(ctx, tx, tenant, v, now, err)
		}
	}
	c.order()
	next := known{written: have.written, rules: have.rules, away: have.away, listing: c.listing, vouched: now}
	if rewritten {
		src, d, lost, err := b.writtenNow(ctx, tx, tenant)
		if err != nil || lost {
			return b.orLoad(ctx, tx, tenant, v, now, err)
		}
		next.written, next.away = src, d.Away
		src.Rules += b.keeps(tenant)
		next.rules, c.to.Written = src.Rules, &src
	}
	if len(ids) == 0 && !rewritten && v == have.Version() {
		next.Compiled = have.Compiled
		return next, nil
	}
	next.Compiled, err = have.Changed(c.to)
	return next, err
}

func (b *Book) orLoad(ctx context.Context, tx *db.Tx, tenant string, v int64, now vouched, err error) (known, error) {
	if err != nil {
		return known{}, err
	}
	return b.load(ctx, tx, tenant, v, now)
}

// since are the grants that may have changed from what is known to a version, and whether what stands beside them did. Both the versions
// and the journal say it: somebody who wrote to the database alone keeps nothing from being looked at. It is not ok where one of the two
// does not know all.
func (b *Book) since(tx *db.Tx, tenant string, have known, v int64) (ids []string, rewritten, ok bool, err error) {
	rows, err := tx.Query("SELECT change, subject FROM policy_version WHERE tenant = ? AND version > ? ORDER BY version LIMIT ?", tenant,
		have.Version(), maxFollowed+1)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (s [2]string, err error) { return s, rows.Scan(&s[0], &s[1]) })
	if err != nil || len(all) > maxFollowed || int64(len(all)) != v-have.Version() {
		return nil, false, false, err
	}
	for _, s := range all {
		if s[0] == "grant" || s[0] == "revoke" {
			ids = append(ids, s[1])
		} else {
			rewritten = true
		}
	}
	if b.Vouch.Asks() {
		for _, kind := range sealedKinds {
			subjects, known := b.Vouch.Since(tenant, kind, have.vouched.turn)
			if !known {
				return nil, false, false, nil
			}
			for _, s := range subjects {
				if kind, id, _ := strings.Cut(s, ":"); kind == "grant" || kind == "denial" {
					ids = append(ids, id)
				} else {
					rewritten = true
				}
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), rewritten, true, nil
}
