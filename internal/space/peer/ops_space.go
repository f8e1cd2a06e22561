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

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// CreateIn creates a space.
type CreateIn struct {
	Name      string `json:"name,omitempty" jsonschema:"what to call it, intandem-session when left out"`
	MaxPeers  int64  `json:"max_peers,omitempty" jsonschema:"at most this many members, you included; 5 when left out"`
	PerMinute int64  `json:"messages_per_minute,omitempty" jsonschema:"messages a minute and peer; 30 when left out"`
	Host      string `json:"host,omitempty" jsonschema:"HOST:PORT of a tandem server that is to host it; this machine when left out"`
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
	s, err := r.create(ctx, c.Tenant, owner(c), folderOf(c), in)
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
	name, host := s.name(s.me.Card().ID), ""
	if s.host != "" {
		host = "\nHosted by " + s.host + ", which keeps the order and cannot read it."
	}
	text := fmt.Sprintf("Workspace %q created!\nYour username: %s\n\nShare this code with teammates:\n  %s\n\nThey just tell their agent: Join intandem workspace: %s\nThe code works once; make more with intandem_invite.\nMessages are end-to-end encrypted.%s\nWaiting for peers... (0/%d slots)",
		escape(in.Name), name, inv, inv, host, s.max-1)
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
	Host  string `json:"host,omitempty" jsonschema:"HOST:PORT of the machine that took the space over, when your own could not find it"`
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
		s.lost = nil // somebody wants to know now
		if in.Host != "" && in.Host != s.host {
			s.moved = in.Host
			if !r.found(ctx, s) {
				return Joined{}, fault.New(fault.Conflict, "space.rejoin", "%s does not host this space, or not a newer term of it", clip(in.Host)).WithNext("see its state over there: tandem space list")
			}
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
		r.publish(s)
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
