package identity

import (
	"context"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// ClearIn says which waiting programs are forgotten.
type ClearIn struct {
	From string `json:"from,omitempty" jsonschema:"only those that registered from this source; all when left out"`
}

// ClearOut says how many they were.
type ClearOut struct {
	Cleared int64 `json:"cleared"`
}

const waitingClients = "tenant = ? AND actor = ''"

func (r *Room) clearWaiting(ctx context.Context, tx *db.Tx, in ClearIn) (ClearOut, error) {
	query, args := "DELETE FROM oauth_client WHERE "+waitingClients, []any{op.CallerFrom(ctx).Tenant}
	if in.From != "" {
		query, args = query+" AND source = ?", append(args, in.From)
	}
	n, err := tx.Changed(query, args...)
	op.Note(ctx, "cleared", n)
	return ClearOut{n}, err
}

// roomForClient makes place for one more program that waits for consent. Each source has a bound of its own, where the oldest gives
// way once it has had its time; where all sources together are too many, the oldest of the source with most gives way at once, so
// that a program from elsewhere can always register.
func roomForClient(tx *db.Tx, c op.Caller) error {
	var mine, all int
	var oldest int64
	if err := tx.QueryRow("SELECT count(*), coalesce(min(created_at), 0) FROM oauth_client WHERE "+waitingClients+" AND source = ?", c.Tenant,
		c.Source).Scan(&mine, &oldest); err != nil {
		return err
	}
	if mine >= maxFrom {
		if age := tx.Now().Sub(db.Time(oldest)); age < settles {
			return fault.New(fault.Exhausted, "oauth.register", "%d programs from where you are wait for a person's consent", mine).
				WithNext("try again in %d minutes; or a person at the server clears them: tandem token clear", int((settles-age)/time.Minute)+1)
		}
		if err := dropOldest(tx, c.Tenant, c.Source); err != nil {
			return err
		}
	}
	if err := tx.QueryRow("SELECT count(*) FROM oauth_client WHERE "+waitingClients, c.Tenant).Scan(&all); err != nil || all < maxClients {
		return err
	}
	var most string
	if err := tx.QueryRow("SELECT source FROM oauth_client WHERE "+waitingClients+" GROUP BY source ORDER BY count(*) DESC, min(id) LIMIT 1",
		c.Tenant).Scan(&most); err != nil {
		return err
	}
	return dropOldest(tx, c.Tenant, most)
}

func dropOldest(tx *db.Tx, tenant, source string) error {
	_, err := tx.Exec("DELETE FROM oauth_client WHERE tenant = ? AND id = (SELECT min(id) FROM oauth_client WHERE "+waitingClients+
		" AND source = ?)", tenant, tenant, source)
	return err
}
