package daemon

import "sync"

// moves counts changes that are shown and not recorded: what a terminal's
// program does from second to second.
type moves struct {
	mu   sync.Mutex
	n    int64
	wake map[*func()]bool
}

// add says that something moved, and wakes whoever waits for that.
func (m *moves) add() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.n++
	for f := range m.wake {
		(*f)()
	}
	clear(m.wake)
}

func (m *moves) count() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.n
}

// after calls wake as soon as more than n have moved, perhaps at once, unless
// what it returns is called before.
func (m *moves) after(n int64, wake func()) (stop func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.n > n {
		wake()
		return func() {}
	}
	if m.wake == nil {
		m.wake = map[*func()]bool{}
	}
	m.wake[&wake] = true
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.wake, &wake)
	}
}
