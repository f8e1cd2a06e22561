package automation

import (
	"sync"

	"tandem/internal/automation/run"
	"tandem/internal/automation/spec"
)

// recent keeps some of what was made from rows, by what it was made from: the next step of a run needs the same again.
type recent[K comparable, V any] struct {
	mu   sync.Mutex
	most int
	all  map[K]V
}

func newRecent[K comparable, V any](most int) *recent[K, V] {
	return &recent[K, V]{most: most, all: map[K]V{}}
}

// take gives what is kept, which from then on is kept no more: nobody else changes it meanwhile.
func (r *recent[K, V]) take(key K) (v V, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok = r.all[key]
	delete(r.all, key)
	return v, ok
}

// look gives what is kept, for whoever does not change it.
func (r *recent[K, V]) look(key K) (v V, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok = r.all[key]
	return v, ok
}

// put keeps something, and lets another go where there are as many as may be.
func (r *recent[K, V]) put(key K, v V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, there := r.all[key]; !there && len(r.all) >= r.most {
		for other := range r.all {
			delete(r.all, other)
			break
		}
	}
	r.all[key] = v
}

const (
	keptDefinitions = 64
	keptFolds       = 64
	largestFold     = 256 << 10 // bytes of events: a run that gave more is folded anew
)

// meant is a definition that was read, with the digest of what it means.
type meant struct {
	*spec.Automation
	digest string
}

// folded is where a run stood after so many events.
type folded struct {
	*run.Run
	events, bytes int64
}
