package approval

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/op"
	"tandem/internal/testenv"
)

// The connections to PostgreSQL are cut again and again while eight callers file, answer and spend. A step may fail, and is
// then repeated; what was acknowledged stays, and no approval is used twice: the effect is a row in the transaction
// that spends.
func TestCutConnections(t *testing.T) {
	dsn := testenv.Postgres(t)
	d := crashDB(t, dsn)
	r := New(d, ByName)
	var passed, failed atomic.Int64
	var wg sync.WaitGroup
	ctx, stop := context.WithTimeout(t.Context(), time.Duration(testenv.Rounds(20))*time.Second)
	defer stop()
	for worker := range 8 {
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				if err := passOnce(ctx, d, r, fmt.Sprintf("%d of %d", i, worker)); err != nil {
					failed.Add(1)
				} else {
					passed.Add(1)
				}
			}
		})
	}
	for range time.Tick(150 * time.Millisecond) {
		if ctx.Err() != nil {
			break
		}
		testenv.CutPostgres(t, dsn)
	}
	wg.Wait()
	var wrong, spent int64
	for range 10 { // the pool may still hand out connections that were cut
		if err := d.QueryRow(t.Context(), "SELECT 1").Scan(&wrong); err == nil {
			break
		}
	}
	err := d.QueryRow(t.Context(),
		`SELECT count(*) FROM approval a FULL JOIN (SELECT ask, count(*) AS n FROM effect GROUP BY ask) e ON e.ask = a.id
		WHERE (a.state = 'spent') <> (COALESCE(e.n, 0) = 1) OR a.id IS NULL`).Scan(&wrong)
	if err == nil {
		err = d.QueryRow(t.Context(), "SELECT count(*) FROM approval WHERE state = 'spent'").Scan(&spent)
	}
	if err != nil {
		t.Fatal(err)
	}
	if wrong != 0 || spent < passed.Load() || passed.Load() == 0 {
		t.Errorf("%d asks are wrong; %d calls passed, %d approvals are spent", wrong, passed.Load(), spent)
	}
	t.Logf("%d calls passed, %d attempts were cut", passed.Load(), failed.Load())
}

func passOnce(ctx context.Context, d *db.DB, r *Room, text string) error {
	call := edit(agent("builder"), text)
	var a *Ask
	if err := d.Write(ctx, func(tx *db.Tx) (err error) { a, _, err = r.File(tx, call); return err }); err != nil {
		return err
	}
	err := d.Write(ctx, func(tx *db.Tx) error {
		_, err := r.decide(op.WithCaller(ctx, person("ann")), tx, DecideIn{ID: a.ID, Verdict: Approve, Digest: a.Digest, Pages: a.PageDigests()})
		return err
	})
	if err != nil {
		return err
	}
	return d.Write(ctx, func(tx *db.Tx) error {
		a, ok, err := r.Spend(tx, "local", call.Caller.Actor, call.Digest)
		if err != nil || !ok {
			return fmt.Errorf("not spent: %w", err)
		}
		_, err = tx.Exec("INSERT INTO effect (ask) VALUES (?)", a.ID)
		return err
	})
}
