package gate

import (
	"sync"
	"time"
)

// Refused counts a source of refused strangers in one minute.
type Refused struct {
	Source string    `json:"source"`
	Minute time.Time `json:"minute"`
	Count  int       `json:"count"`
}

// maxSources bounds what a flood of addresses can make us remember.
const maxSources = 1000

// Strangers counts refused callers that nobody knows, by source and minute:
// an entry each would let a stranger fill the journal.
type Strangers struct {
	mu    sync.Mutex
	count map[Refused]int
	all   int64
}

// Add counts one refusal.
func (s *Strangers) Add(source string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count == nil {
		s.count = map[Refused]int{}
	}
	s.all++
	key := Refused{Source: source, Minute: now.UTC().Truncate(time.Minute)}
	if _, known := s.count[key]; !known && len(s.count) >= maxSources {
		key.Source = "others"
	}
	s.count[key]++
}

// All is how many there were since the start.
func (s *Strangers) All() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

func (s *Strangers) take() []Refused {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Refused
	for k, n := range s.count {
		k.Count = n
		all = append(all, k)
	}
	s.count = nil
	return all
}
