package peer

import (
	"context"
	"database/sql"

	"tandem/internal/db"
	"tandem/internal/space"
)

// item is a stored message, opened.
type item struct {
	Seq              int64
	ID, From, To     string
	At               int64
	Surfaced, ReadAt int64
	Words            Words
}

// messages are those of this seat's log that it can open: of l, the entry, and m, its mark.
func (r *Room) messages(ctx context.Context, s *seat, where string, limit int, args ...any) ([]item, error) {
	me := string(s.me.Card().ID)
	rows, err := r.db.Query(ctx, "SELECT l.entry, l.at, coalesce(m.surfaced_at, 0), coalesce(m.read_at, 0)"+mailOf+where+" LIMIT ?",
		append(append([]any{s.id, s.tenant, s.space, s.log, s.joined, s.seq, space.ClassMessage, me, me}, args...), limit)...)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (*item, error) {
		var i item
		e, err := scanEntry(rows, &i.At, &i.Surfaced, &i.ReadAt)
		if err != nil {
			return nil, err
		}
		content := s.reopen(e)
		if content == nil {
			return nil, nil
		}
		i.Seq, i.ID, i.From, i.To, i.Words = e.Seq, e.Env.ID, string(e.Env.From), string(e.Env.To), wordsOf(content)
		if i.From == me { // one's own words are known
			i.Surfaced, i.ReadAt = i.At, i.At
		}
		return &i, nil
	})
	var out []item
	for _, i := range all {
		if i != nil {
			out = append(out, *i)
		}
	}
	return out, err
}

// mailOf finds messages by and to a member since it joined, each with its mark.
const mailOf = " FROM peer_log l LEFT JOIN peer_mark m ON m.tenant = l.tenant AND m.seat = ? AND m.seq = l.seq " +
	"WHERE l.tenant = ? AND l.space = ? AND l.line = ? AND l.seq > ? AND l.seq <= ? AND l.class = ? " +
	"AND (l.recipient = '' OR l.recipient = ? OR l.sender = ?) AND "

// unreadOf are those of others that were not read, from an entry on.
const unreadOf = "l.sender <> ? AND coalesce(m.read_at, 0) = 0 AND l.seq >= ?"

// unreadBy is what mailOf and unreadOf ask for. The caller holds s.mu.
func (s *seat) unreadBy() []any {
	me := string(s.me.Card().ID)
	return []any{s.id, s.tenant, s.space, s.log, s.joined, s.seq, space.ClassMessage, me, me, me, s.unread.from}
}
