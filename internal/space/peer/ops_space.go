package peer

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// CreateIn creates a space.
type CreateIn struct {
	Name      string `json:"name,omitempty" jsonschema:"what to call it, intandem-session when left out"`
	MaxPeers  int64  `json:"max_peers,omitempty" jsonschema:"at most this many members, you included; 5 when left out"`
	PerMinute int64  `json:"messages_per_minute,omitempty" jsonschema:"messages a minute and peer; 30 when left out"`
}

// Created is a new space with its first code.
type Created struct {
	Said
	Space    string `json:"space"`
	Username string `json:"username"`
	Code     string `json:"code"`
}

// folderOf is the caller's project folder, as a program of this machine told
// it. A caller from afar has none: it must not choose what a share may read.
func folderOf(c op.Caller) string {
	if filepath.IsAbs(c.Client.Folder) {
		return filepath.Clean(c.Client.Folder)
	}
	return ""
}

func (r *Room) notSeated(ctx context.Context) error {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return nil
	}
	defer s.mu.Unlock()
	if s.state == removed {
		return nil
	}
	return fault.New(fault.Conflict, "space.join", "Already connected to %q.", s.sec.Base.Title).WithNext("leave it first: intandem_leave")
}

func (r *Room) opCreate(ctx context.Context, in CreateIn) (Created, error) {
	if err := r.notSeated(ctx); err != nil {
		return Created{}, err
	}
	if in.Name == "" {
		in.Name = "intandem-session"
	}
	if len(in.Name) > 200 {
		return Created{}, fault.New(fault.Invalid, "space.create", "a name has at most 200 characters")
	}
	c := op.CallerFrom(ctx)
	s, err := r.create(ctx, c.Tenant, owner(c), folderOf(c), in.Name, in.MaxPeers, in.PerMinute)
	if err != nil {
		return Created{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := r.introduce(ctx, s); err != nil {
		return Created{}, err
	}
	inv, _, err := r.invite(ctx, s, false, 0)
	if err != nil {
		return Created{}, err
	}
	name := s.name(s.me.Card().ID)
	text := fmt.Sprintf("Workspace %q created!\nYour username: %s\n\nShare this code with teammates:\n  %s\n\nThey just tell their agent: Join intandem workspace: %s\nThe code works once; make more with intandem_invite.\nMessages are end-to-end encrypted.\nWaiting for peers... (0/%d slots)",
		escape(in.Name), name, inv, inv, s.max-1)
	return Created{Said{Text: text}, s.space, name, inv.String()}, nil
}

// introduce tells the others what this member brings: its folder, its agent,
// and the MCP servers its project is set up with.
func (r *Room) introduce(ctx context.Context, s *seat) error {
	return r.profile(ctx, s, Profile{Agent: op.CallerFrom(ctx).Client.Agent, Folder: s.folder, Servers: serversOf(s.folder)})
}

// serversOf lists the MCP servers of a project. A file that cannot be read or
// understood announces nothing.
func serversOf(folder string) []string {
	if folder == "" {
		return nil
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil
	}
	defer root.Close()
	var out []string
	for _, name := range []string{".mcp.json", filepath.Join(".claude", "mcp.json")} {
		data, err := root.ReadFile(name)
		if err != nil {
			continue
		}
		var f struct {
			Servers map[string]json.RawMessage `json:"mcpServers"`
		}
		if json.Unmarshal(data, &f) != nil {
			continue
		}
		for k := range f.Servers {
			if !slices.Contains(out, k) && len(k) <= 100 && len(out) < 50 {
				out = append(out, k)
			}
		}
	}
	slices.Sort(out)
	return out
}

// JoinIn joins a space.
type JoinIn struct {
	Code string `json:"code" jsonschema:"the invite code: VPA6KW, VPA6KW@host, or a link"`
}

// Joined is a seat taken.
type Joined struct {
	Said
	Space    string `json:"space"`
	Username string `json:"username"`
}

func (r *Room) opJoin(ctx context.Context, in JoinIn) (Joined, error) {
	if err := r.notSeated(ctx); err != nil {
		return Joined{}, err
	}
	if strings.TrimSpace(in.Code) == "" {
		return Joined{}, fault.New(fault.Invalid, "space.join", "Need a join code.").WithNext("ask a peer for one: it looks like VPA6KW or VPA6KW@host")
	}
	c := op.CallerFrom(ctx)
	s, err := r.join(ctx, c.Tenant, owner(c), folderOf(c), in.Code)
	if err != nil {
		return Joined{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := r.introduce(ctx, s); err != nil {
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
		if p := s.profiles[id]; len(p.Servers) > 0 || p.Folder != "" {
			fmt.Fprintf(&tools, "\n%s capabilities:", escape(s.name(id)))
			if len(p.Servers) > 0 {
				fmt.Fprintf(&tools, "\n  MCP servers: %s", escape(strings.Join(p.Servers, ", ")))
			}
			if p.Folder != "" {
				fmt.Fprintf(&tools, "\n  Working directory: %s", escape(p.Folder))
			}
		}
	}
	who := "none yet"
	if len(online) > 0 {
		who = strings.Join(online, ", ")
	}
	name := s.name(me)
	text := fmt.Sprintf("%s to %q as %s!\nPeers online: %s%s", verb, escape(s.sec.Base.Title), escape(name), who, tools.String())
	return Joined{Said{Text: text}, s.space, name}
}

// RejoinIn says which seat.
type RejoinIn struct {
	Space string `json:"space,omitempty" jsonschema:"the space's id when you were in several; the last one when left out"`
}

// opRejoin gives the caller its last seat back: its own, or that of a program
// that ran for the same actor in the same folder and has ended.
func (r *Room) opRejoin(ctx context.Context, in RejoinIn) (Joined, error) {
	c := op.CallerFrom(ctx)
	if s, err := r.enterSeat(ctx); err == nil {
		defer s.mu.Unlock()
		if in.Space != "" && s.space != in.Space {
			return Joined{}, fault.New(fault.Conflict, "space.rejoin", "Already connected to %q.", s.sec.Base.Title).WithNext("leave it first: intandem_leave")
		}
		if stale := r.fresh(ctx, s); stale != "" {
			return Joined{}, fault.New(fault.Unavailable, "space.rejoin", "Could not reconnect to %q: %s", s.sec.Base.Title, stale).
				WithNext("it is tried again by itself; if the host is gone for good: tandem space take-over")
		}
		return s.connected("Reconnected"), nil
	}
	folder := folderOf(c)
	all := r.all()
	for i := len(all) - 1; i >= 0; i-- {
		s := all[i]
		s.mu.Lock()
		if s.tenant != c.Tenant || s.state != active || in.Space != "" && s.space != in.Space || folder == "" || s.folder != folder || !orphan(s.owner, c.Actor) {
			s.mu.Unlock()
			continue
		}
		defer s.mu.Unlock()
		old := s.owner
		s.owner, s.used = owner(c), r.now()
		name, err := r.nameOf(ctx, s.tenant, old)
		if err == nil {
			err = r.setName(ctx, s.tenant, s.owner, name)
		}
		if err == nil {
			err = r.db.Write(ctx, func(tx *db.Tx) error { return r.saveSeat(tx, s) })
		}
		if err != nil {
			s.owner = old
			return Joined{}, err
		}
		r.fresh(ctx, s)
		return s.connected("Reconnected"), nil
	}
	return Joined{}, fault.New(fault.NotFound, "space.rejoin", "No saved workspace found for you in this folder.").WithNext("ask a peer for a code and call intandem_join")
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

func (r *Room) opLeave(ctx context.Context, _ Nothing) (Said, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Said{}, err
	}
	defer s.mu.Unlock()
	summary, err := r.summary(ctx, s)
	if err != nil {
		return Said{}, err
	}
	gone := "Disconnected from workspace."
	if s.state == active {
		if _, err := r.sendBare(ctx, s, space.ClassLeave); err != nil && !fault.Is(err, fault.Unavailable) {
			return Said{}, err
		} else if err != nil {
			gone = "Disconnected from workspace. The host could not be told; the others see you as gone when your presence ends."
		}
	}
	s.state, s.why = left, "you left"
	if err := r.db.Write(ctx, func(tx *db.Tx) error { return r.saveSeat(tx, s) }); err != nil {
		return Said{}, err
	}
	s.ring()
	return Said{Text: gone + "\n\n" + summary}, nil
}

// sendBare posts without following the log afterwards: a leaver may not read on.
func (r *Room) sendBare(ctx context.Context, s *seat, class string) (space.Accepted, error) {
	var a space.Accepted
	var err error
	for range 6 {
		env, serr := s.seal(thing{id: "env_leave_" + s.id, class: class}, nil, nil, r.now().UnixMilli())
		if serr != nil {
			return a, serr
		}
		if err = s.link.call(ctx, "space.post", space.PostIn{Envelope: &env}, &a); err == nil {
			return a, nil
		}
		if reason(err) != "epoch" && reason(err) != "sequence" {
			return a, err
		}
		if err := r.sync(ctx, s, 0); err != nil {
			return a, err
		}
	}
	return a, err
}

// InviteIn makes a code.
type InviteIn struct {
	Link    bool  `json:"link,omitempty" jsonschema:"a long link with a 128-bit secret instead of a short code"`
	Minutes int64 `json:"minutes,omitempty" jsonschema:"how long it is good for; a day when left out"`
}

// Invited is a code.
type Invited struct {
	Said
	Code    string    `json:"code"`
	Expires time.Time `json:"expires_at"`
}

func (r *Room) opInvite(ctx context.Context, in InviteIn) (Invited, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Invited{}, err
	}
	defer s.mu.Unlock()
	inv, until, err := r.invite(ctx, s, in.Link, time.Duration(in.Minutes)*time.Minute)
	if err != nil {
		return Invited{}, err
	}
	return Invited{Said{Text: fmt.Sprintf("Share this code; it works once and until %s:\n  %s", until.Format(time.RFC3339), inv)}, inv.String(), until}, nil
}

// RevokeIn names a code.
type RevokeIn struct {
	Code string `json:"code" jsonschema:"the code, or its first two letters"`
}

func (r *Room) opRevoke(ctx context.Context, in RevokeIn) (Said, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Said{}, err
	}
	defer s.mu.Unlock()
	plate := strings.ToUpper(in.Code)
	if inv, err := seal.ParseInvite(in.Code); err == nil {
		plate = inv.Plate
	}
	if err := r.endInvite(ctx, s, plate, "revoked"); err != nil {
		return Said{}, err
	}
	return Said{Text: "The invite " + plate + "… is revoked."}, nil
}

// RemoveIn names a peer.
type RemoveIn struct {
	Peer string `json:"peer" jsonschema:"the peer's username or id"`
}

func (r *Room) opRemove(ctx context.Context, in RemoveIn) (Said, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Said{}, err
	}
	defer s.mu.Unlock()
	id, err := s.peer(in.Peer)
	if err != nil {
		return Said{}, err
	}
	name := s.name(id)
	if err := r.removeMember(ctx, s, id); err != nil {
		return Said{}, s.named(err)
	}
	return Said{Text: fmt.Sprintf("%s was removed and reads nothing that is said from now on.", escape(name))}, nil
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
	Host     string `json:"host"`
	Online   bool   `json:"online"`
	Epoch    uint64 `json:"epoch"`
	Term     int64  `json:"term"`
	Seq      int64  `json:"seq"`
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
	for _, s := range r.all() {
		s.mu.Lock()
		if s.tenant == c.Tenant && (s.owner == owner(c) || c.Kind == op.Person) {
			v := Seat{Space: s.space, Title: s.sec.Base.Title, Username: s.name(s.me.Card().ID), State: s.state, Host: orElse(s.host, "this machine"), Online: s.online, Epoch: s.group.Epoch(), Term: s.term, Seq: s.seq}
			out.Seats = append(out.Seats, v)
			fmt.Fprintf(&b, "%s  %-8s  %s as %s, host: %s\n", v.Space, v.State, escape(v.Title), escape(v.Username), v.Host)
		}
		s.mu.Unlock()
	}
	out.Text = strings.TrimSuffix(b.String(), "\n")
	if len(out.Seats) == 0 {
		out.Text = "You are in no space."
	}
	return out, nil
}

func (r *Room) opPhrase(ctx context.Context, _ Nothing) (Said, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Said{}, err
	}
	defer s.mu.Unlock()
	return Said{Text: fmt.Sprintf("%s\n(epoch %d, %d members; read it out to the others: it is the same for all)", s.group.Phrase(), s.group.Epoch(), len(s.members()))}, nil
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
	if s, err := r.enterSeat(ctx); err == nil {
		defer s.mu.Unlock()
		p := s.profiles[s.me.Card().ID]
		if err := r.profile(ctx, s, p); err != nil {
			return Who{}, err
		}
	}
	return Who{Said{Text: "You are now " + in.Name + "."}, in.Name}, nil
}

// opTakeOver is for the machine's owner: it acts on the one seat here whose
// host is gone, whoever of this machine sits on it.
func (r *Room) opTakeOver(ctx context.Context, _ Nothing) (Said, error) {
	c := op.CallerFrom(ctx)
	var found *seat
	for _, s := range r.all() {
		s.mu.Lock()
		ok := s.tenant == c.Tenant && s.host != "" && (s.state == active && !s.online || s.state == broken)
		s.mu.Unlock()
		if ok {
			found = s
		}
	}
	if found == nil {
		return Said{}, fault.New(fault.NotFound, "space.take_over", "no space of this machine has lost its host").WithNext("see them: tandem space list")
	}
	found.mu.Lock()
	defer found.mu.Unlock()
	if err := r.takeOver(ctx, found); err != nil {
		return Said{}, found.named(err)
	}
	return Said{Text: fmt.Sprintf("This machine hosts %q now (term %d). The others follow by themselves; what they sent meanwhile waits with them.", escape(found.sec.Base.Title), found.term)}, nil
}
