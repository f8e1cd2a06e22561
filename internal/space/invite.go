package space

import (
	"context"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/space/seal"
)

// InviteIn registers the public part of an invite. The secret part stays with
// the inviter.
type InviteIn struct {
	Space string `json:"space"`
	Plate string `json:"plate" jsonschema:"the first two letters of the code"`
	TTL   int64  `json:"ttl_ms,omitempty" jsonschema:"how long it is good for, a day when left out"`
	Proof Proof  `json:"proof"`
}

// InviteOut says until when an invite is good.
type InviteOut struct {
	Plate   string    `json:"plate"`
	Expires time.Time `json:"expires_at"`
}

func (r *Room) invite(ctx context.Context, tx *db.Tx, in InviteIn) (InviteOut, error) {
	tenant := op.CallerFrom(ctx).Tenant
	s, err := lock(tx, tenant, in.Space)
	if err != nil {
		return InviteOut{}, err
	}
	if err := proven(tx, tenant, in.Space, "space.invite_open", in.Proof, in); err != nil {
		return InviteOut{}, err
	}
	if s.state != stateOpen {
		return InviteOut{}, steppedDown(s)
	}
	ttl := time.Duration(in.TTL) * time.Millisecond
	if ttl == 0 {
		ttl = InviteLife
	}
	if ttl < time.Second || ttl > 7*24*time.Hour {
		return InviteOut{}, fault.New(fault.Invalid, "space.invite_open", "an invite is good for a second to seven days")
	}
	if len(in.Plate) != 2 {
		return InviteOut{}, fault.New(fault.Invalid, "space.invite_open", "an invite is registered by its first two letters")
	}
	if _, err := tx.Exec("DELETE FROM space_invite WHERE plate = ? AND (expires_at <= ? OR state <> 'open')", in.Plate, tx.Now()); err != nil {
		return InviteOut{}, err
	}
	var n int
	if err := tx.QueryRow("SELECT count(*) FROM space_invite WHERE plate = ?", in.Plate).Scan(&n); err != nil {
		return InviteOut{}, err
	}
	out := InviteOut{Plate: in.Plate, Expires: tx.Now().Add(ttl)}
	if n > 0 {
		return out, fault.New(fault.Conflict, "space.invite_open", "another invite begins with %s", in.Plate).With("reason", "plate")
	}
	_, err = tx.Exec("INSERT INTO space_invite (tenant, plate, space, inviter, state, expires_at, created_at) VALUES "+
		"(?, ?, ?, ?, 'open', ?, ?)",
		tenant, in.Plate, in.Space, in.Proof.Member, out.Expires, tx.Now())
	return out, err
}

// UninviteIn ends an invite: used, burned by a wrong guess, or revoked.
type UninviteIn struct {
	Space string `json:"space"`
	Plate string `json:"plate"`
	Why   string `json:"why" jsonschema:"used, burned or revoked"`
	Proof Proof  `json:"proof"`
}

// OK says that it was done.
type OK struct {
	OK bool `json:"ok"`
}

func (r *Room) uninvite(ctx context.Context, tx *db.Tx, in UninviteIn) (OK, error) {
	tenant := op.CallerFrom(ctx).Tenant
	if err := proven(tx, tenant, in.Space, "space.invite_close", in.Proof, in); err != nil {
		return OK{}, err
	}
	if in.Why != "used" && in.Why != "burned" && in.Why != "revoked" {
		return OK{}, fault.New(fault.Invalid, "space.invite_close", "an invite ends as used, burned or revoked")
	}
	n, err := tx.Changed("UPDATE space_invite SET state = ? WHERE tenant = ? AND plate = ? AND space = ? AND state = 'open'", in.Why, tenant,
		in.Plate, in.Space)
	if err == nil && n == 0 {
		err = fault.New(fault.NotFound, "space.invite_close", "there is no open invite %s in this space", clip(in.Plate))
	}
	return OK{err == nil}, err
}

// KnockIn begins to join: the joiner's first CPace message.
type KnockIn struct {
	Plate string    `json:"plate"`
	SID   []byte    `json:"sid"`
	Hello []byte    `json:"hello"`
	Card  seal.Card `json:"card"`
}

// KnockOut is the joiner's ticket, good for thirty seconds.
type KnockOut struct {
	Knock string `json:"knock"`
}

