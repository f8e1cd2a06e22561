package peer

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// KeyLife is how long a group's secret is used while nobody comes or goes. A key that leaked is of no use for what is said after
// that: each time another member brings new secrets, whoever did so longest ago.
const KeyLife = 24 * time.Hour

// rekeyPause bounds what a host with a wrong clock can make a member do.
const rekeyPause = time.Hour

// errRekeyed is for a secret that somebody else renewed meanwhile.
var errRekeyed = errors.New("the group's secret is new")

// stale reports whether the group's secret is as old as it may be, by the host's clock alone. The caller holds s.mu.
func (s *seat) stale() bool {
	return s.keyed != 0 && len(s.members()) > 1 && s.hostNow-s.keyed > KeyLife.Microseconds()
}

// turn is this member's place among those who are there: whose secrets are oldest is first.
func (s *seat) turn() int {
	me := s.me.Card().ID
	there := slices.DeleteFunc(s.members(), func(id seal.MemberID) bool { return id != me && !s.here[id].Here })
	slices.SortStableFunc(there, func(a, b seal.MemberID) int { return cmp.Compare(s.brought[a], s.brought[b]) })
	return slices.Index(there, me)
}

// rekey renews the group's secret when it is old. Every member that is there tries in its turn; the first wins, the rest find it done.
func (r *Room) rekey(ctx context.Context, s *seat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.rekeying = false }()
	turn := s.turn()
	s.mu.Unlock()
	slept := sleep(ctx, time.Duration(turn)*2*time.Second)
	s.mu.Lock()
	if !slept || s.state != active || !s.stale() {
		return
	}
	s.rekeyed = r.now()
	_, _, err := r.commit(ctx, s, func(g *seal.Group) (seal.Change, space.CommitClear, error) {
		if !s.stale() {
			return seal.Change{}, space.CommitClear{}, errRekeyed
		}
		c, err := g.Refresh()
		return c, space.CommitClear{}, err
	})
	if err != nil && !errors.Is(err, errRekeyed) {
		r.log.Warn("the group's secret is not renewed yet", "space", s.space, "err", err)
	}
}
