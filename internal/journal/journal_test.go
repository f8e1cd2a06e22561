package journal

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/testenv"
)

// exam runs one test on every database that the journal lives in.
func exam(t *testing.T, test func(t *testing.T, d *db.DB, j *Journal)) {
	t.Run("sqlite", func(t *testing.T) { d, j := open(t); test(t, d, j) })
	t.Run("postgres", func(t *testing.T) { d, j := openAt(t, testenv.Postgres(t)); test(t, d, j) })
}

func open(t testing.TB) (*db.DB, *Journal) {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "a.db"))
}

func openAt(t testing.TB, dsn string) (*db.DB, *Journal) {
	t.Helper()
	d, err := db.Open(context.Background(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if _, err := d.Migrate(context.Background(), Migrations); err != nil {
		t.Fatal(err)
	}
	key, err := Key(filepath.Join(t.TempDir(), "journal.key"))
	if err != nil {
		t.Fatal(err)
	}
	return d, New(d, key)
}

func add(t testing.TB, d *db.DB, j *Journal, ev Event) (seq int64) {
	t.Helper()
	if ev.Tenant == "" {
		ev.Tenant = "ten_a"
	}
	if ev.Type == "" {
		ev.Type = "resource.put"
	}
	if err := d.Write(context.Background(), func(tx *db.Tx) (err error) { seq, err = j.Append(tx, ev); return err }); err != nil {
		t.Fatal(err)
	}
	return seq
}

func TestSequenceHasNoGapsWhateverFails(t *testing.T) {
	exam(t, func(t *testing.T, d *db.DB, j *Journal) {
		var wg sync.WaitGroup
		for i := range 300 {
			wg.Go(func() {
				d.Write(context.Background(), func(tx *db.Tx) error {
					if _, err := j.Append(tx, Event{Tenant: "ten_a", Type: "a.b", Payload: fmt.Appendf(nil, `{"i":%d}`, i)}); err != nil {
						t.Error(err)
					}
					if i%3 == 0 {
						return errors.New("undone after the event")
					}
					return nil
				})
			})
		}
		wg.Wait()
		all, err := j.Read(t.Context(), "ten_a", 0, 1000, Filter{})
		if err != nil || len(all) != 200 {
			t.Fatalf("%d entries, %v, want 200", len(all), err)
		}
		for i, e := range all {
			if e.Seq != int64(i+1) {
				t.Fatalf("entry %d has number %d", i, e.Seq)
			}
		}
	})
}

func TestTenantsDoNotSeeEachOther(t *testing.T) {
	exam(t, func(t *testing.T, d *db.DB, j *Journal) {
		add(t, d, j, Event{Tenant: "ten_a"})
		seq := add(t, d, j, Event{Tenant: "ten_b"})
		if _, err := j.Get(t.Context(), "ten_a", seq); fault.KindOf(err) != fault.NotFound {
			t.Errorf("another tenant's event: %v", err)
		}
		if all, _ := j.Read(t.Context(), "ten_a", 0, 10, Filter{}); len(all) != 1 {
			t.Errorf("ten_a reads %d entries", len(all))
		}
	})
}

func TestFilters(t *testing.T) {
	exam(t, func(t *testing.T, d *db.DB, j *Journal) {
		add(t, d, j, Event{Type: "board.claim", Actor: "act_1", Resource: "board:/x/T1", Request: "r1"})
		add(t, d, j, Event{Type: "board.done", Actor: "act_2", Resource: "board:/x2", For: []string{"act_1"}})
		add(t, d, j, Event{Type: "boards.list", Phase: Denied, Resource: "board:/x"})
		for want, f := range map[string]Filter{
			"[1 2]": {Type: "board.*"}, "[2]": {Type: "board.done"}, "[1]": {Actor: "act_1"}, "[3]": {Phase: Denied},
			"[1 3]": {Resource: "board:/x"}, "[3 2 1]": {Newest: true}, "[1 2 3]": {Resource: "board:/"}, "[]": {Request: "r2"},
		} {
			all, err := j.Read(t.Context(), "ten_a", 0, 10, f)
			got := []int64{}
			for _, e := range all {
				got = append(got, e.Seq)
			}
			if err != nil || fmt.Sprint(got) != want {
				t.Errorf("%+v: %v %v, want %s", f, got, err, want)
			}
		}
	})
}

func TestHostileTextIsRecordedAndBadPayloadRefused(t *testing.T) {
	exam(t, func(t *testing.T, d *db.DB, j *Journal) {
		seq := add(t, d, j, Event{Phase: Denied, Resource: "file:/\x00\xff" + string(make([]byte, 9000))})
		if e, err := j.Get(t.Context(), "ten_a", seq); err != nil || len(e.Resource) == 0 {
			t.Fatalf("%v %v", e, err)
		}
		err := d.Write(t.Context(), func(tx *db.Tx) error {
			_, err := j.Append(tx, Event{Tenant: "t", Type: "x.y", Payload: []byte(`{"a":`)})
			return err
		})
		if err == nil {
			t.Error("a payload that is not JSON was recorded")
		}
	})
}

func TestWaitWakesForANewEvent(t *testing.T) {
	exam(t, func(t *testing.T, d *db.DB, j *Journal) {
		add(t, d, j, Event{})
		if err := j.Wait(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		woke := make(chan error, 1)
		go func() { woke <- j.Wait(t.Context(), 1) }()
		select {
		case <-woke:
			t.Fatal("woke before there was anything to read")
		case <-time.After(20 * time.Millisecond):
		}
		add(t, d, j, Event{})
		if err := <-woke; err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := j.Wait(ctx, 99); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled wait: %v", err)
		}
	})
}
