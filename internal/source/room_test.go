package source

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"tandem/internal/source/wire"
)

// What was revoked is deleted while an import is under way, however long that lasts.
func TestWhatWasRevokedGoesBesideAnImport(t *testing.T) {
	b := newBench(t, filepath.Join(t.TempDir(), "a.db"))
	b.write("a.md", "A turnip.")
	b.bound(ann, "garden")
	b.imported(ann, "garden")
	b.bound(ann, "other")
	importing := make(chan struct{})
	b.room.Rooms = invoker(func(ctx context.Context) (any, error) {
		close(importing)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	gone := make(chan struct{}, 10)
	b.room.Forgot = func() { gone <- struct{}{} }
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { b.room.Run(ctx); close(ended) }()
	defer func() { cancel(); <-ended }()
	<-importing
	change(b, ann, b.room.revoke, wire.NameIn{Name: "garden"})
	select {
	case <-gone:
	case <-time.After(20 * time.Second):
		t.Fatal("it waits for the import")
	}
}

// An import that fails for a reason of the machine's is tried again, and less and less often, until somebody asks.
func TestWhatFailsIsTriedLessOften(t *testing.T) {
	b := newBench(t, filepath.Join(t.TempDir(), "a.db"))
	b.bound(ann, "garden")
	tries := 0
	b.room.Rooms = invoker(func(context.Context) (any, error) { tries++; return nil, errors.New("no room on the disk") })
	for range 3 {
		if _, err := b.room.pass(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if tries != 1 {
		t.Errorf("it was tried %d times at once", tries)
	}
	change(b, ann, b.room.sync, wire.NameIn{Name: "garden"})
	if _, err := b.room.pass(t.Context()); err != nil || tries != 2 {
		t.Errorf("asked for, it was tried %d times: %v", tries, err)
	}
	waits := []time.Duration{}
	for range 11 {
		waits = append(waits, b.room.tried(1, errors.New("no")))
	}
	if waits[1] <= waits[0] || waits[10] != seldom {
		t.Errorf("%v", waits)
	}
}
