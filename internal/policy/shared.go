package policy

import "hash/maphash"

// shared is a map that never changes and whose next version costs no more than what became different: it lies in parts, and a change
// copies the parts that it comes to and shares the rest.
type shared[V any] struct{ parts *[sharedParts]map[string]V }

const sharedParts = 256

var sharedSeed = maphash.MakeSeed()

func partOf(key string) int { return int(maphash.String(sharedSeed, key) % sharedParts) }

func (s shared[V]) get(key string) (v V) {
	if s.parts != nil {
		v = s.parts[partOf(key)][key]
	}
	return v
}

// edit begins the next version.
func (s shared[V]) edit() *sharedEdit[V] {
	e := &sharedEdit[V]{}
	if s.parts != nil {
		e.parts = *s.parts
	}
	return e
}

// sharedEdit is a version that nobody else has yet.
type sharedEdit[V any] struct {
	parts [sharedParts]map[string]V
	own   [sharedParts]bool // copied already
}

func (e *sharedEdit[V]) get(key string) V { return e.parts[partOf(key)][key] }

func (e *sharedEdit[V]) part(key string) map[string]V {
	i := partOf(key)
	if !e.own[i] {
		own := make(map[string]V, len(e.parts[i])+1)
		for k, v := range e.parts[i] {
			own[k] = v
		}
		e.parts[i], e.own[i] = own, true
	}
	return e.parts[i]
}

func (e *sharedEdit[V]) put(key string, v V) { e.part(key)[key] = v }

func (e *sharedEdit[V]) drop(key string) { delete(e.part(key), key) }

// done is the version as it stays. The edit is over.
func (e *sharedEdit[V]) done() shared[V] { return shared[V]{&e.parts} }
