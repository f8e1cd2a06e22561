package session

import (
	"context"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/owner"
)

// Owner is a server among others that work with one database. The zero Owner is alone.
type Owner struct {
	Server string // its row
	Home   string // its machine's data folder
	Others func(ctx context.Context) (owner.Others, error)
}

// errTheirs says that another server runs the turn.
var errTheirs = fault.New(fault.Conflict, "session.turn", "another server runs this turn")

// Theirs reports whether a turn was not begun because another server runs it.
func Theirs(err error) bool { return err == error(errTheirs) }

// Mine reports whether this server has begun the turn.
func (r *Room) Mine(t *Turn) bool { return t.Server == r.Owner.Server }

// own makes this server the one that runs a turn, unless another one that lives does.
func (r *Room) own(tx *db.Tx, t *Turn) error {
	if t.State == Running && t.Server != "" && !r.Mine(t) {
		lives, err := owner.Lives(tx, t.Server)
		if err != nil {
			return err
		}
		if lives {
			return errTheirs
		}
	}
	t.Server = r.Owner.Server
	return nil
}

type turnIDs map[string]bool

func (ids turnIDs) ids() (out []any) {
	for id := range ids {
		out = append(out, id)
	}
	return out
}

// lived are the turns that living servers run, this one among them: where a fellow server died, what runs here is not cut off.
func (r *Room) lived(ctx context.Context) (turnIDs, error) {
	out := turnIDs{}
	if r.Owner.Others == nil {
		return out, nil
	}
	running, err := turnsWhere(outside{ctx, r.db}, "ended_at = 0 AND state = ?", string(Running))
	if err != nil || len(running) == 0 {
		return out, err
	}
	who, err := r.Owner.Others(ctx)
	for _, t := range running {
		if who.Living[t.Server] {
			out[t.ID] = true
		}
	}
	return out, err
}

func notIn(column string, n int) string {
	if n == 0 {
		return ""
	}
	return " AND " + column + " NOT IN (?" + strings.Repeat(", ?", n-1) + ")"
}

// Stir has everybody who follows a session look again: another server may have written.
func (r *Room) Stir() {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	for _, l := range r.hub.live {
		if l.part == 0 { // text that grows here is not written elsewhere
			l.head = 0
		}
		l.rows++ // an answer is, by whichever server a person is at
		l.wake()
	}
}
