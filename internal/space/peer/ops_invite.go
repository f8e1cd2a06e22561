package peer

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tandem/internal/space/seal"
)

// InviteIn makes a code.
type InviteIn struct {
	Link    bool  `json:"link,omitempty" jsonschema:"a long link with a 128-bit secret instead of a short code"`
	Minutes int64 `json:"minutes,omitempty" jsonschema:"how long it is good for; a day when left out"`
	Which
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
	return Invited{Said{Text: fmt.Sprintf("Share this code; it works once and until %s:\n  %s", until.Format(time.RFC3339), inv)},
		inv.String(), until}, nil
}

// RevokeIn names a code.
type RevokeIn struct {
	Code string `json:"code" jsonschema:"the code, or its first two letters"`
	Which
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
	Which
}

func (r *Room) opRemove(ctx context.Context, in RemoveIn) (Said, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Said{}, err
	}
	defer s.mu.Unlock()
	id, err := r.peer(ctx, s, in.Peer)
	if err != nil {
		return Said{}, err
	}
	name := s.name(id)
	if err := r.removeMember(ctx, s, id); err != nil {
		return Said{}, s.named(err)
	}
	return Said{Text: fmt.Sprintf("%s was removed and reads nothing that is said from now on.", escape(name))}, nil
}
