package peer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// Limits of a variable.
const (
	MaxVarKey   = 100
	MaxVarValue = 5000
)

// SetVarIn sets a variable.
type SetVarIn struct {
	Key   string `json:"key" jsonschema:"at most 100 characters"`
	Value string `json:"value" jsonschema:"at most 5000 characters; empty deletes the variable"`
}

func (r *Room) opSetVar(ctx context.Context, in SetVarIn) (Said, error) {
	switch n := len([]rune(in.Key)); {
	case n == 0 || n > MaxVarKey || in.Key == "*":
		return Said{}, fault.New(fault.Invalid, "space.set_var", "a variable's key has 1 to %d characters and is not *", MaxVarKey)
	case len([]rune(in.Value)) > MaxVarValue:
		return Said{}, fault.New(fault.Invalid, "space.set_var", "a variable's value has at most %d characters, this one %d", MaxVarValue, len([]rune(in.Value))).
			WithNext("share it as a file piece with intandem_share")
	}
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Said{}, err
	}
	defer s.mu.Unlock()
	c := space.VarClear{Tag: s.sec.Space.Tag("var", in.Key), Delete: in.Value == ""}
	a, queued, err := r.sendOrQueue(ctx, s, thing{class: space.ClassVar, clear: c, content: Variable{Key: in.Key, Value: in.Value}})
	if err != nil {
		return Said{}, s.named(err)
	}
	out := Said{ID: a.ID, State: "stored", Text: fmt.Sprintf("Set variable %q = %q", escape(in.Key), clip(escape(in.Value)))}
	if c.Delete {
		out.Text = fmt.Sprintf("Deleted variable %q", escape(in.Key))
	}
	if queued {
		out.State = "queued"
		out.Text += "\nThe host cannot be reached; peers see it when it is back."
	}
	return r.withMail(ctx, s, out)
}

// GetVarIn names a variable.
type GetVarIn struct {
	Key string `json:"key" jsonschema:"the variable's key, or * for all"`
}

// Vars are variables.
type Vars struct {
	Said
	Vars []Variable `json:"vars"`
}

func (r *Room) opGetVar(ctx context.Context, in GetVarIn) (Vars, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Vars{}, err
	}
	defer s.mu.Unlock()
	stale := r.fresh(ctx, s)
	out := Vars{Vars: []Variable{}}
	for _, v := range s.vars {
		if in.Key == "*" || v.Key == in.Key {
			v.By = s.name(seal.MemberID(v.By))
			out.Vars = append(out.Vars, v)
		}
	}
	slices.SortFunc(out.Vars, func(a, b Variable) int { return strings.Compare(a.Key, b.Key) })
	switch {
	case len(out.Vars) == 0 && in.Key == "*":
		out.Text = "No workspace variables set."
	case len(out.Vars) == 0:
		return out, fault.New(fault.NotFound, "space.get_var", "Variable %q not found.", clip(in.Key)).WithNext("list all of them with key=*")
	case in.Key == "*":
		out.Text = "Workspace variables:"
	}
	for _, v := range out.Vars {
		line := fmt.Sprintf("%s = %s (set by %s)", escape(v.Key), escape(v.Value), escape(v.By))
		if in.Key == "*" {
			line = "\n  " + line
		}
		out.Text += line
	}
	if stale != "" {
		out.Text += "\nNot up to date: " + stale
	}
	return out, nil
}

// ReserveIn leases a path.
type ReserveIn struct {
	Path    string `json:"path,omitempty" jsonschema:"a path inside the project; left out, the leases are listed"`
	Minutes int64  `json:"minutes,omitempty" jsonschema:"how long, 60 when left out, 480 at most"`
}

// Leases are leased paths.
type Leases struct {
	Said
	Leases []Path `json:"leases"`
}

func cleanPath(p string) (string, error) {
	q := strings.TrimPrefix(strings.ReplaceAll(p, "\\", "/"), "./")
	if q == "" || strings.HasPrefix(q, "/") || slices.Contains(strings.Split(q, "/"), "..") || len(q) > 1000 {
		return "", fault.New(fault.Invalid, "space.reserve", "%q is not a path inside the project", clip(p)).WithNext("name it relative to the project's root, e.g. internal/auth/token.go")
	}
	return q, nil
}

