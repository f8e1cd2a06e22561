package db

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"
)

// What a reading transaction asks is prepared once and answered alike afterwards, however many read at the same time: to prepare needs no
// connection beside the one that is held.
func TestReadsArePreparedOnce(t *testing.T) {
	exam(t, func(t *testing.T, d *DB) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := insert(ctx, d, "a"); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() {
				for round := range 3 {
					err := d.Read(ctx, func(tx *Tx) error {
						for n := range 5 {
							var got int
							query := fmt.Sprintf("SELECT count(*) + %d FROM thing", (i+n)%20)
							if err := tx.QueryRow(query).Scan(&got); err != nil || got != 1+(i+n)%20 {
								return fmt.Errorf("%s in round %d: %d, %w", query, round, got, err)
							}
						}
						return nil
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if kept := len(d.reader.stmts); d.dialect == sqliteDialect && kept < 20 {
			t.Errorf("%d statements are kept", kept)
		}
	})
}
