package crowd

import (
	"sync"
	"time"
)

// Rate lets so many of each source through at once, and then one each while. What it remembers is in memory: a refusal costs no write.
type Rate struct {
	most    int
	each    time.Duration
	sources int

	mu   sync.Mutex
	free map[string]time.Time // when a source would have all of its share again
}

// NewRate makes one. It remembers so many sources: where more come, counting begins anew, and nobody is turned away for what others did.
func NewRate(most int, each time.Duration, sources int) *Rate {
	if most < 1 || each <= 0 || sources < 1 {
		panic("crowd: a rate without bounds")
	}
	return &Rate{most: most, each: each, sources: sources}
}

// Take lets one more of a source through, or says that there were too many.
func (r *Rate) Take(source string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.spent(source, now) {
		return false
	}
	if _, known := r.free[source]; !known && (r.free == nil || len(r.free) >= r.sources) {
		r.free = map[string]time.Time{}
	}
	r.free[source] = r.full(source, now).Add(r.each)
	return true
}

// Spent says whether none of a source would be let through now.
func (r *Rate) Spent(source string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.spent(source, now)
}

func (r *Rate) spent(source string, now time.Time) bool {
	return r.full(source, now).Sub(now) > r.each*time.Duration(r.most-1)
}

// full is when a source has all of its share again: after all of it was used at the latest, also where the clock was set back meanwhile.
func (r *Rate) full(source string, now time.Time) time.Time {
	at := r.free[source]
	if last := now.Add(r.each * time.Duration(r.most)); at.After(last) {
		r.free[source] = last
		return last
	}
	if at.Before(now) {
		return now
	}
	return at
}
