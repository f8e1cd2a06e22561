package space

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/space/seal"
)

// maxSkew is how far a member's clock and the host's may be apart. A call that somebody recorded is good for no longer.
const maxSkew = 10 * time.Minute

// proofVersion is of proofs that cover a call's arguments and its time. Version 1 covered neither, and is refused.
const proofVersion = 2

// Proof shows that a call, with just these arguments, was made by the holder of a member's key, a moment ago.
type Proof struct {
	V      int           `json:"v,omitempty"`
	Member seal.MemberID `json:"member"`
	At     int64         `json:"at"`
	Sig    []byte        `json:"sig"`
}

// Prove signs a call: what names it, in are its arguments. The proof among them is left out.
func Prove(me *seal.Identity, what string, in any, at time.Time) Proof {
	p := Proof{V: proofVersion, Member: me.Card().ID, At: at.UnixMilli()}
	p.Sig = me.Sign("call/"+what, p.bytes(in))
	return p
}

// bytes are the time, and the hash of the arguments as JSON with its keys in order.
func (p Proof) bytes(in any) []byte {
	sum := sha256.Sum256(arguments(in))
	return append(binary.BigEndian.AppendUint64([]byte("tandem-proof-v2\x00"), uint64(p.At)), sum[:]...)
}

// arguments writes a call's arguments without the proof. What is no JSON object is written as nothing, which nobody signed.
func arguments(in any) []byte {
	data, err := json.Marshal(in)
	if err != nil {
		return nil
	}
	var all map[string]any
	read := json.NewDecoder(bytes.NewReader(data))
	read.UseNumber()
	if err := read.Decode(&all); err != nil || all == nil {
		return nil
	}
	delete(all, "proof")
	if data, err = json.Marshal(all); err != nil {
		return nil
	}
	return data
}

// holds checks a proof of a member. Whoever has not signed is told that there is no such space.
func (p Proof) holds(m *Member, space, what string, in any, now time.Time) error {
	if err := p.known(); err != nil {
		return err
	}
	if m == nil || p.Member != m.ID || !m.Verify("call/"+what, p.bytes(in), p.Sig) {
		return notFound(space)
	}
	return p.fresh(now)
}

// known refuses a proof of another version.
func (p Proof) known() error {
	if p.V == proofVersion {
		return nil
	}
	return fault.New(fault.Invalid, "space", "the call is signed as tandem signed earlier, without its arguments").With("reason", "version").
		WithNext("update tandem on that member's machine")
}

// fresh refuses a call of another time.
func (p Proof) fresh(now time.Time) error {
	at := time.UnixMilli(p.At)
	if apart := now.Sub(at).Abs(); apart > maxSkew {
		return fault.New(fault.Unavailable, "space", "the call was made at %s by the member's clock, and at the host it is %s",
			at.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339)).With("reason", "clock").
			WithNext("set the clock that is wrong; up to %d minutes do not matter", int(maxSkew.Minutes()))
	}
	return nil
}

// check finds the member behind a proof. Everybody else is told that there is
// no such space.
func (r *Room) check(ctx context.Context, tenant, space, what string, p Proof, in any) (*Member, error) {
	m, err := scanMember(r.db.QueryRow(ctx, "SELECT "+memberColumns+" FROM space_member WHERE tenant = ? AND space = ? AND id = ?", tenant,
		space, p.Member))
	if db.NoRows(err) {
		m, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := p.holds(m, space, what, in, r.db.Now()); err != nil {
		return nil, err
	}
	return m, m.belongs()
}

// proven is check inside a transaction.
func proven(tx *db.Tx, tenant, space, what string, p Proof, in any) error {
	m, err := member(tx, tenant, space, p.Member)
	if err != nil {
		return err
	}
	if m != nil && (m.Removed != nil || m.Left != nil) {
		m = nil
	}
	return p.holds(m, space, what, in, tx.Now())
}
