package job

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/session"
)

// creates makes sessions, and knows their keys. The first answer is lost.
type creates map[string]*session.Session

func (s creates) Invoke(ctx context.Context, name string, _ any) (any, error) {
	key := op.CallerFrom(ctx).Idempotency
	if key == "" {
		key = fmt.Sprint(len(s))
	}
	if s[key] != nil {
		return s[key], nil
	}
	s[key] = &session.Session{ID: fmt.Sprint("ses_", len(s)+1), Model: "m/m"}
	if len(s) == 1 {
		return nil, fault.New(fault.Unavailable, name, "the server ends")
	}
	return s[key], nil
}

// A server that dies after it made the reviewer's session, and before it wrote that down, is followed by one that finds it.
func TestAReviewersSessionIsFoundAgain(t *testing.T) {
	d, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Migrate(t.Context(), journal.Migrations, Migrations); err != nil {
		t.Fatal(err)
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	far, r := creates{}, New(d, journal.New(d, key), slog.New(slog.DiscardHandler), everybody)
	r.Rooms = far
	j := inReview()
	j.Tenant, j.Caller = "t", op.Caller{Tenant: "t", Actor: "act_1", Name: "ann", Kind: op.Person}
	j.happen(t, Event{Kind: Look, Agent: "m/m", Commit: "c"})
	if err := d.Write(t.Context(), func(tx *db.Tx) error { return r.insert(tx, j) }); err != nil {
		t.Fatal(err)
	}
	for _, lost := range []bool{true, false} {
		now, err := r.get(t.Context(), "t", j.ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.opensLook(t.Context(), now); fault.Is(err, fault.Unavailable) != lost {
			t.Fatal(err)
		}
	}
	now, err := r.get(t.Context(), "t", j.ID)
	if err != nil || now.Look.Session != "ses_1" || len(far) != 1 {
		t.Errorf("%d sessions were made, and the review has %+v: %v", len(far), now.Look, err)
	}
}
