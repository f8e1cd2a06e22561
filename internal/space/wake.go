package space

import "sync"

// bells lets readers wait for a space to change without asking again and again.
type bells struct {
	mu sync.Mutex
	ch map[string]chan struct{}
}

// hear returns a channel that closes at the next ring. Take it before reading,
// so that a change between reading and waiting is not missed.
func (b *bells) hear(key string) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = map[string]chan struct{}{}
	}
	c, ok := b.ch[key]
	if !ok {
		c = make(chan struct{})
		b.ch[key] = c
	}
	return c
}

func (b *bells) ring(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c, ok := b.ch[key]; ok {
		close(c)
		delete(b.ch, key)
	}
}
