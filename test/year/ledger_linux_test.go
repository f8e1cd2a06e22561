package year

import (
	"context"
	"fmt"
	"sync"
	"time"

	"tandem/internal/testenv"
)

// ledger remembers what programs were told is written: keys, each written once, each with a value of its own.
type ledger struct {
	h  *house
	mu sync.Mutex
	// acked are numbers of keys whose writing was acknowledged, in that order.
	acked   []int
	next    int
	refused map[string]int // what programs were told otherwise
	halt    chan struct{}
	wg      sync.WaitGroup
}

func newLedger(h *house) *ledger { return &ledger{h: h, refused: map[string]int{}} }

func key(n int) string { return fmt.Sprintf("year/%06d", n) }

// put writes the next key.
func (l *ledger) put(size int) error {
	l.mu.Lock()
	n := l.next
	l.next++
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(l.h.t.Context(), 20*time.Second)
	defer cancel()
	err := l.h.local().Call(ctx, "resource.put", map[string]any{"key": key(n), "value": fmt.Sprintf("%d %0*d", n, size, 0)}, nil)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.acked = append(l.acked, n)
	} else {
		l.refused[err.Error()]++
	}
	return err
}

// load lets two programs write until calm is called.
func (l *ledger) load() {
	l.halt = make(chan struct{})
	for range 2 {
		l.wg.Go(func() {
			for {
				err := l.put(200)
				pause := 20 * time.Millisecond
				if err != nil {
					pause = 200 * time.Millisecond
				}
				select {
				case <-l.halt:
					return
				case <-time.After(pause):
				}
			}
		})
	}
}

func (l *ledger) calm() {
	close(l.halt)
	l.wg.Wait()
}

// mark is how many were acknowledged until now; back drops those that came later: a copy from then has been restored.
func (l *ledger) mark() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.acked)
}

func (l *ledger) back(to int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acked = l.acked[:to]
}

// there reads every key that was acknowledged, from the one at index from on, and says how many there are.
func (l *ledger) there(from int) int {
	l.h.t.Helper()
	l.mu.Lock()
	mine := append([]int(nil), l.acked[max(0, min(from, len(l.acked))):]...)
	l.mu.Unlock()
	c := l.h.local()
	for _, n := range mine {
		var got struct{ Value string }
		if err := c.Call(l.h.t.Context(), "resource.get", map[string]any{"key": key(n)}, &got); err != nil {
			l.h.t.Fatalf("%s was acknowledged, and is: %v", key(n), err)
		}
		if want := fmt.Sprintf("%d ", n); len(got.Value) < len(want) || got.Value[:len(want)] != want {
			l.h.t.Fatalf("%s was acknowledged, and is %.40q", key(n), got.Value)
		}
	}
	return len(mine)
}

// writes expects that a program's write is taken within a while.
func (l *ledger) writes(most time.Duration) {
	l.h.t.Helper()
	var err error
	if !testenv.Within(most, func() bool { err = l.put(20); return err == nil }) {
		l.h.t.Fatalf("nothing can be written %s later: %v", most, err)
	}
}
