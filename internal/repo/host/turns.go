package host

import (
	"context"
	"sync"
	"time"

	"tandem/internal/fault"
)

// What one request brings is bounded, also in memory; so is how many of one caller are unpacked at once. Further ones wait their
// turn, and take no turn of another caller's.
const (
	atOnce   = 8
	turnTime = 30 * time.Second
)

// turns are the requests of each caller that are being taken in. The zero value is ready.
type turns struct {
	mu  sync.Mutex
	all map[string]*turn
}

type turn struct {
	slots chan struct{}
	users int // in it or waiting
}

// take waits until one more request of a caller may be taken in. What it returns ends that.
func (t *turns) take(ctx context.Context, caller string) (done func(), err error) {
	t.mu.Lock()
	if t.all == nil {
		t.all = map[string]*turn{}
	}
	mine := t.all[caller]
	if mine == nil {
		mine = &turn{slots: make(chan struct{}, atOnce)}
		t.all[caller] = mine
	}
	mine.users++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if mine.users--; mine.users == 0 {
			delete(t.all, caller)
		}
	}
	late := time.NewTimer(turnTime)
	defer late.Stop()
	select {
	case mine.slots <- struct{}{}:
		return func() { <-mine.slots; leave() }, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-late.C:
		err = fault.New(fault.Exhausted, "repo.push", "%d requests of yours are being taken in, and none ended within %s", atOnce, turnTime).
			WithNext("try again in a moment; it waits here meanwhile")
	}
	leave()
	return nil, err
}
