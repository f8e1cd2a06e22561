package gitstore

import "sync"

// cache holds recently used values up to about limit bytes, in two
// generations: when the young one is half of the limit, the old one goes.
type cache[K comparable, V any] struct {
	mu         sync.Mutex
	limit      int
	size       int
	given      int64 // bytes that were put, also those that it did not keep
	young, old map[K]sized[V]
}

type sized[V any] struct {
	v    V
	cost int
}

func newCache[K comparable, V any](limit int) *cache[K, V] {
	return &cache[K, V]{limit: limit, young: map[K]sized[V]{}}
}

func (c *cache[K, V]) get(k K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.young[k]; ok {
		return e.v, true
	}
	e, ok := c.old[k]
	if ok {
		c.add(k, e)
	}
	return e.v, ok
}

func (c *cache[K, V]) put(k K, v V, cost int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.given += int64(cost)
	if cost > c.limit/4 {
		return
	}
	c.add(k, sized[V]{v, cost})
}

func (c *cache[K, V]) add(k K, e sized[V]) {
	if _, ok := c.young[k]; ok {
		return
	}
	if c.size+e.cost > c.limit/2 {
		c.old, c.young, c.size = c.young, map[K]sized[V]{}, 0
	}
	c.young[k] = e
	c.size += e.cost
}

// offered is how many bytes were put.
func (c *cache[K, V]) offered() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.given
}

// clear forgets everything.
func (c *cache[K, V]) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.young, c.old, c.size = map[K]sized[V]{}, nil, 0
}
