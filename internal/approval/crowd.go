package approval

import (
	"tandem/internal/db"
	"tandem/internal/fault"
)

// makeRoom keeps the inbox from being drowned. An asker has its bound. Those whom nobody knows yet are one asker for all the world, so
// that each source has a bound of its own first: there the oldest gives way once it has had its time. Where all sources together
// are too many, the oldest of the source with most gives way at once, so that whoever comes from elsewhere is always heard. It
// answers which had to go.
func (r *Room) makeRoom(tx *db.Tx, c Call) (gone []string, err error) {
	source := c.Caller.Source
	if source != "" {
		mine, err := pendingOf(tx, c.Caller.Tenant, c.Caller.Actor, &source)
		if err != nil {
			return nil, err
		}
		if mine >= MaxFrom {
			oldest, err := oldestOf(tx, c, source)
			if err != nil {
				return nil, err
			}
			if age := tx.Now().Sub(oldest.CreatedAt); age < Settles {
				return nil, fault.New(fault.Exhausted, c.Op, "%d requests from where you are wait for an answer already", mine).
					WithNext("try again in %d minutes; or a person at the server clears them: tandem approvals cancel --from %s",
						int((Settles-age).Minutes())+1, source)
			}
			if gone, err = r.giveWay(tx, oldest, gone); err != nil {
				return nil, err
			}
		}
	}
	all, err := pendingOf(tx, c.Caller.Tenant, c.Caller.Actor, nil)
	if err != nil || all < MaxPending {
		return gone, err
	}
	if source == "" {
		return nil, fault.New(fault.Exhausted, c.Op, "%d of your calls wait for an approval already", all).
			WithNext("wait for answers before asking for more: tandem approvals")
	}
	var most string
	if err := tx.QueryRow(`SELECT source FROM approval WHERE tenant = ? AND asker_id = ? AND `+unanswered+`
		GROUP BY source ORDER BY count(*) DESC, min(id) LIMIT 1`, c.Caller.Tenant, c.Caller.Actor, tx.Now()).Scan(&most); err != nil {
		return nil, err
	}
	oldest, err := oldestOf(tx, c, most)
	if err != nil {
		return nil, err
	}
	return r.giveWay(tx, oldest, gone)
}

func (r *Room) giveWay(tx *db.Tx, a *Ask, gone []string) ([]string, error) {
	_, err := r.Abandon(tx, a.Tenant, a.AskerID, a.ID, "many requests wait, and newer ones took its place")
	return append(gone, a.ID), err
}

const unanswered = "standing = 1 AND state = 'pending' AND expires_at > ?"

// pendingOf counts an asker's unanswered asks, of one source if it is given.
func pendingOf(tx *db.Tx, tenant, askerID string, source *string) (n int, err error) {
	query, args := "SELECT count(*) FROM approval WHERE tenant = ? AND asker_id = ? AND "+unanswered, []any{tenant, askerID, tx.Now()}
	if source != nil {
		query, args = query+" AND source = ?", append(args, *source)
	}
	return n, tx.QueryRow(query, args...).Scan(&n)
}

func oldestOf(tx *db.Tx, c Call, source string) (*Ask, error) {
	return scan(tx.QueryRow("SELECT "+columns+" FROM approval WHERE tenant = ? AND asker_id = ? AND "+unanswered+
		" AND source = ? ORDER BY id LIMIT 1"+tx.ForUpdate(), c.Caller.Tenant, c.Caller.Actor, tx.Now(), source))
}
