package peer

import (
	"context"
	"database/sql"
	"regexp"
	"slices"
	"strings"
	"sync"

	"tandem/internal/db"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// howFar orders what a receipt can say; it never goes back. The place in the
// list is what is stored.
var howFar = []string{"stored", "waiting", "surfaced", "read"}

// mark is what one member said about one message.
type mark struct {
	env    string
	member seal.MemberID
	how    int
}

// marks are what a receipt says.
func marks(e *space.Entry) ([]mark, error) {
	if e.Class != space.ClassReceipt {
		return nil, nil
	}
	var c space.ReceiptClear
	if err := space.Clear(e.Env, &c); err != nil {
		return nil, err
	}
	var out []mark
	for how, ids := range map[string][]string{"waiting": c.Waiting, "surfaced": c.Surfaced, "read": c.Read} {
		for _, id := range ids {
			out = append(out, mark{id, e.Env.From, slices.Index(howFar, how)})
		}
	}
	return out, nil
}

// keepMarks stores what is said about this seat's own messages; others' are
// their senders' affair.
func (r *Room) keepMarks(tx *db.Tx, s *seat, said []mark) error {
	for _, m := range said {
		var n int
		if err := tx.QueryRow("SELECT count(*) FROM peer_said WHERE tenant = ? AND seat = ? AND env = ?", s.tenant, s.id, m.env).
			Scan(&n); err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		if _, err := tx.Exec(`INSERT INTO peer_receipt (tenant, seat, env, member, how) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (tenant, seat, env, member) DO UPDATE SET how = CASE WHEN excluded.how > peer_receipt.how THEN excluded.how
			ELSE peer_receipt.how END`,
			s.tenant, s.id, m.env, m.member, m.how); err != nil {
			return err
		}
	}
	return nil
}

// fillMarks stores the receipts of a log that was kept before they had a table.
func (r *Room) fillMarks(ctx context.Context, s *seat, said []mark) error {
	if len(said) == 0 {
		return nil
	}
	var n int
	if err := r.db.QueryRow(ctx, "SELECT count(*) FROM (SELECT 1 FROM peer_receipt WHERE tenant = ? AND seat = ? LIMIT 1) AS any_receipt",
		s.tenant, s.id).Scan(&n); err != nil || n > 0 {
		return err
	}
	return r.db.Write(ctx, func(tx *db.Tx) error { return r.keepMarks(tx, s, said) })
}

// aboutMine are the marks that may be about this seat's own messages.
func (s *seat) aboutMine(said []mark) []mark {
	if len(s.posted.order) == recentOwn {
		return said // older ones are only on the disk
	}
	return slices.DeleteFunc(said, func(m mark) bool { _, ok := s.posted.at[m.env]; return !ok })
}

// marksOf is how far an own message has come, by member.
func (r *Room) marksOf(ctx context.Context, s *seat, env string) (map[seal.MemberID]string, error) {
	out := map[seal.MemberID]string{}
	rows, err := r.db.Query(ctx, "SELECT member, how FROM peer_receipt WHERE tenant = ? AND seat = ? AND env = ?", s.tenant, s.id, env)
	_, err = db.Collect(rows, err, func(rows *sql.Rows) (none struct{}, err error) {
		var id string
		var how int
		if err = rows.Scan(&id, &how); err == nil && how >= 0 && how < len(howFar) {
			out[seal.MemberID(id)] = howFar[how]
		}
		return none, err
	})
	return out, err
}

var messageID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bm_[0-9a-z]{26}\b`) })

// Names says whether a text names a message by its id, as the sentence does that wakes an agent.
func Names(text string) bool { return messageID().MatchString(text) }

// letter is a message to this member.
type letter struct {
	id  string
	seq int64
}

// unread are the messages that nobody at a seat has read: how many, and the
// first entry from which on they are looked for.
type unread struct {
	n    int
	from int64
}

func (u *unread) add(seq int64) {
	if u.n == 0 {
		u.from = seq
	}
	u.n++
}

// letters are the first unread messages, of those that match.
func (r *Room) letters(ctx context.Context, s *seat, limit int, where string, args ...any) ([]letter, error) {
	if s.unread.n == 0 {
		return nil, nil
	}
	rows, err := r.db.Query(ctx, "SELECT l.env, l.seq"+mailOf+unreadOf+where+" ORDER BY l.seq LIMIT ?",
		append(append(s.unreadBy(), args...), limit)...)
	return db.Collect(rows, err, func(rows *sql.Rows) (l letter, err error) { return l, rows.Scan(&l.id, &l.seq) })
}

// unsurfaced are the messages named in texts that came to this seat and were
// not known to have reached its agent.
func (r *Room) unsurfaced(ctx context.Context, s *seat, texts []string) ([]letter, error) {
	const most = 200
	var named []any
	for _, t := range texts {
		for _, id := range messageID().FindAllString(t, most) {
			named = append(named, id)
		}
	}
	if named = named[:min(len(named), most)]; len(named) == 0 {
		return nil, nil
	}
	return r.letters(ctx, s, most, " AND coalesce(m.surfaced_at, 0) = 0 AND l.env IN (?"+strings.Repeat(", ?", len(named)-1)+")", named...)
}

// announced are the ids of the first unread messages.
func (r *Room) announced(ctx context.Context, s *seat) ([]string, error) {
	first, err := r.letters(ctx, s, shownIDs, "")
	return ids(first), err
}

func ids(of []letter) []string {
	var out []string
	for _, l := range of {
		out = append(out, l.id)
	}
	return out
}

// recent remembers the newest of this seat's own envelopes in the log, so that
// one whose answer was lost is not sent twice.
type recent struct {
	at    map[string]int64
	order []string
}

const recentOwn = 512

func (r *recent) add(id string, seq int64) {
	if r.at == nil {
		r.at = map[string]int64{}
	}
	if _, ok := r.at[id]; !ok {
		r.order = append(r.order, id)
	}
	r.at[id] = seq
	if len(r.order) > recentOwn {
		delete(r.at, r.order[0])
		r.order = slices.Clone(r.order[1:])
	}
}

func (n note) marks() []mark {
	out, err := marks(n.entry)
	if err != nil {
		return nil // it was read when it was taken in
	}
	return out
}
