package loop

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/internal/provider"
	"tandem/internal/provider/anthropic"
	"tandem/internal/session"
	"tandem/internal/testenv"
)

var errSeen = errors.New("seen")

// end follows a session until a turn ended, and returns the text that streamed.
func (h *house) end(ctx context.Context, s *session.Session, turn string) (string, error) {
	var text strings.Builder
	err := h.room.Follow(ctx, "local", s.ID, session.Place{}, func(e session.Event) error {
		if e.Turn == turn {
			text.WriteString(e.Delta)
		}
		if e.Type == session.EventTurn && e.Turn == turn && strings.Contains(string(e.Body), `"ended_at"`) {
			return errSeen
		}
		return nil
	})
	if errors.Is(err, errSeen) {
		err = nil
	}
	return text.String(), err
}

// A thousand sessions stream at once, each with a watcher: no event is lost, and what is idle afterwards holds next to nothing.
func TestManySessionsStreamAtOnce(t *testing.T) {
	n := testenv.Rounds(1000)
	h := newHouse(t)
	sessions := make([]*session.Session, n)
	for i := range sessions {
		sessions[i] = h.session()
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var all sync.WaitGroup
	lost := make([]error, n)
	for i, s := range sessions {
		all.Go(func() {
			out, err := h.try(local, "session.prompt", session.PromptIn{ID: s.ID, Text: fmt.Sprintf("[[slow 1 ;; say number %d]]", i)})
			if err != nil {
				lost[i] = err
				return
			}
			text, err := h.end(ctx, s, out.(*session.Turn).ID)
			if err == nil && (!strings.HasPrefix(text, "slow words") || !strings.HasSuffix(text, fmt.Sprintf("number %d", i))) {
				err = fmt.Errorf("%q", text)
			}
			lost[i] = err
		})
	}
	all.Wait()
	for i, err := range lost {
		if err != nil {
			t.Fatalf("session %d of %d: %v", i, n, err)
		}
	}
	testenv.Eventually(t, "all turns are over", time.Minute, func() bool { return !h.run.Busy() })
	runtime.GC()
	runtime.ReadMemStats(&after)
	idle := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / int64(n)
	if idle > 100<<10 {
		t.Errorf("an idle session holds %d bytes", idle)
	}
	t.Logf("%d sessions; an idle one holds about %d bytes", n, max(idle, 0))
}

// One session is watched by many: each gets all of it.
func TestManyWatchersOfOneSession(t *testing.T) {
	n := testenv.Rounds(1000)
	h := newHouse(t)
	s := h.session()
	turn := h.prompt(s, "[[slow 0.5 ;; say the end]]")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	texts := make([]string, n)
	for i := range texts {
		all.Go(func() { texts[i], _ = h.end(ctx, s, turn.ID) })
	}
	all.Wait()
	for i, text := range texts {
		if text != texts[0] || !strings.HasSuffix(text, "the end") {
			t.Fatalf("watcher %d of %d saw %q", i, n, text)
		}
	}
}

// What the runtime adds to a turn over calling the provider directly.
func BenchmarkTurn(b *testing.B) {
	h := newHouse(b)
	b.Run("direct", func(b *testing.B) {
		m := anthropic.New(anthropic.Options{Base: h.model.URL()})
		for b.Loop() {
			r := provider.Request{Model: "scripted-1", Messages: []provider.Message{provider.TextMessage(provider.User, "hello")}}
			if _, err := m.Stream(b.Context(), r, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("governed", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			s := h.session()
			b.StartTimer()
			turn := h.prompt(s, "hello")
			if _, err := h.end(b.Context(), s, turn.ID); err != nil {
				b.Fatal(err)
			}
		}
	})
}