func (r *Room) opReserve(ctx context.Context, in ReserveIn) (Leases, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Leases{}, err
	}
	defer s.mu.Unlock()
	if in.Path != "" {
		p, err := cleanPath(in.Path)
		if err != nil {
			return Leases{}, err
		}
		c := space.LeaseClear{Tag: s.sec.Space.Tag("path", p), TTL: (time.Duration(in.Minutes) * time.Minute).Milliseconds()}
		if _, err := r.send(ctx, s, thing{class: space.ClassReserve, clear: c, content: Path{Path: p}}); err != nil {
			return Leases{}, s.named(err)
		}
	} else {
		r.fresh(ctx, s)
	}
	out := Leases{Leases: []Path{}}
	for _, p := range s.paths {
		if r.now().Before(micros(p.Until)) {
			p.By = s.name(seal.MemberID(p.By))
			out.Leases = append(out.Leases, p)
		}
	}
	slices.SortFunc(out.Leases, func(a, b Path) int { return strings.Compare(a.Path, b.Path) })
	out.Text = "No leased paths."
	if len(out.Leases) > 0 {
		out.Text = "Leased paths:"
	}
	for _, p := range out.Leases {
		out.Text += fmt.Sprintf("\n  %s: %s until %s", escape(orElse(p.Path, "(leased before you joined)")), escape(p.By), micros(p.Until).Format(time.RFC3339))
	}
	return out, nil
}

// ReleaseIn names a path.
type ReleaseIn struct {
	Path string `json:"path" jsonschema:"the leased path"`
}

func (r *Room) opRelease(ctx context.Context, in ReleaseIn) (Said, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Said{}, err
	}
	defer s.mu.Unlock()
	p, err := cleanPath(in.Path)
	if err != nil {
		return Said{}, err
	}
	if _, err := r.send(ctx, s, thing{class: space.ClassRelease, clear: space.LeaseClear{Tag: s.sec.Space.Tag("path", p)}, content: Path{Path: p}}); err != nil {
		return Said{}, s.named(err)
	}
	return r.withMail(ctx, s, Said{Text: "Released " + escape(p) + "."})
}

// Peer is a member as the others see it.
type Peer struct {
	Username  string   `json:"username"`
	ID        string   `json:"id"`
	You       bool     `json:"you,omitempty"`
	Online    bool     `json:"online"`
	SeenAt    string   `json:"seen_at,omitempty"`
	WorkingOn []string `json:"working_on,omitempty"`
	Profile   Profile  `json:"profile"`
}

// Peers are the members.
type Peers struct {
	Said
	Peers  []Peer `json:"peers"`
	Health string `json:"health" jsonschema:"good, or why the host is not reached"`
}

func (r *Room) opPeers(ctx context.Context, _ Nothing) (Peers, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Peers{}, err
	}
	defer s.mu.Unlock()
	stale := r.fresh(ctx, s)
	out := Peers{Peers: []Peer{}, Health: orElse(stale, "good")}
	var online []string
	var b strings.Builder
	for _, id := range s.members() {
		p := Peer{Username: s.name(id), ID: string(id), You: id == s.me.Card().ID, Online: s.here[id].Here, Profile: s.profiles[id]}
		if at := s.here[id].SeenAt; at != 0 {
			p.SeenAt = micros(at).Format(time.RFC3339)
		}
		for _, t := range s.board.Sorted() {
			if t.Holder == string(id) && !t.Until.IsZero() {
				p.WorkingOn = append(p.WorkingOn, string(t.ID))
			}
		}
		out.Peers = append(out.Peers, p)
		if p.Online && !p.You {
			online = append(online, escape(p.Username))
		}
		b.WriteString(p.line())
	}
	out.Text = "Online peers: " + orElse(strings.Join(online, ", "), "none") + "\nConnection health: " + out.Health + b.String()
	return out, nil
}

func (p Peer) line() string {
	state := "away"
	if p.Online {
		state = "here"
	}
	if p.You {
		state = "you"
	}
	s := fmt.Sprintf("\n%s (%s)", escape(p.Username), state)
	if p.SeenAt != "" && !p.Online {
		s += " last seen " + p.SeenAt
	}
	if len(p.WorkingOn) > 0 {
		s += " working on " + strings.Join(p.WorkingOn, ", ")
	}
	for _, f := range [][2]string{{"agent", p.Profile.Agent}, {"model", p.Profile.Model}, {"folder", p.Profile.Folder}, {"MCP servers", strings.Join(p.Profile.Servers, ", ")}, {"tools", strings.Join(p.Profile.Tools, ", ")}} {
		if f[1] != "" {
			s += fmt.Sprintf("\n  %s: %s", f[0], escape(f[1]))
		}
	}
	return s
}
