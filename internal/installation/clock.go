package installation

import (
	"context"
	"slices"
	"time"

	"tandem/internal/db"
)

// Seen is the latest time that this installation kept, 0 for none.
func Seen(tx *db.Tx) (micros int64, err error) {
	err = tx.QueryRow("SELECT seen_at FROM installation_clock WHERE one = 1").Scan(&micros)
	if db.NoRows(err) {
		err = nil
	}
	return micros, err
}

// See keeps the transaction's time.
func See(tx *db.Tx) error {
	_, err := tx.Exec(`INSERT INTO installation_clock (one, seen_at) VALUES (1, ?)
		ON CONFLICT (one) DO UPDATE SET seen_at = excluded.seen_at`, tx.Now())
	return err
}

// ends are the columns that say when something ends, in every room's tables: 0 is never.
var ends = []string{"expires_at", "until"}

// removed are the tables whose rows the journal vouches for with their end in it: a row that has ended is removed, because a changed
// one would be somebody's hand.
var removed = []string{"approval_rule", "invite", "oauth_grant", "passkey_challenge", "signin", "terminal_skip", "token"}

// End writes down that what had ended by a time has ended: its end becomes the beginning of time, which every clock is behind. It
// returns how many rows that were.
func End(ctx context.Context, d *db.DB, by time.Time) (rows int64, err error) {
	tables, err := d.Columns(ctx, ends...)
	if err != nil {
		return 0, err
	}
	err = d.Write(ctx, func(tx *db.Tx) error {
		rows = 0
		for _, t := range tables {
			change := "UPDATE " + t.Table + " SET " + t.Name + " = 1"
			switch {
			case t.Table == "approval": // the room marked them
				continue
			case slices.Contains(removed, t.Table):
				change = "DELETE FROM " + t.Table
			}
			n, err := tx.Changed(change+" WHERE "+t.Name+" > 1 AND "+t.Name+" <= ?", by)
			if err != nil {
				return err
			}
			rows += n
		}
		return nil
	})
	return rows, err
}
