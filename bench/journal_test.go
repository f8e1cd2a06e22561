package bench

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/journal"
	"tandem/internal/testenv"
)

const row = "INSERT INTO thing (key, version, owner, value) VALUES (?, ?, ?, ?)"

var value = make([]byte, 200)

// bare is the yardstick: one durable insert, prepared, in WAL with
// synchronous=FULL, and nothing else.
func bare(b *testing.B) func(key string) error {
	path := filepath.Join(b.TempDir(), "bare.db")
	s, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(10000)")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	s.SetMaxOpenConns(1)
	if _, err := s.Exec(thing); err != nil {
		b.Fatal(err)
	}
	stmt, err := s.Prepare(row)
	if err != nil {
		b.Fatal(err)
	}
	return func(key string) error { _, err := stmt.Exec(key, 1, "act_1", value); return err }
}

const thing = "CREATE TABLE thing (key TEXT PRIMARY KEY, version BIGINT NOT NULL, owner TEXT NOT NULL, value BLOB NOT NULL)"

// recorded is the same insert with its event and Merkle edge.
func recorded(b *testing.B) (*db.DB, *journal.Journal, func(key string) error) {
	d, err := db.Open(b.Context(), filepath.Join(b.TempDir(), "a.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { d.Close() })
	if _, err := d.Migrate(b.Context(), journal.Migrations); err != nil {
		b.Fatal(err)
	}
	if err := d.Write(b.Context(), func(tx *db.Tx) error { _, err := tx.Exec(thing); return err }); err != nil {
		b.Fatal(err)
	}
	key, err := journal.Key(filepath.Join(b.TempDir(), "key"))
	if err != nil {
		b.Fatal(err)
	}
	j := journal.New(d, key)
	return d, j, func(key string) error {
		return d.Write(context.Background(), func(tx *db.Tx) error {
			if _, err := tx.Exec(row, key, 1, "act_1", value); err != nil {
				return err
			}
			_, err := j.Append(tx, event(key))
			return err
		})
	}
}

func event(key string) journal.Event {
	return journal.Event{Tenant: "ten_01", Type: "resource.put", Actor: "act_01hzzzzzzzzzzzzzzzzzzzzzzz", Resource: "resource:/" + key,
		Request: "req_01hzzzzzzzzzzzzzzzzzzzzzzz", Payload: []byte(`{"in":{"key":"` + key + `","version":1},"out":{"version":2}}`)}
}

// rate is how many operations a second n callers get done in a span.
func rate(b *testing.B, callers int, span time.Duration, do func(string) error, serial *atomic.Int64) float64 {
	var wg sync.WaitGroup
	var n atomic.Int64
	begin := time.Now()
	for range callers {
		wg.Go(func() {
			for time.Since(begin) < span {
				if err := do(fmt.Sprintf("k%d", serial.Add(1))); err != nil {
					b.Error(err)
					return
				}
				n.Add(1)
			}
		})
	}
	wg.Wait()
	return float64(n.Load()) / time.Since(begin).Seconds()
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// BenchmarkStateChange compares a change with its event to a bare durable
// insert in the same run, turn by turn so that a noisy machine hits both.
func BenchmarkStateChange(b *testing.B) {
	for _, callers := range []int{1, 16} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			plain := bare(b)
			_, _, full := recorded(b)
			var serial atomic.Int64
			var p, f, ratio []float64
			for b.Loop() {
				for range 10 {
					x := rate(b, callers, 30*time.Millisecond, plain, &serial)
					y := rate(b, callers, 30*time.Millisecond, full, &serial)
					p, f, ratio = append(p, x), append(f, y), append(ratio, 100*y/x)
				}
			}
			b.ReportMetric(median(p), "bare/s")
			b.ReportMetric(median(f), "recorded/s")
			b.ReportMetric(median(ratio), "%ofbare")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// grown is a database with that many entries.
func grown(b *testing.B, to int64) func(string) error {
	d, j, full := recorded(b)
	for head := int64(0); head < to; {
		err := d.Write(b.Context(), func(tx *db.Tx) (err error) {
			for range min(1000, to-head) {
				if head, err = j.Append(tx, event("grow")); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	return full
}

// BenchmarkHistory shows that an append costs the same in a long history: a
// thousand entries against a million (a tenth unless TANDEM_SOAK is set).
func BenchmarkHistory(b *testing.B) {
	size := int64(testenv.Rounds(1_000_000))
	short, long := grown(b, 1000), grown(b, size)
	var serial atomic.Int64
	var ratio []float64
	for b.Loop() {
		for range 10 {
			x := rate(b, 1, 30*time.Millisecond, short, &serial)
			y := rate(b, 1, 30*time.Millisecond, long, &serial)
			ratio = append(ratio, x/y)
		}
	}
	b.ReportMetric(median(ratio), "times-slower")
	b.ReportMetric(float64(size), "entries")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkVerify is the whole check of a journal, per entry.
func BenchmarkVerify(b *testing.B) {
	d, j, _ := recorded(b)
	const entries = 10_000
	err := d.Write(b.Context(), func(tx *db.Tx) error {
		for range entries {
			if _, err := j.Append(tx, event("v")); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r, err := j.Verify(b.Context(), nil)
		if err != nil || !r.OK {
			b.Fatal(r, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/entries, "ns/entry")
}
