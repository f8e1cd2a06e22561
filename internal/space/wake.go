package space

import "sync"

// bells lets readers wait for a space to change without asking again and again.
type bells struct {
	mu sync.Mutex
	by map[string]*bell
}

type bell struct {
	rung    chan struct{}
	waiting int
}

// hear returns a channel that closes at the next ring, and what to call when
// one waits no longer. Take it before reading, so that a change between reading
// and waiting is not missed.
func (b *bells) hear(key string) (rung <-chan struct{}, done func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.by == nil {
		b.by = map[string]*bell{}
	}
	c := b.by[key]
	if c == nil {
		c = &bell{rung: make(chan struct{})}
		b.by[key] = c
	}
	c.waiting++
	return c.rung, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if c.waiting--; c.waiting == 0 && b.by[key] == c {
			delete(b.by, key) // strangers may ask for what never rings
		}
	}
}

// Stir has everybody who waits look again: another server may have written.
func (r *Room) Stir() { r.wake.all() }

func (b *bells) all() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, c := range b.by {
		close(c.rung)
		delete(b.by, key)
	}
}

func (b *bells) ring(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.by[key]; c != nil {
		close(c.rung)
		delete(b.by, key)
	}
}
