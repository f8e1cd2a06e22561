package journal

import (
	"context"
	"errors"
	"testing"
	"time"

	"tandem/internal/db"
)

// Every write woke who waits for answers, and had it ask the database; what is about something else wakes nobody any more.
func TestWaitingForAKindOfEvent(t *testing.T) {
	exam(t, waitsForAKind)
}

func waitsForAKind(t *testing.T, d *db.DB, j *Journal) {
	about := func(resource string) int64 {
		t.Helper()
		var seq int64
		if err := d.Write(t.Context(), func(tx *db.Tx) (err error) {
			seq, err = j.Append(tx, Event{Tenant: "t", Type: "x.y", Phase: Done, Actor: "a", Resource: resource})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return seq
	}
	head := about("resource:/a")
	about("resource:/b")
	waits := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		return j.WaitAbout(ctx, max(head, j.LatestAbout("approval")), "approval")
	}
	if err := waits(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("woken by something else: %v", err)
	}
	if err := j.Wait(t.Context(), head); err != nil {
		t.Errorf("who waits for anything: %v", err)
	}
	answered := make(chan error, 1)
	go func(after int64) { answered <- j.WaitAbout(t.Context(), after, "approval") }(j.Latest())
	if seq := about("approval:/ask_1"); j.LatestAbout("approval") < seq {
		t.Error("an answer is not known")
	}
	if err := <-answered; err != nil {
		t.Error(err)
	}
}
