package space

import (
	"context"
	"database/sql"
	"slices"
	"sync"
	"sync/atomic"

	"tandem/internal/db"
	"tandem/internal/op"
	"tandem/internal/space/seal"
)

// viewTail is how many of the newest entries are kept at hand.
const viewTail = 64

// view is a hosted space as pulls see it. It holds nothing that the tables do
// not: when a message arrives, the first of fifty waiting members reads it from
// the disk and the others take it from here.
type view struct {
	changes atomic.Int64 // counts what was committed
	mu      sync.Mutex
	at      int64 // changes when it was read
	seen    *look
}

// look is one state of a space. It is never changed.
type look struct {
	row
	members []*Member
	tail    []*Entry // without gaps, the last one is the head
}

// member finds who belongs, or belonged.
func (l *look) member(id seal.MemberID) *Member {
	for _, m := range l.members {
		if m.ID == id {
			return m
		}
	}
	return nil
}

// since are the entries after a number, when they are all at hand.
func (l *look) since(n int64, limit int) ([]*Entry, bool) {
	if n >= l.seq {
		return nil, true
	}
	if len(l.tail) == 0 || n < l.tail[0].Seq-1 {
		return nil, false
	}
	out := l.tail[n+1-l.tail[0].Seq:]
	return out[:min(limit, len(out))], true
}

func (r *Room) viewOf(tenant, space string) *view {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.views[tenant+"/"+space]
	if v == nil {
		v = new(view)
		r.views[tenant+"/"+space] = v
	}
	return v
}

// changed tells everybody who waits that a space is not what it was. It runs
// after the commit.
func (r *Room) changed(tenant, space string) {
	r.viewOf(tenant, space).changes.Add(1)
	r.wake.ring(tenant + "/" + space)
}

// look is the space as it is now.
func (r *Room) look(ctx context.Context, tenant, space string) (*look, error) {
	v := r.viewOf(tenant, space)
	v.mu.Lock()
	defer v.mu.Unlock()
	at := v.changes.Load() + r.Sequence() // before reading: what is committed meanwhile makes it stale
	if v.seen != nil && v.at == at {
		return v.seen, nil
	}
	next := &look{}
	err := r.db.Read(ctx, func(tx *db.Tx) error {
		s, err := scanSpace(tx.QueryRow("SELECT "+spaceColumns+" FROM space WHERE tenant = ? AND id = ?", tenant, space))
		if db.NoRows(err) {
			return notFound(space)
		}
		if err != nil {
			return err
		}
		next.row = *s
		from := s.seq - viewTail
		if v.seen != nil && v.seen.term == s.term && v.seen.seq > from && v.seen.seq <= s.seq {
			from = v.seen.seq
			next.tail = slices.Clone(v.seen.tail)
		}
		rows, err := tx.Query("SELECT "+entryColumns+" FROM space_log WHERE tenant = ? AND space = ? AND seq > ? ORDER BY seq", tenant, space,
			from)
		fresh, err := db.Collect(rows, err, func(rows *sql.Rows) (*Entry, error) { return scanEntry(rows) })
		if err != nil {
			return err
		}
		next.tail = append(next.tail, fresh...)
		next.tail = next.tail[max(0, len(next.tail)-viewTail):]
		rows, err = tx.Query("SELECT "+memberColumns+" FROM space_member WHERE tenant = ? AND space = ? ORDER BY joined_at, id", tenant, space)
		next.members, err = collectMembers(rows, err)
		return err
	})
	if err != nil {
		if v.seen == nil { // it may not be there at all
			r.mu.Lock()
			delete(r.views, tenant+"/"+space)
			r.mu.Unlock()
		}
		return nil, err
	}
	v.seen, v.at = next, at
	return next, nil
}

// pulls finds the member behind a pull. The members' side of this very daemon
// vouches for its own seats; everybody else has to sign.
func (r *Room) pulls(ctx context.Context, l *look, in PullIn) (*Member, error) {
	c := op.CallerFrom(ctx)
	m := l.member(in.Proof.Member)
	if c.Door == op.DoorInside && c.Kind == op.Service {
		if m == nil {
			return nil, notFound(l.id)
		}
	} else if err := in.Proof.holds(m, l.id, "space.pull", in, r.db.Now()); err != nil {
		return nil, err
	}
	return m, m.belongs()
}
