package session

// Moves tells whoever waits for something in a session when to look again, so that nobody asks the database in between.
type Moves struct {
	hub  *hub
	key  string
	live *live
	seen int64
}

// Moves listens to a session until it is closed.
func (r *Room) Moves(tenant, session string) *Moves {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	m := &Moves{hub: r.hub, key: key(tenant, session), seen: -1}
	m.live = r.hub.get(m.key)
	m.live.watchers++
	return m
}

// Next is closed once something moves. Take it before looking, and wait for it after: what happens meanwhile is not missed.
func (m *Moves) Next() <-chan struct{} {
	m.hub.mu.Lock()
	defer m.hub.mu.Unlock()
	return m.live.moved
}

// New says whether there may be rows that were not there when it was last asked. A text that only grows brings none.
func (m *Moves) New() bool {
	m.hub.mu.Lock()
	defer m.hub.mu.Unlock()
	was := m.seen
	m.seen = m.live.rows
	return m.seen != was
}

// Close ends the listening.
func (m *Moves) Close() {
	m.hub.mu.Lock()
	defer m.hub.mu.Unlock()
	m.live.watchers--
	m.hub.drop(m.key, m.live)
}
