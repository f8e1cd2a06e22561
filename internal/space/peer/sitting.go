package peer

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// owner is who sits: a session, a program that speaks for an actor, or an
// actor. A person has one seat in a space, whichever door they came by.
func owner(c op.Caller) string {
	switch {
	case c.Session != "":
		return "session/" + c.Session
	case c.Client.ID != "":
		return "client/" + program(c) + "/" + c.Client.ID
	case c.Here(): // the commands of the person whose machine it is
		return theOwner
	}
	return "actor/" + c.Actor
}

// program is whose program a caller is. An agent at work for somebody is a program of theirs, whichever agent it is
// told to be: it keeps its seat when that changes, and their hooks wake it.
func program(c op.Caller) string { return cmp.Or(c.Via, c.Actor) }

// all are the seats in memory, oldest first.
func (r *Room) all() []*seat {
	return r.of(func(*seat) bool { return true })
}

// of are the seats that somebody may mean, oldest first. It looks at tenant and
// owner alone and locks no seat: one that waits for its host keeps nobody else
// waiting.
func (r *Room) of(mine func(*seat) bool) []*seat {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := slices.DeleteFunc(slices.Collect(maps.Values(r.seats)), func(s *seat) bool { return !mine(s) })
	slices.SortFunc(out, func(a, b *seat) int { return strings.Compare(a.id, b.id) })
	return out
}

// give seats another owner. The caller holds s.mu.
func (r *Room) give(s *seat, to string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.owner = to
}

// drop forgets a seat that is of no use any more; what it held stays on the disk.
func (r *Room) drop(s *seat) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.seats, s.id)
}

// enterSeat finds the caller's seat and locks it; the caller unlocks s.mu. A
// stopped seat, and one that its owner was removed from, are found too: the
// owner must see why.
func (r *Room) enterSeat(ctx context.Context) (*seat, error) {
	c := op.CallerFrom(ctx)
	out, several, err := r.chosen(ctx)
	if err != nil {
		return nil, err
	}
	if out == nil {
		return nil, r.unseated(ctx, c.Tenant, owner(c))
	}
	out.mu.Lock()
	if out.state == left { // a moment ago
		out.mu.Unlock()
		return nil, notConnected()
	}
	if ch := choiceFrom(ctx); several && ch.which == "" {
		ch.taken = out.sec.Base.Title
	}
	out.used = r.now()
	out.calls++
	r.reintroduce(out, c)
	return out, nil
}

// vacant is the space of the seat that rejoin would take over: that of a program of the caller's that ended in this folder.
func (r *Room) vacant(ctx context.Context) string {
	c := op.CallerFrom(ctx)
	folder := r.folderOf(ctx, c)
	for _, s := range slices.Backward(r.of(func(s *seat) bool { return s.tenant == c.Tenant && orphan(s.owner, program(c)) })) {
		s.mu.Lock()
		found := s.state == active && folder != "" && s.folder == folder
		s.mu.Unlock()
		if found {
			return s.space
		}
	}
	return ""
}

func notConnected() *fault.Error {
	return fault.New(fault.Conflict, "space", "Not connected. Create or join a workspace first.").
		WithNext("call intandem_create, intandem_join with a code, or intandem_rejoin")
}

// unseated says that somebody has no seat, and why when the last one was lost
// before this daemon started.
func (r *Room) unseated(ctx context.Context, tenant, who string) error {
	var state, why, home string
	err := r.db.QueryRow(ctx,
		"SELECT state, why, home FROM peer_seat WHERE tenant = ? AND owner = ? ORDER BY created_at DESC, id DESC LIMIT 1",
		tenant, who).Scan(&state, &why, &home)
	if err != nil && !db.NoRows(err) {
		return err
	}
	if state == active && home != r.home && r.away != nil {
		return r.away(ctx, "space", "the seat of "+who, home)
	}
	if state == removed {
		return (&seat{state: state, why: why}).usable()
	}
	return notConnected()
}

// alone says that nobody else of this machine sits in a seat's space. It asks the
// store: another seat may be locked, waiting for its host.
func (r *Room) alone(ctx context.Context, s *seat) (bool, error) {
	var others int
	err := r.db.QueryRow(ctx, "SELECT count(*) FROM peer_seat WHERE tenant = ? AND space = ? AND state = ? AND id <> ?", s.tenant, s.space,
		active, s.id).Scan(&others)
	return others == 0, err
}
