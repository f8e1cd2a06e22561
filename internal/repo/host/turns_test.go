package host

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/repo/exchange"
)

// A request may hold hundreds of megabytes while it is taken in. One caller who sends very many at once has a few of them unpacked,
// and keeps nobody else waiting.
func TestACallersRequestsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := turns{most: pushesAtOnce, op: "repo.push", does: "taken in"}
		var ends []func()
		for range pushesAtOnce {
			_, done, err := all.take(t.Context(), "tok_mallory")
			if err != nil {
				t.Fatal(err)
			}
			ends = append(ends, done)
		}
		began := time.Now()
		if _, _, err := all.take(t.Context(), "tok_mallory"); !fault.Is(err, fault.Exhausted) || time.Since(began) != turnTime {
			t.Errorf("one more after %s: %v", time.Since(began), err)
		}
		cut, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := all.take(cut, "tok_mallory"); err == nil {
			t.Error("whoever went away has a turn")
		}
		_, other, err := all.take(t.Context(), "tok_ann")
		if err != nil || time.Since(began) != turnTime+time.Second {
			t.Errorf("another caller: %v", err)
		}
		got := make(chan error)
		go func() {
			_, done, err := all.take(t.Context(), "tok_mallory")
			if err == nil {
				done()
			}
			got <- err
		}()
		synctest.Wait()
		ends[0]()
		if err := <-got; err != nil {
			t.Errorf("after one ended: %v", err)
		}
		other()
		for _, done := range ends[1:] {
			done()
		}
		if len(all.all) != 0 {
			t.Errorf("%d callers are remembered", len(all.all))
		}
	})
}

// The turn is taken before a byte of what a request brings is read.
func TestNothingIsReadBeforeItsTurn(t *testing.T) {
	_, git := ownHome(t)
	h, s, ctx := serve(t, git)
	ctx = op.WithMay(ctx, func(string, op.Resource) bool { return true })
	for range pushesAtOnce {
		_, done, err := h.pushes.take(ctx, op.CallerFrom(ctx).Whence())
		if err != nil {
			t.Fatal(err)
		}
		defer done()
	}
	head, _, _ := s.now()
	gone, cancel := context.WithCancel(ctx)
	cancel()
	body, _ := io.Pipe() // whoever reads it waits for ever
	_, _, _, err := h.takeIn(gone, s, exchange.Question{Workspace: "w", Heads: []string{head.Hex()}}, exchange.NewReader(body))
	if err == nil {
		t.Error("it was taken in")
	}
}
