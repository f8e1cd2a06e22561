package peer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/space/seal"
)

// ReceiptIn names a message.
type ReceiptIn struct {
	ID string `json:"id" jsonschema:"the message's id, from intandem_send"`
	Which
}

// Receipt is how far a message has come.
type Receipt struct {
	Said
	Peers map[string]string `json:"peers" jsonschema:"username to stored, waiting (the agent's wakes are used up for now), surfaced or read"`
}

func (r *Room) opReceipt(ctx context.Context, in ReceiptIn) (Receipt, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Receipt{}, err
	}
	defer s.mu.Unlock()
	stale := r.fresh(ctx, s)
	waiting, err := r.outbox(ctx, s, "id = ?", in.ID)
	if err != nil {
		return Receipt{}, err
	}
	for _, w := range waiting {
		return Receipt{Said{ID: w.ID, State: w.State, Text: fmt.Sprintf("%s is %s: %s", w.ID, w.State, s.waits(w))}, map[string]string{}}, nil
	}
	to, err := r.addressees(ctx, s, in.ID)
	if err != nil {
		return Receipt{}, err
	}
	said, err := r.messages(ctx, s, "l.env = ?", 1, in.ID)
	if err != nil {
		return Receipt{}, err
	}
	if to == nil || len(said) == 0 {
		return Receipt{}, fault.New(fault.NotFound, "space.receipt", "there is no message %s of yours in this space", clip(in.ID)).
			WithNext("see intandem_inbox with all=true; receipts are for a message's sender")
	}
	out := Receipt{Said: Said{ID: in.ID, State: "stored"}}
	if out.Peers, err = r.far(ctx, s, said[0]); err != nil {
		return Receipt{}, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s is stored by the host.", in.ID)
	for _, name := range slices.Sorted(maps.Keys(out.Peers)) {
		fmt.Fprintf(&b, "\n%s: %s", escape(name), out.Peers[name])
	}
	if stale != "" {
		b.WriteString("\nNot up to date: " + stale)
	}
	out.Text = b.String()
	return out, nil
}

// addressees are those for whom an own message is; nil when there is no such
// message.
func (r *Room) addressees(ctx context.Context, s *seat, msg string) ([]seal.MemberID, error) {
	var to string
	err := r.db.QueryRow(ctx, "SELECT recipient FROM peer_said WHERE tenant = ? AND seat = ? AND env = ?", s.tenant, s.id, msg).Scan(&to)
	if db.NoRows(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if to != "" {
		return []seal.MemberID{seal.MemberID(to)}, nil
	}
	return slices.DeleteFunc(s.members(), func(id seal.MemberID) bool { return id == s.me.Card().ID }), nil
}
