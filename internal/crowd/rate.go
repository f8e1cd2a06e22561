package crowd

import (
	"sync"
	"time"
)

// Rate lets so many of each source through at once, and then one each while. What it remembers is in memory: a refusal costs no write.
type Rate struct {
	Most int
	Each time.Duration
	// Sources bounds what is remembered: where more come, counting begins anew, and nobody is turned away for what others did.
	Sources int

	mu   sync.Mutex
	free map[string]time.Time // when a source would have all of its share again
}

// Take lets one more of a source through, or says that there were too many.
func (r *Rate) Take(source string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.spent(source, now) {
		return false
	}
	if _, known := r.free[source]; !known && (r.free == nil || len(r.free) >= r.Sources) {
		r.free = map[string]time.Time{}
	}
	at := r.free[source]
	if at.Before(now) {
		at = now
	}
	r.free[source] = at.Add(r.Each)
	return true
}

// Spent says whether none of a source would be let through now.
func (r *Rate) Spent(source string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.spent(source, now)
}

func (r *Rate) spent(source string, now time.Time) bool {
	return r.free[source].Sub(now) > r.Each*time.Duration(r.Most-1)
}
