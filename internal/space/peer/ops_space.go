package peer

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/space/seal"
)

// CreateIn creates a space.
type CreateIn struct {
	Name      string `json:"name,omitempty" jsonschema:"what to call it, intandem-session when left out"`
	MaxPeers  int64  `json:"max_peers,omitempty" jsonschema:"at most this many members, you included; 5 when left out"`
	PerMinute int64  `json:"messages_per_minute,omitempty" jsonschema:"messages a minute and peer; 30 when left out"`
	Capabilities
	Host string `json:"host,omitempty" jsonschema:"HOST:PORT of a tandem server that is to host it; this machine when left out"`
}

// Created is a new space with its first code.
type Created struct {
	Said
	Space    string `json:"space"`
	Username string `json:"username"`
	Code     string `json:"code"`
}

// folderOf is the caller's project folder: that of its session, or what a program
// of this machine told. A caller from afar has none: it must not choose what a
// share may read. Nor has one of another tenant: the folders are the house's.
func (r *Room) folderOf(ctx context.Context, c op.Caller) string {
	if c.Tenant != identity.LocalTenant {
		return ""
	}
	folder := c.Client.Folder
	if c.Session != "" {
		w, err := r.workerOf(ctx, c.Tenant, c.Session)
		if err != nil {
			return ""
		}
		folder = w.folder
	}
	if filepath.IsAbs(folder) {
		return filepath.Clean(folder)
	}
	return ""
}

// free is for a caller who wants another seat: it has none, or one that it was
// removed from and that is dropped when the other is taken. A person may have
// several.
func (r *Room) free(ctx context.Context) (old *seat, err error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return nil, nil
	}
	defer s.mu.Unlock()
	if s.state == removed {
		return s, nil
	}
	if mayHoldSeveral(op.CallerFrom(ctx)) {
		return nil, nil
	}
	return nil, fault.New(fault.Conflict, "space.join", "Already connected to %q.", s.sec.Base.Title).
		WithNext("leave it first: intandem_leave")
}

