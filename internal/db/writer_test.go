package db

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"tandem/internal/fault"
)

// Whoever waits while another's transaction runs joins the same sync, and one
// that gave up before it began leaves nothing behind.
func TestThoseWhoWaitShareASync(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), "a.db"))
	inside, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		d.Write(t.Context(), func(*Tx) error { close(inside); <-release; return nil })
	})
	<-inside
	gone, giveUp := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		left <- d.Write(gone, func(*Tx) error { t.Error("ran after it was cancelled"); return nil })
	}()
	for range 20 {
		wg.Go(func() {
			if err := insert(t.Context(), d, fault.Internal.String()+time.Now().String()); err != nil && !Exists(err) {
				t.Error(err)
			}
		})
	}
	time.Sleep(20 * time.Millisecond) // they queue; if some do not yet, the test is only weaker
	giveUp()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the one who gave up: %v", err)
	}
	close(release)
	wg.Wait()
}

// Closing waits for everybody who was let in and refuses the rest.
func TestCloseUnderLoad(t *testing.T) {
	for range 20 {
		d := open(t, filepath.Join(t.TempDir(), "a.db"))
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				err := insert(t.Context(), d, string(rune('a'+i)))
				if err != nil && fault.KindOf(err) != fault.Unavailable {
					t.Error(err)
				}
			})
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
	}
}
