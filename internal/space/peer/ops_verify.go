package peer

import (
	"context"
	"fmt"

	"tandem/internal/fault"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// Verified is a history that was checked.
type Verified struct {
	Said
	Entries int64  `json:"entries"`
	Hash    string `json:"hash" jsonschema:"of the last entry; it covers all before it"`
	Term    int64  `json:"term"`
	Host    string `json:"host"`
}

// opVerify checks this member's own copy of the log as it lies on the disk,
// from the first entry on: chain, terms, signatures, everybody's numbers. It
// asks no host.
func (r *Room) opVerify(ctx context.Context, _ Which) (Verified, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Verified{}, err
	}
	defer s.mu.Unlock()
	entries, err := r.entries(ctx, s)
	if err != nil {
		return Verified{}, err
	}
	seq, hash, term, window := int64(0), "", int64(1), seal.Window{}
	for _, e := range entries {
		if err := e.Follow(seq, hash, term); err != nil {
			return Verified{}, err
		}
		if e.Env != nil {
			card, ok := s.cards[e.Env.From]
			if !ok {
				return Verified{}, fault.New(fault.Conflict, "space.verify", "entry %d is from %s, who never was a member", e.Seq, e.Env.From)
			}
			if err := e.Env.Verify(s.space, card); err != nil {
				return Verified{}, fault.New(fault.Conflict, "space.verify", "entry %d: %s", e.Seq, err)
			}
			if n := e.Env.SeenSeq; n > 0 && (n > seq || entries[n-1].Hash != e.Env.Seen) {
				return Verified{}, fault.New(fault.Conflict, "space.verify", "entry %d: %s had seen another entry %d", e.Seq, e.Env.From, n)
			}
			if err := window.Advance(e.Env.From, e.Env.Seq); err != nil {
				return Verified{}, fault.New(fault.Conflict, "space.verify", "entry %d: %s", e.Seq, err)
			}
		}
		if e.Term != term {
			var c space.TakeOverClear
			if err := space.Clear(e.Env, &c); err != nil || c.Term != e.Term || c.Seq != seq || c.Hash != hash {
				return Verified{}, fault.New(fault.Conflict, "space.verify", "entry %d begins term %d, but its signer did not say so", e.Seq, e.Term)
			}
		}
		seq, hash, term = e.Seq, e.Hash, e.Term
	}
	if seq != s.seq || hash != s.hash {
		return Verified{}, fault.New(fault.Conflict, "space.verify", "the log ends at entry %d, this member followed to %d", seq, s.seq)
	}
	out := Verified{Entries: seq, Hash: hash, Term: term, Host: orElse(s.host, "this machine")}
	out.Text = fmt.Sprintf("%d entries hold, to term %d.\n%s\n(the last entry's hash: another member at this entry has the same, "+
		"or one of you was shown another history)", seq, term, hash)
	return out, nil
}
