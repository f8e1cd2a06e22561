package sign

import (
	"sync"
	"time"
)

// Window is how far the time of a signature may be from ours.
const Window = 2 * time.Minute

// Seen remembers which signatures were used, as long as one of their age would
// be taken. What was signed before the memory began is not taken: nobody knows
// whether it was used.
type Seen struct {
	Began time.Time

	mu    sync.Mutex
	used  map[string]time.Time
	swept time.Time
}

// Use takes a signature, once and in its time.
func (s *Seen) Use(a Act, now time.Time) bool {
	if a.At.Before(s.Began) || a.At.Before(now.Add(-Window)) || a.At.After(now.Add(Window)) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used == nil {
		s.used = map[string]time.Time{}
	}
	if now.Sub(s.swept) > Window {
		s.swept = now
		for name, at := range s.used {
			if at.Before(now.Add(-Window)) {
				delete(s.used, name)
			}
		}
	}
	name := a.Key + "." + a.Nonce
	if _, again := s.used[name]; again {
		return false
	}
	s.used[name] = a.At
	return true
}
