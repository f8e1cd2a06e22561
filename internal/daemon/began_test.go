package daemon

import (
	"net/http"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/testenv"
)

// A PostgreSQL that cut its connections while jobs were being taken up again ended a server that had just begun.
func TestAServerThatHasBegunOutlivesItsDatabase(t *testing.T) {
	dsn := testenv.Postgres(t)
	k := keptAt(t, dsn)
	if err := k.stop(); err != nil {
		t.Fatal(err)
	}
	d, err := db.Open(t.Context(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	held, cut := make(chan struct{}), make(chan error, 1)
	go func() { // whoever takes up what a room left waits for this
		cut <- d.Write(t.Context(), func(tx *db.Tx) error {
			if _, err := tx.Exec("LOCK TABLE job IN EXCLUSIVE MODE"); err != nil { // a start reads it: its rows are sealed
				return err
			}
			close(held)
			_, err := tx.Exec("SELECT pg_sleep(300)")
			return err
		})
	}()
	<-held
	k.start()
	var waiting int
	if !testenv.Within(time.Minute, func() bool {
		err := d.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").
			Scan(&waiting)
		return err == nil && waiting >= 1
	}) {
		t.Fatalf("%d wait for what is held", waiting)
	}
	testenv.CutPostgres(t, dsn)
	if err := <-cut; err == nil {
		t.Error("what was held was not cut")
	}
	k.ready(http.StatusOK, "")
	if !testenv.Within(time.Minute, func() bool { _, err = k.do("resource.put", obj{"key": "a", "value": 1}); return err == nil }) {
		t.Errorf("a caller is told: %v", err)
	}
	select {
	case <-k.d.stopping:
		t.Error("it ends")
	default:
	}
}
