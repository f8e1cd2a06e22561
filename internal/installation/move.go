package installation

import (
	"context"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
)

// A move copies the rows of an installation into another database. The one file
// of the data folder decides which of the two is the house: until it is written
// anew the old one, from then on the new one. Marks in both databases keep
// either from being taken for the house when it is not.
const markFrom, markTo = "from", "to "

// Leaving marks the database that an installation moves out of. While the folder
// still names it, it is the house all the same.
func Leaving(tx *db.Tx, other string) error { return setMark(tx, markFrom, other) }

// Arriving marks the database that an installation moves into: it is none before
// the folder knows the number.
func Arriving(tx *db.Tx, number, other string) error { return setMark(tx, markTo+number, other) }

// Arrives says whether a mark is of a database that an installation moved into.
func Arrives(mark string) bool { return strings.HasPrefix(mark, markTo) }

func setMark(tx *db.Tx, mark, other string) error {
	_, err := tx.Exec("INSERT INTO installation_move (one, mark, other, at) VALUES (1, ?, ?, ?) "+
		"ON CONFLICT (one) DO UPDATE SET mark = excluded.mark, other = excluded.other, at = excluded.at", mark, other, tx.Now())
	return err
}

// Moved is the mark of a database, and the other one of the move; "" for none.
func Moved(ctx context.Context, d *db.DB) (mark, other string, err error) {
	if there, err := d.Has(ctx, "installation_move"); err != nil || !there {
		return "", "", err
	}
	err = d.QueryRow(ctx, "SELECT mark, other FROM installation_move WHERE one = 1").Scan(&mark, &other)
	if db.NoRows(err) {
		err = nil
	}
	return mark, other, err
}

// Settled takes the mark away, once the database is known to be the house.
func Settled(tx *db.Tx) error {
	_, err := tx.Exec("DELETE FROM installation_move")
	return err
}

// RefuseMoved says whether a database with this mark, at where, is not the house
// that the folder knows.
func (k *Kept) RefuseMoved(mark, where, other string) error {
	number, arrived := strings.CutPrefix(mark, markTo)
	switch {
	case mark == "" || k == nil:
		return nil
	case arrived && k.Database.Move != number:
		return fault.New(fault.Conflict, "installation", "%s has rows of a move from %s that was not finished; they are no house", where, other).
			WithNext("start without --database, and move again: tandem server move postgres://…")
	case !arrived && k.Database.Shown != where:
		return fault.New(fault.Conflict, "installation", "the data of installation %s moved from %s to %s", k.ID, where, k.Database.Shown).
			WithNext("start without --database (and without it in config.toml and the environment); to move back: tandem server move sqlite")
	}
	return nil
}
