package identity

import (
	"context"
	"time"

	"tandem/internal/crowd"
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

// Registering is how many programs may wait for a person's consent.
var Registering = crowd.Bound{From: maxFrom, All: maxClients, Settles: settles}

// roomForClient makes place for one more program that waits for consent.
func roomForClient(tx *db.Tx, c op.Caller) error {
	wait, err := Registering.Admit(programs{tx, c.Tenant}, c.Source, tx.Now())
	if wait > 0 {
		return fault.New(fault.Exhausted, "oauth.register", "%d programs from where you are wait for a person's consent", maxFrom).
			WithNext("try again in %d minutes; or a person at the server clears them: tandem token clear", crowd.Minutes(wait))
	}
	return err
}

// programs are those that wait for consent.
type programs struct {
	tx     *db.Tx
	tenant string
}

func (l programs) From(source string) (n int, oldest time.Time, err error) {
	var at int64
	err = l.tx.QueryRow("SELECT count(*), coalesce(min(created_at), 0) FROM oauth_client WHERE "+waitingClients+" AND source = ?", l.tenant,
		source).Scan(&n, &at)
	return n, db.Time(at), err
}

func (l programs) All() (n int, err error) {
	err = l.tx.QueryRow("SELECT count(*) FROM oauth_client WHERE "+waitingClients, l.tenant).Scan(&n)
	return n, err
}

func (l programs) Most() (most string, err error) {
	err = l.tx.QueryRow("SELECT source FROM oauth_client WHERE "+waitingClients+
		" GROUP BY source ORDER BY count(*) DESC, min(id) LIMIT 1", l.tenant).Scan(&most)
	return most, err
}

func (l programs) Drop(source string) error {
	_, err := l.tx.Exec("DELETE FROM oauth_client WHERE tenant = ? AND id = (SELECT min(id) FROM oauth_client WHERE "+waitingClients+
		" AND source = ?)", l.tenant, l.tenant, source)
	return err
}
