package peer

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Peer is a member as the others see it.
type Peer struct {
	Username  string   `json:"username"`
	ID        string   `json:"id"`
	You       bool     `json:"you,omitempty"`
	Online    bool     `json:"online"`
	SeenAt    string   `json:"seen_at,omitempty"`
	Keeps     bool     `json:"keeps,omitempty" jsonschema:"keeps the space: may remove others"`
	WorkingOn []string `json:"working_on,omitempty"`
	Profile   Profile  `json:"profile"`
	// Unreadable counts what this member sent that does not open.
	Unreadable int `json:"unreadable,omitempty"`
}

// Peers are the members.
type Peers struct {
	Said
	Peers  []Peer `json:"peers"`
	Health string `json:"health" jsonschema:"good, or why the host is not reached"`
}

func (r *Room) opPeers(ctx context.Context, _ Which) (Peers, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Peers{}, err
	}
	defer s.mu.Unlock()
	if s.state == removed {
		return Peers{}, s.usable()
	}
	stale := r.fresh(ctx, s)
	out := Peers{Peers: []Peer{}, Health: orElse(stale, "good")}
	working := map[string][]string{} // by holder
	for _, t := range s.board.Sorted() {
		if !t.Until.IsZero() {
			working[t.Holder] = append(working[t.Holder], string(t.ID))
		}
	}
	var online []string
	var b strings.Builder
	for _, id := range s.members() {
		p := Peer{Username: s.name(id), ID: string(id), You: id == s.me.Card().ID, Online: stale == "" && s.here[id].Here,
			WorkingOn: working[string(id)], Profile: s.profiles[id], Unreadable: s.unreadable[id], Keeps: id == s.keeper()}
		if at := s.here[id].SeenAt; at != 0 {
			p.SeenAt = micros(at).Format(time.RFC3339)
		}
		out.Peers = append(out.Peers, p)
		if p.Online && !p.You {
			online = append(online, escape(p.Username))
		}
		b.WriteString(p.line(stale != ""))
	}
	nobody := "none"
	if stale != "" { // who was there before says nothing about now
		nobody = "not known, for the host is not reached"
	}
	out.Text = "Online peers: " + orElse(strings.Join(online, ", "), nobody) + "\nConnection health: " + out.Health + b.String()
	return out, nil
}

func (p Peer) line(cut bool) string {
	state := "away"
	switch {
	case p.You:
		state = "you"
	case p.Online:
		state = "here"
	case cut:
		state = "here or away: not known"
	}
	s := fmt.Sprintf("\n%s (%s)", escape(p.Username), state)
	if p.SeenAt != "" && !p.Online {
		s += " last seen " + p.SeenAt
	}
	if p.Keeps {
		s += " keeps the space"
	}
	if len(p.WorkingOn) > 0 {
		s += " working on " + strings.Join(p.WorkingOn, ", ")
	}
	if p.Unreadable > 0 {
		s += fmt.Sprintf(" (sent %d that do not open; whoever keeps the space may remove it)", p.Unreadable)
	}
	return s + p.Profile.capabilities()
}
