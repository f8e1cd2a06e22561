package relay

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/op"
	"tandem/internal/testenv"
)

// told hands on what is logged.
type told chan string

func (c told) Write(b []byte) (int, error) {
	c <- string(b)
	return len(b), nil
}

// A database that cannot be read for a moment does not leave a relay without its
// worker: once it answers again, the relay goes on.
func TestARelaySurvivesAHiccup(t *testing.T) {
	d, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Migrate(t.Context(), Migrations); err != nil {
		t.Fatal(err)
	}
	write := func(fn func(tx *db.Tx) error) {
		t.Helper()
		if err := d.Write(t.Context(), fn); err != nil {
			t.Fatal(err)
		}
	}
	rename := func(from, to string) {
		t.Helper()
		write(func(tx *db.Tx) error {
			_, err := tx.Exec("ALTER TABLE " + from + " RENAME TO " + to)
			return err
		})
	}
	relay := &Relay{ID: "loop_x", Tenant: "local", Status: Parked, Lead: "ses_x", Deadline: time.Now().Add(time.Hour)}
	write(func(tx *db.Tx) error { return save(tx, relay) })
	closed, log := make(chan string, 8), make(told, 64)
	r := New(d, nil, nil, new(op.Coming), slog.New(slog.NewTextHandler(log, nil)), t.TempDir(), Sessions{
		Close: func(_ context.Context, id string) error { closed <- id; return nil },
		Owned: func(context.Context) (map[string]string, error) { return nil, nil }})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	testenv.Eventually(t, "somebody looks at the relay", 10*time.Second, r.Busy)
	rename("relay", "away")
	r.wake("local", "loop_x")
	for said := ""; !strings.Contains(said, "read a relay"); {
		select {
		case said = <-log:
		case <-time.After(10 * time.Second):
			t.Fatal("the relay was read all the same")
		}
	}
	rename("away", "relay")
	relay.Status = Stopped
	write(func(tx *db.Tx) error { return save(tx, relay) })
	select {
	case id := <-closed:
		if id != "ses_x" {
			t.Errorf("closed %s", id)
		}
	case <-time.After(20 * time.Second):
		t.Error("nobody has looked at the relay since")
	}
}