func (r *Room) knock(ctx context.Context, in KnockIn) (KnockOut, error) {
	if len(in.SID) != 16 || len(in.Hello) != 32 || in.Card.Check() != nil || !seal.IsPlate(in.Plate) {
		return KnockOut{}, fault.New(fault.Invalid, "space.knock", "the knock is malformed")
	}
	var tenant, space, inviter string
	// nobody answers for an inviter who is no longer a member
	err := r.db.QueryRow(ctx, `SELECT i.tenant, i.space, i.inviter FROM space_invite i JOIN space_member m ON m.tenant = i.tenant
		AND m.space = i.space AND m.id = i.inviter
		WHERE i.plate = ? AND i.state = 'open' AND i.expires_at > ? AND m.left_at = 0 AND m.removed_at = 0`, in.Plate, r.db.Now()).Scan(&tenant,
		&space, &inviter)
	if err != nil && !db.NoRows(err) { // where no invite is open somebody who pretends answers
		return KnockOut{}, err
	}
	ticket, ok := r.knocks.open(tenant, in.Plate, op.CallerFrom(ctx).Whence(), seal.MemberID(inviter),
		Knock{Space: space, SID: in.SID, Hello: in.Hello, Card: in.Card}, r.db.Now())
	if !ok {
		return KnockOut{}, fault.New(fault.Exhausted, "space.knock", "this code was tried %d times from where you are in the last minute",
			KnocksPerMinute).
			WithNext("wait a minute and try again")
	}
	r.wake.ring(tenant + "/" + space)
	return KnockOut{Knock: ticket}, nil
}

// NextIn continues a join: it may carry the joiner's confirmation, and waits
// for the inviter's next message.
type NextIn struct {
	Knock   string `json:"knock"`
	Confirm []byte `json:"confirm,omitempty"`
	Offer   []byte `json:"offer,omitempty"`
	Wait    int64  `json:"wait_ms,omitempty"`
}

func expired() error {
	return fault.New(fault.NotFound, "space.knock", "this attempt to join has expired").
		WithNext("join again; if it keeps happening, the inviter's tandem may not be running")
}

func (r *Room) next(ctx context.Context, in NextIn) (Knock, error) {
	n, ok := r.knocks.get(in.Knock, r.db.Now())
	if !ok {
		return Knock{}, expired()
	}
	if in.Confirm != nil {
		if n.Answer == nil || n.Confirm != nil {
			return Knock{}, fault.New(fault.Conflict, "space.knock", "a confirmation is due once, after the inviter's answer")
		}
		r.knocks.update(in.Knock, r.db.Now(), func(k *knock) { k.Confirm, k.Offer = in.Confirm, in.Offer })
		r.wake.ring(n.tenant + "/" + n.Space)
	}
	deadline := time.NewTimer(time.Duration(min(max(in.Wait, 0), 25_000)) * time.Millisecond)
	defer deadline.Stop()
	for {
		out, again, err := r.nextOnce(ctx, in.Knock, deadline.C)
		if !again {
			return out, err
		}
	}
}

// nextOnce reads a knock, and waits for a change when it is not the joiner's
// turn.
func (r *Room) nextOnce(ctx context.Context, ticket string, deadline <-chan time.Time) (out Knock, again bool, err error) {
	rung, done := r.wake.hear("knock/" + ticket)
	defer done()
	n, ok := r.knocks.get(ticket, r.db.Now())
	if !ok {
		return Knock{}, false, expired()
	}
	if n.Refused != "" || n.Bundle != nil || n.Answer != nil && n.Confirm == nil {
		return n.Knock, false, nil
	}
	if n.decoy {
		return r.pretend(ctx, n)
	}
	select {
	case <-rung:
		return n.Knock, true, nil
	case <-deadline:
	case <-ctx.Done():
	}
	return n.Knock, false, nil
}

// ReplyIn is the inviter's side of a join.
type ReplyIn struct {
	Space   string    `json:"space"`
	Knock   string    `json:"knock"`
	Answer  []byte    `json:"answer,omitempty"`
	By      seal.Card `json:"by,omitzero"`
	Welcome []byte    `json:"welcome,omitempty"`
	Bundle  []byte    `json:"bundle,omitempty"`
	Refused string    `json:"refused,omitempty"`
	Proof   Proof     `json:"proof"`
}

func (r *Room) reply(ctx context.Context, in ReplyIn) (OK, error) {
	tenant := op.CallerFrom(ctx).Tenant
	m, err := r.check(ctx, tenant, in.Space, "space.knock_reply", in.Proof, in)
	if err != nil {
		return OK{}, err
	}
	n, ok := r.knocks.get(in.Knock, r.db.Now())
	if !ok || n.tenant != tenant || n.Space != in.Space || n.inviter != m.ID {
		return OK{}, expired()
	}
	r.knocks.update(in.Knock, r.db.Now(), func(k *knock) {
		switch {
		case in.Refused != "":
			k.Refused = in.Refused
		case in.Bundle != nil:
			k.Welcome, k.Bundle = in.Welcome, in.Bundle
		case in.Answer != nil:
			k.Answer, k.By = in.Answer, in.By
		}
	})
	r.wake.ring("knock/" + in.Knock)
	return OK{true}, nil
}
