package approval

import (
	"time"

	"tandem/internal/crowd"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// Waiting is how many unanswered asks there may be of those whom nobody knows yet, who are one asker for all the world.
var Waiting = crowd.Bound{From: MaxFrom, All: MaxPending, Settles: Settles}

// makeRoom keeps the inbox from being drowned: an asker has its bound, and those whom nobody knows yet have one for each source. It
// answers which had to go.
func (r *Room) makeRoom(tx *db.Tx, c Call) (gone []string, err error) {
	source := c.Caller.Source
	if source == "" {
		all, err := pendingOf(tx, c.Caller.Tenant, c.Caller.Actor, nil)
		if err != nil || all < mostOf(c.Caller) {
			return nil, err
		}
		return nil, fault.New(fault.Exhausted, c.Op, "%d of your calls wait for an approval already", all).
			WithNext("wait for answers before asking for more: tandem approvals")
	}
	l := &strangers{r, tx, c, nil}
	wait, err := Waiting.Admit(l, source, tx.Now())
	if wait > 0 {
		return nil, fault.New(fault.Exhausted, c.Op, "%d requests from where you are wait for an answer already", MaxFrom).
			WithNext("try again in %d minutes; or a person at the server clears them: tandem approvals cancel --from %s",
				crowd.Minutes(wait), source)
	}
	return l.gone, err
}

// mostOf is how many unanswered asks a caller may have.
func mostOf(c op.Caller) int {
	if c.Kind == op.Service && c.Door == op.DoorInside { // its runs have a bound of their own
		return MaxOwn
	}
	return MaxPending
}

// strangers are the unanswered asks of those whom nobody knows yet.
type strangers struct {
	r    *Room
	tx   *db.Tx
	c    Call
	gone []string
}

func (l *strangers) From(source string) (n int, oldest time.Time, err error) {
	n, err = pendingOf(l.tx, l.c.Caller.Tenant, l.c.Caller.Actor, &source)
	if err != nil || n == 0 {
		return n, oldest, err
	}
	a, err := oldestOf(l.tx, l.c, source)
	if err != nil {
		return 0, oldest, err
	}
	return n, a.CreatedAt, nil
}

func (l *strangers) All() (int, error) {
	return pendingOf(l.tx, l.c.Caller.Tenant, l.c.Caller.Actor, nil)
}

func (l *strangers) Most() (most string, err error) {
	err = l.tx.QueryRow(`SELECT source FROM approval WHERE tenant = ? AND asker_id = ? AND `+unanswered+`
		GROUP BY source ORDER BY count(*) DESC, min(id) LIMIT 1`, l.c.Caller.Tenant, l.c.Caller.Actor, l.tx.Now()).Scan(&most)
	return most, err
}

func (l *strangers) Drop(source string) error {
	a, err := oldestOf(l.tx, l.c, source)
	if err != nil {
		return err
	}
	l.gone = append(l.gone, a.ID)
	_, err = l.r.Abandon(l.tx, a.Tenant, a.AskerID, a.ID, "many requests wait, and newer ones took its place")
	return err
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
