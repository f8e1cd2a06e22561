package job

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/owner"
)

// vouching is a room whose rows count while the journal vouches for them, with one job in it.
func vouching(t *testing.T) (*Room, *Job) {
	t.Helper()
	d, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if _, err := d.Migrate(t.Context(), journal.Migrations, owner.Migrations, Migrations); err != nil {
		t.Fatal(err)
	}
	key, err := journal.Key(filepath.Join(t.TempDir(), "journal.key"))
	if err != nil {
		t.Fatal(err)
	}
	jn := journal.New(d, key)
	if _, err := jn.Recall(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	r := New(d, jn, slog.New(slog.DiscardHandler), everybody)
	r.Sealed = true
	j := &Job{Tenant: "t", Job: wire.Job{ID: "job_1", State: wire.Queued, Repo: "/r", Onto: "main"}, Caller: op.Caller{Name: "a"}}
	if err := d.Write(t.Context(), func(tx *db.Tx) error {
		if err := r.insert(tx, j); err != nil {
			return err
		}
		return r.vouchFor(tx, j.Caller, j, map[string]any{"event": "start"})
	}); err != nil {
		t.Fatal(err)
	}
	return r, j
}

// Whoever looked at a job, or at its queue, in the moment in which it moved was told that it was changed in the database.
func TestALookAtAJobThatMovesIsNoAlarm(t *testing.T) {
	r, j := vouching(t)
	ctx, cancel := context.WithCancel(t.Context())
	moved := make(chan struct{})
	go func() {
		defer close(moved)
		for n := int64(0); ctx.Err() == nil; n++ {
			if err := r.DB.Write(ctx, func(tx *db.Tx) error {
				after, err := r.change(tx, "t", j.ID, func(j *Job) error { j.Turns = n; return nil })
				if err == nil {
					err = r.vouchFor(tx, j.Caller, after, map[string]any{"event": "try"})
				}
				return err
			}); err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
		}
	}()
	for range 2000 {
		if now, err := r.shown(t.Context(), "t", j.ID); err != nil || now.State != wire.Queued {
			t.Errorf("shown: %+v %v", now, err)
			break
		}
		if line, err := r.waiting(t.Context(), "t", "/r", "main"); err != nil || len(line) != 1 {
			t.Errorf("its queue: %d, %v", len(line), err)
			break
		}
		if _, err := r.get(t.Context(), "t", j.ID); err != nil {
			t.Error(err)
			break
		}
	}
	cancel()
	<-moved
}

// The id and the state in the columns are what a job is found by: they belong to what the journal vouches for.
func TestAJobIsItsRowWithItsColumns(t *testing.T) {
	for name, c := range map[string]struct{ id, query string }{
		"a copy under another name": {"job_2", `INSERT INTO job (tenant, id, state, body, owner, fence, home, created_at, updated_at)
			SELECT tenant, 'job_2', state, body, owner, fence, home, created_at, updated_at FROM job`},
		"another state": {"job_1", "UPDATE job SET state = 'merged'"},
		"no sense":      {"job_1", "UPDATE job SET body = '{'"},
	} {
		r, _ := vouching(t)
		if err := r.DB.Write(t.Context(), func(tx *db.Tx) error { _, err := tx.Exec(c.query); return err }); err != nil {
			t.Fatal(err)
		}
		if j, err := r.get(t.Context(), "t", c.id); !fault.Is(err, fault.Denied) {
			t.Errorf("%s: %+v %v", name, j, err)
		}
		if all, err := Rows(t.Context(), r.DB); err != nil || all[len(all)-1].Subject != "job:"+c.id {
			t.Errorf("%s: %v %v", name, all, err)
		}
	}
}

func leadsOf(line []*Job) string { return leads(nil, line) }

// Of a queue only who leads it is looked for, past rows that do not count.
func TestWhoLeadsAQueueCounts(t *testing.T) {
	r, j := vouching(t)
	next := &Job{Tenant: "t", Job: wire.Job{ID: "job_2", State: wire.Queued, Repo: "/r", Onto: "main"}, Caller: op.Caller{Name: "a"}}
	write := func(fn func(tx *db.Tx) error) {
		t.Helper()
		if err := r.DB.Write(t.Context(), fn); err != nil {
			t.Fatal(err)
		}
	}
	write(func(tx *db.Tx) error {
		if err := r.insert(tx, next); err != nil {
			return err
		}
		return r.vouchFor(tx, next.Caller, next, map[string]any{"event": "start"})
	})
	leads := func(train *wire.Train, want string) {
		t.Helper()
		if id, err := r.first(t.Context(), j.line(), train); err != nil || id != want {
			t.Errorf("%s leads, and it should be %s: %v", id, want, err)
		}
	}
	leads(nil, "job_1")
	leads(&wire.Train{Cars: []wire.Car{{Job: "job_2"}}}, "job_2")
	write(func(tx *db.Tx) error {
		_, err := tx.Exec("UPDATE job SET body = body || ' ' WHERE id = 'job_1'")
		return err
	})
	leads(nil, "job_2")
	// One that stands on it comes right behind it, and nobody who comes later waits for the two.
	upper := &Job{Tenant: "t", Job: wire.Job{ID: "job_1b", State: wire.Queued, Repo: "/r", Onto: "main", On: "job_1", Held: true, Priority: 9},
		Caller: op.Caller{Name: "a"}}
	write(func(tx *db.Tx) error {
		if err := r.insert(tx, upper); err != nil {
			return err
		}
		return r.vouchFor(tx, upper.Caller, upper, map[string]any{"event": "start"})
	})
	leads(nil, "job_2")
	line, err := r.waiting(t.Context(), "t", "/r", "main")
	if err != nil || len(line) != 2 || line[0].ID != upper.ID || leadsOf(line) != "job_2" {
		t.Errorf("%q leads a line of %d: %v", leadsOf(line), len(line), err)
	}

	write(func(tx *db.Tx) error { _, err := r.Restored(tx); return err })
	var who, kind string
	if err := r.DB.QueryRow(t.Context(), "SELECT actor, type FROM journal_event ORDER BY seq DESC LIMIT 1").Scan(&who, &kind); err != nil ||
		who != "tandem" || kind != EventMoved {
		t.Errorf("the journal says that %s stopped it (%s): %v", who, kind, err)
	}
}
