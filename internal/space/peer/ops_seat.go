package peer

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/space/seal"
)

// peer finds a member by name; who joined a moment ago counts.
func (r *Room) peer(ctx context.Context, s *seat, name string) (seal.MemberID, error) {
	if _, ok := s.find(name); !ok {
		r.fresh(ctx, s)
	}
	id, err := s.peer(name)
	if err == nil {
		err = meant(ctx, "peer "+name, string(id))
	}
	return id, err
}

// peer finds a member by name, or says who there is.
func (s *seat) peer(name string) (seal.MemberID, error) {
	if id, ok := s.find(name); ok {
		return id, nil
	}
	var names []string
	for _, id := range s.members() {
		if id != s.me.Card().ID {
			names = append(names, s.name(id))
		}
	}
	who := "nobody else is in this space yet"
	if len(names) > 0 {
		who = "the peers are: " + strings.Join(names, ", ")
	}
	return "", fault.New(fault.NotFound, "space", "there is no peer %q in this space", clip(name)).WithNext("%s", who)
}

// named puts names where a fault of the host has member ids.
func (s *seat) named(err error) error {
	f := fault.Public(err)
	if f.Kind == fault.Internal {
		return err
	}
	out := *f
	for id := range s.cards {
		out.Msg = strings.ReplaceAll(out.Msg, string(id), s.name(id))
		out.Next = strings.ReplaceAll(out.Next, string(id), s.name(id))
	}
	return &out
}

// Seat is a seat as its owner sees it.
type Seat struct {
	Space    string `json:"space"`
	Title    string `json:"title"`
	Username string `json:"username"`
	State    string `json:"state"`
	Why      string `json:"why,omitempty" jsonschema:"why it is not active any more"`
	Host     string `json:"host"`
	Online   bool   `json:"online"`
	Epoch    uint64 `json:"epoch"`
	Term     int64  `json:"term"`
	Seq      int64  `json:"seq"`
	Yours    bool   `json:"yours,omitempty" jsonschema:"you sit there yourself, not an agent of this machine"`
	// Unread is the caller's own mail: nobody is told how much of another's waits.
	Unread      int       `json:"unread,omitempty" jsonschema:"messages to you that you have not read"`
	UnreadSince time.Time `json:"unread_since,omitzero" jsonschema:"when the first of them came"`
}

// Seats lists seats.
type Seats struct {
	Said
	Seats []Seat `json:"seats"`
}

func (r *Room) opList(ctx context.Context, _ Nothing) (Seats, error) {
	c := op.CallerFrom(ctx)
	out := Seats{Seats: []Seat{}}
	var b strings.Builder
	for _, s := range r.of(func(s *seat) bool { return s.tenant == c.Tenant && (s.owner == owner(c) || c.Kind == op.Person) }) {
		s.mu.Lock()
		v := Seat{Space: s.space, Title: s.sec.Base.Title, Username: s.name(s.me.Card().ID), State: s.state, Why: s.why,
			Host: orElse(s.host, "this machine"), Online: s.online, Epoch: s.epoch(), Term: s.term, Seq: s.seq}
		mine, n, unread := s.owner == owner(c), s.unread.n, s.unreadBy()
		s.mu.Unlock()
		v.Yours = mine
		if mine && n > 0 {
			v.Unread, v.UnreadSince = n, r.unreadSince(ctx, unread)
		}
		out.Seats = append(out.Seats, v)
		fmt.Fprintf(&b, "%s  %-8s  %s as %s, host: %s", v.Space, v.State, escape(v.Title), escape(v.Username), v.Host)
		if v.Why != "" {
			fmt.Fprintf(&b, " (%s)", escape(v.Why))
		}
		b.WriteByte('\n')
	}
	out.Text = strings.TrimSuffix(b.String(), "\n")
	if len(out.Seats) == 0 {
		out.Text = "You are in no space."
	}
	return out, nil
}

// unreadSince is when the first unread message came.
func (r *Room) unreadSince(ctx context.Context, unread []any) time.Time {
	var at int64
	if err := r.db.QueryRow(ctx, "SELECT l.at"+mailOf+unreadOf+" ORDER BY l.seq LIMIT 1", unread...).Scan(&at); err != nil {
		return time.Time{}
	}
	return db.Time(at)
}

func (r *Room) opPhrase(ctx context.Context, _ Which) (Said, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Said{}, err
	}
	defer s.mu.Unlock()
	return Said{Text: fmt.Sprintf("%s\n(epoch %d, %d members; read it out to the others: it is the same for all)", s.group.Phrase(),
		s.epoch(), len(s.members()))}, nil
}

// Who is a username.
type Who struct {
	Said
	Username string `json:"username"`
}

func (r *Room) opWhoami(ctx context.Context, _ Nothing) (Who, error) {
	c := op.CallerFrom(ctx)
	name, err := r.nameOf(ctx, c.Tenant, owner(c))
	return Who{Said{Text: name}, name}, err
}

// RenameIn is a new username.
type RenameIn struct {
	Name string `json:"name" jsonschema:"the new username"`
}

func (r *Room) opRename(ctx context.Context, in RenameIn) (Who, error) {
	if err := CheckName(in.Name); err != nil {
		return Who{}, err
	}
	c := op.CallerFrom(ctx)
	if err := r.setName(ctx, c.Tenant, owner(c), in.Name); err != nil {
		return Who{}, err
	}
	for _, s := range r.of(func(s *seat) bool { return s.tenant == c.Tenant && s.owner == owner(c) }) {
		if err := r.tellName(ctx, s); err != nil {
			return Who{}, err
		}
	}
	return Who{Said{Text: "You are now " + in.Name + "."}, in.Name}, nil
}

// tellName tells the members of a space who sits here.
func (r *Room) tellName(ctx context.Context, s *seat) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != active {
		return nil
	}
	return r.profile(ctx, s, s.profiles[s.me.Card().ID])
}