func (r *Room) opCreate(ctx context.Context, in CreateIn) (Created, error) {
	old, err := r.free(ctx)
	if err != nil {
		return Created{}, err
	}
	if in.Name == "" {
		in.Name = "intandem-session"
	}
	if len(in.Name) > 200 {
		return Created{}, fault.New(fault.Invalid, "space.create", "a name has at most 200 characters")
	}
	if err := in.Capabilities.check(); err != nil {
		return Created{}, err
	}
	c := op.CallerFrom(ctx)
	s, err := r.create(ctx, c.Tenant, owner(c), r.folderOf(ctx, c), in)
	if err != nil {
		return Created{}, err
	}
	if old != nil {
		r.drop(old)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := r.introduce(ctx, s, in.Capabilities); err != nil {
		return Created{}, err
	}
	inv, _, err := r.invite(ctx, s, false, 0)
	if err != nil {
		return Created{}, err
	}
	name, host := s.name(s.me.Card().ID), ""
	if s.host != "" {
		host = "\nHosted by " + s.host + ", which keeps the order and cannot read it."
	} else if here, _ := r.addr(); here == "" {
		host = "\nThe code is for this machine: others cannot reach it. To let them in: tandem up --replace --listen ADDRESS:PORT, " +
			"or create the space with a host."
	}
	text := fmt.Sprintf("Workspace %q created!\nYour username: %s\n\nShare this code with teammates:\n  %s\n\nThey just tell their agent: "+
		"Join intandem workspace: %s\nThe code works once; make more with intandem_invite.\nMessages are end-to-end encrypted.%s\nWaiting "+
		"for peers... (0/%d slots)",
		escape(in.Name), name, inv, inv, host, s.max-1)
	return Created{Said{Text: text}, s.space, name, inv.String()}, nil
}

// JoinIn joins a space.
type JoinIn struct {
	Code string `json:"code" jsonschema:"the invite code: VPA6KW, VPA6KW@host, or a link"`
	Capabilities
}

// Elsewhere is the other machine that an invite leads to; "" is this one, or what is no invite.
func (in JoinIn) Elsewhere() string {
	inv, err := seal.ParseInvite(in.Code)
	if err != nil {
		return ""
	}
	return inv.Host
}

// Joined is a seat taken.
type Joined struct {
	Said
	Space    string `json:"space"`
	Username string `json:"username"`
}

func (r *Room) opJoin(ctx context.Context, in JoinIn) (Joined, error) {
	old, err := r.free(ctx)
	if err != nil {
		return Joined{}, err
	}
	if strings.TrimSpace(in.Code) == "" {
		return Joined{}, fault.New(fault.Invalid, "space.join", "Need a join code.").
			WithNext("ask a peer for one: it looks like VPA6KW or VPA6KW@host")
	}
	if err := in.Capabilities.check(); err != nil {
		return Joined{}, err
	}
	c := op.CallerFrom(ctx)
	s, err := r.join(ctx, c.Tenant, owner(c), r.folderOf(ctx, c), in.Code)
	if err != nil {
		return Joined{}, err
	}
	if old != nil {
		r.drop(old)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := r.notTwice(ctx, s); err != nil {
		return Joined{}, err
	}
	if err := r.introduce(ctx, s, in.Capabilities); err != nil {
		return Joined{}, err
	}
	return s.connected("Connected"), nil
}

func (s *seat) connected(verb string) Joined {
	me := s.me.Card().ID
	var online []string
	var tools strings.Builder
	for _, id := range s.members() {
		if id == me {
			continue
		}
		if s.here[id].Here {
			online = append(online, escape(s.name(id)))
		}
		if can := s.profiles[id].capabilities(); can != "" {
			fmt.Fprintf(&tools, "\n%s capabilities:%s", escape(s.name(id)), can)
		}
	}
	who := "none yet"
	switch {
	case len(online) > 0:
		who = strings.Join(online, ", ")
	case !s.online:
		who = "not known yet: the host is not reached now, and is tried again"
	}
	name := s.name(me)
	text := fmt.Sprintf("%s to %q as %s!\nPeers online: %s%s", verb, escape(s.sec.Base.Title), escape(name), who, tools.String())
	return Joined{Said{Text: text}, s.space, name}
}

// RejoinIn says which seat.
type RejoinIn struct {
	Space string `json:"space,omitempty" jsonschema:"name or id of the space when you were in several; the last one when left out"`
	Host  string `json:"host,omitempty" jsonschema:"HOST:PORT of the machine that took the space over, when your own could not find it"`
}

// opRejoin gives the caller its last seat back: its own, or that of a program
// that ran for the same actor in the same folder and has ended.
func (r *Room) opRejoin(ctx context.Context, in RejoinIn) (Joined, error) {
	c := op.CallerFrom(ctx)
	if mayHoldSeveral(c) {
		ctx = choosing(ctx, Which{in.Space})
	}
	if s, err := r.enterSeat(ctx); err == nil {
		defer s.mu.Unlock()
		if in.Space != "" && !s.called(in.Space) {
			return Joined{}, fault.New(fault.Conflict, "space.rejoin", "Already connected to %q.", s.sec.Base.Title).
				WithNext("leave it first: intandem_leave")
		}
		if err := r.mended(ctx, s); err != nil {
			return Joined{}, err
		}
		s.lost = nil // somebody wants to know now
		if in.Host != "" && in.Host != s.host {
			s.moved = in.Host
			at := place{in.Host, s.pinOf(in.Host)}
			if at.pin == "" && s.pin == PublicPin {
				at.pin = PublicPin // one tunnel for another
			}
			if !r.sameHost(ctx, s, at) && !r.found(ctx, s) {
				return Joined{}, fault.New(fault.Conflict, "space.rejoin", "%s does not host this space, or not the history that is known here",
					clip(in.Host)).WithNext("see its state over there: tandem space list")
			}
		}
		if stale := r.fresh(ctx, s); stale != "" {
			return Joined{}, fault.New(fault.Unavailable, "space.rejoin", "Could not reconnect to %q: %s", s.sec.Base.Title, stale).
				WithNext("it is tried again by itself; if the host is gone for good: tandem space take-over")
		}
		return s.connected("Reconnected"), nil
	}
	folder := r.folderOf(ctx, c)
	for _, s := range slices.Backward(r.of(func(s *seat) bool { return s.tenant == c.Tenant && orphan(s.owner, program(c)) })) {
		s.mu.Lock()
		taken := !orphan(s.owner, program(c)) // by another program, while this one waited for the seat
		if taken || s.state != active || in.Space != "" && !s.called(in.Space) || folder == "" || s.folder != folder {
			s.mu.Unlock()
			continue
		}
		defer s.mu.Unlock()
		old := s.owner
		r.give(s, owner(c))
		s.used = r.now()
		name, err := r.nameOf(ctx, s.tenant, old)
		if err == nil {
			err = r.setName(ctx, s.tenant, s.owner, name)
		}
		if err == nil {
			err = r.db.Write(ctx, func(tx *db.Tx) error { return r.saveSeat(tx, s) })
		}
		if err != nil {
			r.give(s, old)
			return Joined{}, err
		}
		r.publish(s)
		if r.fresh(ctx, s) == "" { // another program sits here now, in the same place
			if err := r.introduce(ctx, s, Capabilities{Tools: s.profiles[s.me.Card().ID].Tools}); err != nil {
				return Joined{}, err
			}
		}
		return s.connected("Reconnected"), nil
	}
	if err := r.unseated(ctx, c.Tenant, owner(c)); fault.Is(err, fault.Denied) {
		return Joined{}, err
	}
	return Joined{}, fault.New(fault.NotFound, "space.rejoin", "No saved workspace found for you in this folder.").
		WithNext("ask a peer for a code and call intandem_join")
}

// mended is for an owner who comes back to a seat that stopped: it goes on when
// somebody has taken the space over with a history that holds. The caller holds
// s.mu.
func (r *Room) mended(ctx context.Context, s *seat) error {
	if s.state == broken && r.found(ctx, s) {
		s.state, s.why = active, ""
		if err := r.db.Write(ctx, func(tx *db.Tx) error { return r.saveSeat(tx, s) }); err != nil {
			return err
		}
		r.goOn(s)
	}
	return s.usable()
}

// orphan reports whether a seat belonged to a program of the same actor that
// has ended.
func orphan(who, actor string) bool {
	rest, ok := strings.CutPrefix(who, "client/"+actor+"/")
	if !ok {
		return false
	}
	pid, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(pid)
	return err != nil || !running(n)
}
