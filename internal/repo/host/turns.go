package host

import (
	"context"
	"sync"
	"time"

	"tandem/internal/fault"
	"tandem/internal/repo/gitstore"
)

// What one request brings or takes along is bounded, also in memory; so is how many of one caller are under way at once, and what those
// hold together. Further ones wait their turn, and take no turn of another caller's.
const (
	pushesAtOnce = 8
	readsAtOnce  = 32
	turnTime     = 30 * time.Second
)

// turns are the requests of each caller that are under way.
type turns struct {
	most int
	op   string
	does string // what happens to them
	mu   sync.Mutex
	all  map[string]*turn
}

type turn struct {
	slots chan struct{}
	users int // in it or waiting
	share gitstore.Share
}

// take waits until one more request of a caller may be under way. What it returns ends that.
func (t *turns) take(ctx context.Context, caller string) (mine *turn, done func(), err error) {
	t.mu.Lock()
	if t.all == nil {
		t.all = map[string]*turn{}
	}
	mine = t.all[caller]
	if mine == nil {
		mine = &turn{slots: make(chan struct{}, t.most)}
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
		return mine, func() { <-mine.slots; leave() }, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-late.C:
		err = fault.New(fault.Exhausted, t.op, "%d requests of yours are being %s, and none ended within %s", t.most, t.does, turnTime).
			WithNext("try again in a moment; it waits here meanwhile")
	}
	leave()
	return nil, nil, err
}
