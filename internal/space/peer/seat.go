package peer

import (
	"sync"
	"time"

	"tandem/internal/board"
	"tandem/internal/db"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// The states of a seat.
const (
	active  = "active"
	left    = "left"
	removed = "removed"
	broken  = "broken" // the host's history does not add up; a person has to look
)

// secrets are what a seat must never lose or show. They are one sealed value.
type secrets struct {
	Seed    []byte            `json:"seed"`
	Group   []byte            `json:"group"`
	Keys    []seal.EpochKey   `json:"keys"`
	Past    map[uint64][]byte `json:"past,omitempty"` // the group at the last few epochs, to go back to after a fork
	Space   seal.Key          `json:"space_key"`
	Base    Snapshot          `json:"base"`              // the newcomer's snapshot
	Joined  string            `json:"joined,omitempty"`  // hash of the entry that took this member in, by the inviter's word
	Pending []byte            `json:"pending,omitempty"` // the group after a commit that the host has not answered yet
	Commit  string            `json:"commit,omitempty"`  // that commit's envelope
	Void    []int64           `json:"void,omitempty"`    // entries whose commit did not hold: epochs for the host alone
}

// seat is one member's chair in one space. mu guards everything below it;
// sending and following happen one at a time.
type seat struct {
	tenant, id, space, folder string
	owner                     string // changes with Room.mu and mu held, so that either is enough to read it
	host, pin                 string // empty host: this daemon hosts it
	created                   time.Time

	mu         sync.Mutex
	state      string
	why        string
	seq        int64
	hash       string
	trail      trail // of the entries up to it
	term       int64
	joined     int64
	sec        secrets
	dirty      bool   // sec differs from what is stored
	log        string // which line of log of this machine's it is on; empty before its first entry
	saved      int64  // the entry that it was saved with
	moves      int    // changes of the group since then
	keep       bool   // it has something that the log cannot tell
	reread     bool   // what is in memory may be ahead of the disk, and counts for nothing
	heard      int64  // as far as what entries call for was started
	me         *seal.Identity
	group      *seal.Group
	link       link
	online     bool
	calls      int
	used       time.Time // the owner's last call
	renewed    time.Time // when its claims were looked at last
	running    bool      // somebody follows with it
	answering  bool      // knocks are being answered
	committing bool      // a change of members is with the host
	announcing bool      // what this member brings is about to be told again
	removing   bool
	rekeying   bool
	rekeyed    time.Time     // when this member last tried to renew the group's secret
	hostNow    int64         // the host's clock at the last answer, microseconds
	looking    bool          // for another host of this space
	looked     time.Time     // when that was done last
	moved      string        // where the old host says the space went
	next       *place        // the host that is tried; it counts with the take-over that is read from it
	lost       error         // why the host was not reached last
	poke       chan struct{} // somebody wants it to be tried again
	drop       func()        // ends the wait for news
	queued     bool          // something may wait in the outbox
	flushing   bool          // and is being sent
	offering   bool          // own attachments are being given to a host that took over
	offered    int64         // the term whose host has them
	asked      time.Time     // when it asked the host for entries itself
	invites    int           // open ones, as far as is known: somebody may knock
	said       uint64        // the number of our last envelope that the host took, which the log may not have shown yet

	// folded from the log
	cards   map[seal.MemberID]seal.Card
	order   []seal.MemberID // by joining
	gone    map[seal.MemberID]string
	keyed   int64                   // when the group's secret was made, by the host's clock
	brought map[seal.MemberID]int64 // when each member last brought secrets of its own
	creator seal.MemberID
	// since this daemon started: how many envelopes of a member did not open
	unreadable map[seal.MemberID]int
	terms      []*space.Entry // the take-overs, oldest first
	heir       seal.MemberID  // to whom a leaving host gave the space
	window     seal.Window
	board      board.Board
	words      map[board.TaskID]TaskWords
	newer      map[board.TaskID][]Newer // what was said about tasks in words that knows has not
	knows      map[string]bool
	vars       map[string]Variable // by tag
	paths      map[string]Path     // by tag
	profiles   map[seal.MemberID]Profile
	findings   []Finding
	here       map[seal.MemberID]space.Presence
	posted     recent // own envelopes in the log
	max        int64

	changed chan struct{}       // closed and replaced when something new arrived
	joins   map[string]*joining // by knock
	wakes   wakes
	unread  unread
	telling bool
	waiter  int       // the newest hook that waits
	rousing bool      // a session of tandem's is being woken
	asleep  time.Time // and could not be, until then
	news    []string  // what others changed, until the owner is told
	unheard int       // and how much more than is kept
	shifted []string  // own leased files that changed below, until the owner is told
}

// place is where a host is, and its key; empty for this daemon.
type place struct{ host, pin string }

func newSeat(tenant, id, owner, spc string) *seat {
	return &seat{tenant: tenant, id: id, owner: owner, space: spc, state: active,
		cards: map[seal.MemberID]seal.Card{}, gone: map[seal.MemberID]string{},
		brought: map[seal.MemberID]int64{}, window: seal.Window{}, board: board.Board{},
		words: map[board.TaskID]TaskWords{}, newer: map[board.TaskID][]Newer{}, knows: ourWords,
		vars: map[string]Variable{}, paths: map[string]Path{}, profiles: map[seal.MemberID]Profile{},
		here: map[seal.MemberID]space.Presence{}, unreadable: map[seal.MemberID]int{}, queued: true,
		changed: make(chan struct{}), poke: make(chan struct{}, 1), joins: map[string]*joining{}}
}

// ring tells waiters that the seat changed. The caller holds mu.
func (s *seat) ring() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// key finds the key of an epoch this seat was a member in.
func (s *seat) key(epoch uint64) (seal.EpochKey, bool) {
	for i := len(s.sec.Keys) - 1; i >= 0; i-- {
		if s.sec.Keys[i].Epoch == epoch {
			return s.sec.Keys[i], true
		}
	}
	return seal.EpochKey{}, false
}

// epochOf is the number that the host has for the epoch of a group of this space.
func (s *seat) epochOf(g *seal.Group) uint64 { return g.Epoch() + uint64(len(s.sec.Void)) }

// epoch is the one that envelopes are sealed for now.
func (s *seat) epoch() uint64 { return s.epochOf(s.group) }

// enter makes g the seat's group and keeps its key.
func (s *seat) enter(g *seal.Group) error {
	k, err := g.EpochKey()
	if err != nil {
		return err
	}
	k.Epoch = s.epochOf(g)
	if s.group != nil && s.group.Epoch()+1 == g.Epoch() {
		if s.sec.Past == nil {
			s.sec.Past = map[uint64][]byte{}
		}
		s.sec.Past[s.group.Epoch()] = s.sec.Group
		delete(s.sec.Past, s.group.Epoch()-4)
	}
	s.group, s.sec.Group, s.dirty = g, g.Bytes(), true
	s.moves++
	if _, ok := s.key(k.Epoch); !ok {
		s.sec.Keys = append(s.sec.Keys, k)
	}
	return nil
}

// name is how a member is shown. Of two with one name the later gets a suffix.
func (s *seat) name(id seal.MemberID) string {
	p, ok := s.profiles[id]
	if !ok || p.Name == "" {
		return string(id)
	}
	for _, other := range s.order {
		if other == id {
			break
		}
		if s.profiles[other].Name == p.Name {
			return p.Name + "-" + string(id[len(id)-4:])
		}
	}
	return p.Name
}

// find is the present member of that name or id.
func (s *seat) find(name string) (seal.MemberID, bool) {
	for _, id := range s.order {
		if _, gone := s.gone[id]; !gone && (string(id) == name || s.name(id) == name) {
			return id, true
		}
	}
	return "", false
}

// members are those who belong now, in the order they joined.
func (s *seat) members() []seal.MemberID {
	var out []seal.MemberID
	for _, id := range s.order {
		if _, gone := s.gone[id]; !gone {
			out = append(out, id)
		}
	}
	return out
}

// keptComments is how many comments of a task are kept, the newest.
const keptComments = 200

// base lays a newcomer's snapshot under what it will follow itself.
func (s *seat) base() {
	b := s.sec.Base
	for id, p := range b.Profiles {
		s.profiles[seal.MemberID(id)] = p
	}
	for id, w := range b.Tasks {
		s.words[id] = s.withNewer(id, w, b.Newer[id])
	}
	for tag, v := range b.Vars {
		s.vars[tag] = v
	}
	for tag, p := range b.Paths {
		s.paths[tag] = p
	}
	s.findings = append(s.findings, b.Findings...)
}

// snapshot is what a newcomer is given of this seat's picture.
func (s *seat) snapshot() Snapshot {
	out := Snapshot{Title: s.sec.Base.Title, Profiles: map[string]Profile{}, Tasks: map[board.TaskID]TaskWords{}, Vars: map[string]Variable{},
		Newer: s.newer, Findings: s.findings, Paths: map[string]Path{}}
	for id, p := range s.profiles {
		out.Profiles[string(id)] = p
	}
	for id, w := range s.words {
		out.Tasks[id] = w
	}
	for tag, v := range s.vars {
		out.Vars[tag] = v
	}
	for tag, p := range s.paths {
		out.Paths[tag] = p
	}
	return out
}

func micros(n int64) time.Time { return db.Time(n) }
