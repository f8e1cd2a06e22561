package memory

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/memory/wire"
)

// The reader of vectors waited for a connection with the lock in hand for which the searches waited with the connections in hand.
func TestManySearchesAndTheReaderOfVectorsGoOn(t *testing.T) {
	needsVectors(t)
	both(t, func(t *testing.T, b *bench) {
		var ids []string
		for i := range 30 {
			ids = append(ids, must(b, ann, b.room.add, wire.AddIn{Text: fmt.Sprintf("%s, ward %d", doctor, i)}).ID)
		}
		all := make(chan error, 1)
		go func() {
			var err error
			for _, id := range ids[:10] {
				err = errors.Join(err, crowd(t.Context(), &bench{t, b.db, New(b.db)}, id)) // a server that was just started
			}
			all <- err
		}()
		select {
		case err := <-all:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(2 * time.Minute):
			t.Fatal("searches and the reader of vectors wait for each other")
		}
	})
}

// crowd has many search at once while vectors are read and a record is forgotten.
func crowd(ctx context.Context, b *bench, id string) (failed error) {
	var searches, reader sync.WaitGroup
	var mu sync.Mutex
	note := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		failed = errors.Join(failed, err)
	}
	places, err := numbers(ctx, b)
	if err != nil {
		return err
	}
	stop := make(chan struct{})
	reader.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				b.room.catchUp(ctx, "t", places)
			}
		}
	})
	for i := range 60 {
		searches.Go(func() {
			if i == 30 {
				_, err := change(b, ann, b.room.forget, wire.IDIn{ID: id})
				note(err)
			}
			for range 3 {
				out, err := b.room.search(other, wire.SearchIn{Query: ill})
				if err == nil && len(out.Hits) == 0 {
					err = fmt.Errorf("nothing is found %s", out.How)
				}
				note(err)
			}
		})
	}
	searches.Wait()
	close(stop)
	reader.Wait()
	return failed
}

// numbers are those of all places.
func numbers(ctx context.Context, b *bench) ([]int64, error) {
	rows, err := b.db.Query(ctx, "SELECT nr FROM memory_place")
	return db.Collect(rows, err, func(rows *sql.Rows) (nr int64, err error) { return nr, rows.Scan(&nr) })
}
