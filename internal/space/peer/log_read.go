package peer

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"tandem/internal/db"
	"tandem/internal/space"
)

// entries are this seat's log as far as it followed.
func (r *Room) entries(ctx context.Context, s *seat) ([]*space.Entry, error) {
	rows, err := r.db.Query(ctx, "SELECT entry FROM peer_log WHERE tenant = ? AND space = ? AND line = ? AND seq <= ? ORDER BY seq",
		s.tenant, s.space, s.log, s.seq)
	return db.Collect(rows, err, func(rows *sql.Rows) (*space.Entry, error) { return scanEntry(rows) })
}

func scanEntry(row interface{ Scan(...any) error }, more ...any) (*space.Entry, error) {
	var text string
	if err := row.Scan(append([]any{&text}, more...)...); err != nil {
		return nil, err
	}
	e := new(space.Entry)
	if err := json.Unmarshal([]byte(text), e); err != nil {
		return nil, fmt.Errorf("read a stored entry: %w", err)
	}
	return e, nil
}

// hashAt is the hash of an entry in this seat's log.
func (r *Room) hashAt(ctx context.Context, s *seat, seq int64) (hash string, err error) {
	err = r.db.QueryRow(ctx, "SELECT hash FROM peer_log WHERE tenant = ? AND space = ? AND line = ? AND seq = ?", s.tenant, s.space, s.log,
		seq).Scan(&hash)
	if err != nil {
		return "", fmt.Errorf("read entry %d: %w", seq, err)
	}
	return hash, nil
}

// joinLines puts seats of this home on a longer line that has all of theirs: after a split each came to it by itself.
func (r *Room) joinLines(ctx context.Context) error {
	type end struct {
		tenant, space, line, hash string
		seq                       int64
	}
	rows, err := r.db.Query(ctx, `SELECT l.tenant, l.space, l.line, l.seq, l.hash FROM peer_log l JOIN (SELECT DISTINCT tenant, space, line
		FROM peer_seat s WHERE line <> '' AND EXISTS (SELECT 1 FROM peer_seat o WHERE o.tenant = s.tenant AND o.space = s.space
		AND o.line <> '' AND o.line <> s.line)) p ON p.tenant = l.tenant AND p.space = l.space AND p.line = l.line
		WHERE l.seq = (SELECT max(m.seq) FROM peer_log m WHERE m.tenant = l.tenant AND m.space = l.space AND m.line = l.line)
		ORDER BY l.seq, l.line`)
	ends, err := db.Collect(rows, err, func(rows *sql.Rows) (e end, err error) {
		return e, rows.Scan(&e.tenant, &e.space, &e.line, &e.seq, &e.hash)
	})
	if err != nil {
		return err
	}
	for i, short := range ends {
		for _, long := range ends[i+1:] {
			if long.tenant != short.tenant || long.space != short.space {
				continue
			}
			done := false
			err := r.db.Write(ctx, func(tx *db.Tx) error {
				if _, err := linesOf(tx, short.tenant, short.space); err != nil {
					return err
				}
				n, err := tx.Changed("UPDATE peer_seat SET line = ? WHERE tenant = ? AND space = ? AND line = ? "+
					"AND NOT EXISTS (SELECT 1 FROM peer_seat o WHERE o.tenant = peer_seat.tenant AND o.space = peer_seat.space "+
					"AND o.line = peer_seat.line AND o.home <> ?) "+
					"AND EXISTS (SELECT 1 FROM peer_log l WHERE l.tenant = peer_seat.tenant AND l.space = peer_seat.space AND l.line = ? "+
					"AND l.seq = ? AND l.hash = ?)", long.line, short.tenant, short.space, short.line, r.home, long.line, short.seq, short.hash)
				done = n > 0
				return err
			})
			if err != nil {
				return err
			}
			if done {
				break
			}
		}
	}
	return r.dropLines(ctx)
}

// dropLines deletes the lines that seats left, in spaces that this home has seats in.
func (r *Room) dropLines(ctx context.Context) error {
	rows, err := r.db.Query(ctx, `SELECT l.tenant, l.space, l.line FROM peer_log l WHERE l.seq = 1 AND EXISTS (SELECT 1 FROM peer_seat p
		WHERE p.tenant = l.tenant AND p.space = l.space AND p.home = ?) AND NOT EXISTS (SELECT 1 FROM peer_seat p
		WHERE p.tenant = l.tenant AND p.space = l.space AND p.line = l.line)`, r.home)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (l [3]string, err error) { return l, rows.Scan(&l[0], &l[1], &l[2]) })
	if err != nil {
		return err
	}
	for _, l := range all {
		err := r.db.Write(ctx, func(tx *db.Tx) error {
			if _, err := linesOf(tx, l[0], l[1]); err != nil {
				return err
			}
			return unused(tx, l[0], l[1], l[2])
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// linesOf are those of a space, which nobody deletes before this is over: its seats are locked, in one order.
func linesOf(tx *db.Tx, tenant, space string) ([]string, error) {
	rows, err := tx.Query("SELECT line FROM peer_seat WHERE tenant = ? AND space = ? AND line <> '' ORDER BY id"+tx.ForUpdate(), tenant, space)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (l string, err error) { return l, rows.Scan(&l) })
	slices.Sort(all)
	return slices.Compact(all), err
}

// unused deletes a line that no seat is on any more. Its caller has called linesOf.
func unused(tx *db.Tx, tenant, space, line string) error {
	_, err := tx.Exec("DELETE FROM peer_log WHERE tenant = ? AND space = ? AND line = ? AND NOT EXISTS (SELECT 1 FROM peer_seat p "+
		"WHERE p.tenant = peer_log.tenant AND p.space = peer_log.space AND p.line = peer_log.line)", tenant, space, line)
	return err
}
