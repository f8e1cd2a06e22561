package automation

import (
	"path/filepath"
	"testing"
	"time"

	"tandem/internal/db"
)

// What was heard while the database did not answer is looked at when it does, and not minutes later.
func TestWhatWasHeardOutlivesAStumble(t *testing.T) {
	d, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	r := &Room{DB: d, Ours: func() bool { return true }, stirred: map[string]bool{"/heard": true}}
	if _, err := r.lookAround(t.Context(), &around{all: map[string]*watcher{}, read: time.Time{}}); err == nil || !r.stirred["/heard"] {
		t.Errorf("%v, %v", err, r.stirred)
	}
}
