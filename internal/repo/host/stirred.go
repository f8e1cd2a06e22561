package host

import (
	"context"
	"errors"
	"sync"
	"time"
)

// How served folders are looked at. Where the kernel tells what changes, all are
// looked at rarely, for file systems on which it does not; elsewhere that is the only
// way. A change is given a moment, since it is seldom one file alone.
const (
	lookAnyway = 5 * time.Second
	lookAlone  = 500 * time.Millisecond
	aMoment    = 30 * time.Millisecond
)

// stirred are the repositories in whose folders something changed since they were
// last looked at.
type stirred struct {
	mu   sync.Mutex
	set  map[*served]struct{}
	wake chan struct{}
}

func newStirred() *stirred {
	return &stirred{set: map[*served]struct{}{}, wake: make(chan struct{}, 1)}
}

func (t *stirred) note(s *served) {
	t.mu.Lock()
	t.set[s] = struct{}{}
	t.mu.Unlock()
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// take gives those of a list that stirred, and forgets that.
func (t *stirred) take(of []*served) (out []*served) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range of {
		if _, ok := t.set[s]; ok {
			out = append(out, s)
		}
	}
	clear(t.set)
	return out
}

// Run notices what people do in the served folders with stock jj or git, until
// ctx ends.
func (h *Host) Run(ctx context.Context) {
	if len(h.served) == 0 {
		return
	}
	h.noticeOlder(ctx)
	var hearing sync.WaitGroup
	defer hearing.Wait()
	t, every := newStirred(), lookAlone
	if hear, err := listenFor(h.served, t); err == nil {
		every = lookAnyway
		hearing.Go(func() { hear(ctx) })
	} else if !errors.Is(err, errors.ErrUnsupported) {
		h.Log.Warn("changes in served folders are looked for, since the system does not tell them", "err", err)
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for due := h.served; ; { // the first time all: what changed before anybody listened
		h.lookAt(ctx, due)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			due = h.served
		case <-t.wake:
			select {
			case <-ctx.Done():
				return
			case <-time.After(aMoment):
			}
			due = t.take(h.served)
		}
	}
}

func (h *Host) lookAt(ctx context.Context, list []*served) {
	for _, s := range list {
		s.looks.Add(1)
		if err := h.look(ctx, s); err != nil && ctx.Err() == nil {
			h.Log.Warn("look at a repository", "repo", s.name, "err", err)
		}
	}
}
