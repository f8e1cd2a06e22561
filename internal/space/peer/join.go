package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"tandem/internal/client"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// offer is what a joiner hands the inviter once the code has matched.
type offer struct {
	KeyPackage []byte `json:"key_package"`
	Name       string `json:"name"`
}

// bundle is what the inviter hands back.
type bundle struct {
	Space    string   `json:"space"`
	Welcome  []byte   `json:"welcome"`
	Key      seal.Key `json:"space_key"`
	Seq      int64    `json:"seq"` // the entry that took the newcomer in
	Hash     string   `json:"hash"`
	Pin      string   `json:"pin"` // the host's key as the inviter knows it
	Void     []int64  `json:"void,omitempty"`
	Snapshot Snapshot `json:"snapshot"`
}

func ad(c seal.Card) ([]byte, error) { return json.Marshal(c) }

// create starts a space and takes the first seat. It is hosted by this daemon,
// or by the tandem server that in names, which becomes no member by that.
func (r *Room) create(ctx context.Context, tenant, owner, folder string, in CreateIn) (*seat, error) {
	at, token, err := r.hostFor(ctx, in.Host)
	if err != nil {
		return nil, err
	}
	me, err := seal.NewIdentity()
	if err != nil {
		return nil, err
	}
	s := newSeat(tenant, id.New("seat"), owner, id.New("spc"))
	s.me, s.folder, s.created, s.dirty = me, folder, r.now(), true
	s.host, s.pin = at.host, at.pin
	s.sec = secrets{Seed: me.Seed(), Base: Snapshot{Title: in.Name}}
	if s.sec.Space, err = seal.NewKey(); err != nil {
		return nil, err
	}
	g, err := seal.NewGroup(me, s.space)
	if err != nil {
		return nil, err
	}
	if err := s.enter(g); err != nil {
		return nil, err
	}
	s.term = 1
	s.link = r.linkTo(s)
	// The seat is stored before the host knows of the space: a crash in between
	// leaves a seat that finds nothing to follow, never a space without a key.
	if err := r.db.Write(ctx, func(tx *db.Tx) error { return r.saveSeat(tx, s) }); err != nil {
		return nil, err
	}
	start := space.StartIn{Space: s.space, Card: me.Card(), Members: in.MaxPeers, PerMinute: in.PerMinute}
	start.Proof = space.Prove(me, string(space.SpaceStart), start, r.now())
	begin := s.link
	if token != "" {
		o := newOutside(at.host, at.pin)
		o.token, begin = token, o
	}
	if _, err := ask(ctx, begin, space.SpaceStart, start); err != nil {
		s.state = left
		if fault.Is(err, fault.Unavailable) {
			err = fault.New(fault.Unavailable, "space.create", "%w", err).
				WithNext("see that the server runs and listens there, then create the space again")
		}
		return nil, errors.Join(err, r.db.Write(ctx, func(tx *db.Tx) error { return r.saveSeat(tx, s) }))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err = r.sync(ctx, s, 0)
	for try := range 3 { // a line that broke once is tried again, or the newcomer would be told of an empty room
		if !fault.Is(err, fault.Unavailable) || !sleep(ctx, 200*time.Millisecond<<try) {
			break
		}
		err = r.sync(ctx, s, 0)
	}
	r.add(s) // it is a member's from here on, whatever comes
	return s, err
}

// hostFor is where a new space is to be hosted, and the token that lets this
// machine begin it there.
func (r *Room) hostFor(ctx context.Context, host string) (place, string, error) {
	if host == "" {
		return place{}, "", nil
	}
	a, err := client.ParseAddress(host)
	if err != nil {
		return place{}, "", err
	}
	if a.Local && !strings.HasPrefix(host, "https://") { // whoever writes https knows that it speaks TLS to others, too
		return place{}, "", fault.New(fault.Invalid, "space.create", "%s is for its own machine alone; members reach a space's host over TLS",
			clip(a.Host)).
			WithNext("name an address on which that server listens for others: tandem up --replace --listen ADDRESS:PORT")
	}
	srv, err := r.server(ctx, a.Host)
	if err != nil || srv.Own {
		return place{}, "", err
	}
	if srv.Token == "" {
		return place{}, "", fault.New(fault.Conflict, "space.create", "this machine has not joined the server %s", clip(a.Host)).
			WithNext("a person joins it with: tandem space create --host %s", a.Host)
	}
	return place{a.Host, srv.Pin}, srv.Token, nil
}

// join takes a seat with an invite.
func (r *Room) join(ctx context.Context, tenant, owner, folder, code string) (*seat, error) {
	inv, err := seal.ParseInvite(code)
	if err != nil {
		return nil, fault.New(fault.Invalid, "space.join", "%s", err).WithNext("ask for the code again: it looks like VPA6KW or VPA6KW@host")
	}
	me, err := seal.NewIdentity()
	if err != nil {
		return nil, err
	}
	s := newSeat(tenant, id.New("seat"), owner, "")
	s.me, s.folder, s.host, s.pin, s.created = me, folder, inv.Host, inv.Pin, r.now()
	s.link = r.linkTo(s)
	new, err := seal.NewNewcomer(me)
	if err != nil {
		return nil, err
	}
	b, err := r.knock(ctx, s, inv, new)
	if err != nil {
		return nil, outsiders(err)
	}
	if o, ok := s.link.(*outside); ok {
		if b.Pin != "" && b.Pin != PublicPin && o.shown() != b.Pin {
			return nil, fault.New(fault.Denied, "space.join", "the host you reached is not the one the inviter knows").With("reason", "pin").
				WithNext("somebody may be in between; ask the inviter for a link instead of a short code")
		}
		s.pin = o.shown()
		if b.Pin == PublicPin {
			s.pin = PublicPin
		}
	}
	g, err := new.Join(b.Welcome)
	if err != nil {
		return nil, fault.New(fault.Invalid, "space.join", "%s", err)
	}
	if g.Space() != b.Space {
		return nil, fault.New(fault.Invalid, "space.join", "the welcome is for another space")
	}
	s.space, s.joined, s.term = b.Space, b.Seq, 1
	s.sec = secrets{Seed: me.Seed(), Space: b.Key, Base: b.Snapshot, Joined: b.Hash, Void: b.Void}
	s.link = r.linkTo(s)
	if err := s.enter(g); err != nil {
		return nil, err
	}
	if err := r.db.Write(ctx, func(tx *db.Tx) error { return r.saveSeat(tx, s) }); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := r.carry(ctx, s); err != nil {
		r.log.Error("what was said in an earlier seat stays there", "seat", s.id, "err", err)
	}
	err = r.sync(ctx, s, 0)
	for try := range 3 { // a line that broke once is tried again, or the newcomer would be told of an empty room
		if !fault.Is(err, fault.Unavailable) || !sleep(ctx, 200*time.Millisecond<<try) {
			break
		}
		err = r.sync(ctx, s, 0)
	}
	r.add(s) // it is a member's from here on, whatever comes
	if fault.Is(err, fault.Unavailable) {
		r.log.Warn("joined, and the host was not reached again", "seat", s.id, "err", err)
		err = nil // the code is used, and the loop follows when the host is back
	}
	return s, err
}

// knock runs the joiner's side of the handshake.
func (r *Room) knock(ctx context.Context, s *seat, inv seal.Invite, new *seal.Newcomer) (*bundle, error) {
	mine, err := ad(s.me.Card())
	if err != nil {
		return nil, err
	}
	h, err := seal.StartHandshake([]byte(inv.Secret), inv.Channel(), mine)
	if err != nil {
		return nil, err
	}
	ticket, err := ask(ctx, s.link, space.SpaceKnock,
		space.KnockIn{Plate: inv.Plate, SID: h.SessionID(), Hello: h.Message(), Card: s.me.Card()})
	if err != nil {
		return nil, err
	}
	answered, err := r.await(ctx, s, space.NextIn{Knock: ticket.Knock}, func(k space.Knock) bool { return k.Answer != nil })
	if err != nil {
		return nil, err
	}
	theirs, err := ad(answered.By)
	if err != nil {
		return nil, err
	}
	if err := h.Finish(answered.Answer, theirs); err != nil {
		return nil, fault.New(fault.Invalid, "space.join", "%s", err)
	}
	key, err := h.Key()
	if err != nil {
		return nil, err
	}
	name, err := r.nameOf(ctx, s.tenant, s.owner)
	if err != nil {
		return nil, err
	}
	plain, err := json.Marshal(offer{KeyPackage: new.KeyPackage(), Name: name})
	if err != nil {
		return nil, err
	}
	box, err := key.Wrap("offer", h.SessionID(), plain)
	if err != nil {
		return nil, err
	}
	done, err := r.await(ctx, s, space.NextIn{Knock: ticket.Knock, Confirm: h.Tag(), Offer: box},
		func(k space.Knock) bool { return k.Bundle != nil })
	if err != nil {
		return nil, err
	}
	if err := h.Confirm(done.Welcome); err != nil {
		return nil, fault.New(fault.Denied, "space.join", "the one who answered does not know the code").WithNext("ask the inviter for a new one")
	}
	raw, err := key.Unwrap("bundle", h.SessionID(), done.Bundle)
	if err != nil {
		return nil, fault.New(fault.Invalid, "space.join", "%s", err)
	}
	var b bundle
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil, fmt.Errorf("read the bundle: %w", err)
	}
	return &b, nil
}

// await asks for the inviter's next message until it is there. The ticket's
// thirty seconds bound it.
func (r *Room) await(ctx context.Context, s *seat, in space.NextIn, done func(space.Knock) bool) (space.Knock, error) {
	in.Wait = 20_000
	for {
		k, err := ask(ctx, s.link, space.SpaceKnockNext, in)
		if err != nil {
			return k, err
		}
		if k.Refused != "" {
			return k, fault.New(fault.Denied, "space.join", "%s", k.Refused).
				WithNext("check the code and join again; after a few wrong guesses a code ends, and the inviter makes a new one: tandem space invite")
		}
		if done(k) {
			return k, nil
		}
		in.Confirm, in.Offer = nil, nil
		if err := ctx.Err(); err != nil {
			return k, fault.New(fault.Unavailable, "space.join", "joining was broken off")
		}
	}
}
