package peer

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// invite makes a code for this space. The secret half never leaves this daemon.
func (r *Room) invite(ctx context.Context, s *seat, link bool, ttl time.Duration) (seal.Invite, time.Time, error) {
	if err := s.usable(); err != nil {
		return seal.Invite{}, time.Time{}, err
	}
	for range 20 {
		inv, err := seal.NewCode()
		if err != nil {
			return inv, time.Time{}, err
		}
		host, pin := r.reach(s)
		inv.Host = host
		if link {
			if inv, err = seal.NewLink(inv.Plate, host, pin); err != nil {
				return inv, time.Time{}, err
			}
		}
		in := space.InviteIn{Space: s.space, Plate: inv.Plate, TTL: ttl.Milliseconds()}
		in.Proof = space.Prove(s.me, string(space.SpaceInviteOpen), in, r.now())
		out, err := ask(ctx, s.link, space.SpaceInviteOpen, in)
		if reason(err) == "plate" {
			continue
		}
		if err != nil {
			return inv, time.Time{}, err
		}
		box, err := r.key.Wrap("invite", []byte(s.id+"/"+inv.Plate), []byte(inv.Secret))
		if err != nil {
			return inv, time.Time{}, err
		}
		s.invites++
		if s.drop != nil { // whoever knocks is shown to this seat alone
			s.drop()
		}
		return inv, out.Expires, r.db.Write(ctx, func(tx *db.Tx) error {
			_, err := tx.Exec(`INSERT INTO peer_invite (tenant, seat, plate, secret, state, expires_at) VALUES (?, ?, ?, ?, 'open', ?)
				ON CONFLICT (tenant, seat, plate) DO UPDATE SET secret = excluded.secret, state = 'open', guesses = 0,
				expires_at = excluded.expires_at`, s.tenant, s.id, inv.Plate, box, out.Expires)
			return err
		})
	}
	return seal.Invite{}, time.Time{}, fault.New(fault.Exhausted, "space.invite_open", "too many invites are open on this host").
		WithNext("revoke some: tandem space revoke CODE")
}

// endInvite closes an invite here, where it counts, and at the host.
func (r *Room) endInvite(ctx context.Context, s *seat, plate, why string) error {
	var n int64
	err := r.db.Write(ctx, func(tx *db.Tx) (err error) {
		n, err = tx.Changed("UPDATE peer_invite SET state = ? WHERE tenant = ? AND seat = ? AND plate = ? AND state = 'open'", why, s.tenant,
			s.id, plate)
		return err
	})
	if err != nil {
		return err
	}
	if n == 0 {
		return fault.New(fault.NotFound, "space.revoke", "there is no open invite %s", clip(plate))
	}
	if err := r.countInvites(ctx, s); err != nil {
		return err
	}
	in := space.UninviteIn{Space: s.space, Plate: plate, Why: why}
	in.Proof = space.Prove(s.me, string(space.SpaceInviteClose), in, r.now())
	_, err = ask(ctx, s.link, space.SpaceInviteClose, in)
	return err
}

// countInvites sees whether somebody may knock.
func (r *Room) countInvites(ctx context.Context, s *seat) error {
	return r.db.QueryRow(ctx, "SELECT count(*) FROM peer_invite WHERE tenant = ? AND seat = ? AND state = 'open' AND expires_at > ?", s.tenant,
		s.id, r.db.Now()).Scan(&s.invites)
}

// joining is somebody who knocks, as the inviter knows them. A stranger may
// knock and go away, so it is forgotten when its ticket has long run out.
type joining struct {
	hand    *seal.Handshake
	began   time.Time
	decided bool
	short   bool // a code, which few guesses may be made at
}

// answerKnocks is the inviter's side. One of it runs for a seat at a time.
func (r *Room) answerKnocks(ctx context.Context, s *seat, knocks []space.Knock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.answering = false }()
	maps.DeleteFunc(s.joins, func(_ string, j *joining) bool { return r.now().Sub(j.began) > 4*space.KnockLife })
	for _, k := range knocks {
		if j := s.joins[k.ID]; j != nil && j.decided {
			continue // the host has not shown it yet
		}
		var err error
		if k.Confirm == nil {
			err = r.answer(ctx, s, k)
		} else {
			err = r.admit(ctx, s, k)
		}
		if err != nil {
			r.log.Warn("a join did not go through", "space", s.space, "knock", k.ID, "err", err)
		}
	}
}

func (r *Room) reply(ctx context.Context, s *seat, in space.ReplyIn) error {
	in.Space = s.space
	in.Proof = space.Prove(s.me, string(space.SpaceKnockReply), in, r.now())
	_, err := ask(ctx, s.link, space.SpaceKnockReply, in)
	return err
}

func (r *Room) answer(ctx context.Context, s *seat, k space.Knock) error {
	if s.joins[k.ID] != nil {
		return nil
	}
	var box []byte
	err := r.db.QueryRow(ctx, "SELECT secret FROM peer_invite WHERE tenant = ? AND seat = ? AND plate = ? AND state = "+
		"'open' AND expires_at > ?", s.tenant, s.id, k.Plate, r.db.Now()).Scan(&box)
	if db.NoRows(err) {
		return r.reply(ctx, s, space.ReplyIn{Knock: k.ID, Refused: space.NoInvite})
	}
	if err != nil {
		return err
	}
	secret, err := r.key.Unwrap("invite", []byte(s.id+"/"+k.Plate), box)
	if err != nil {
		return err
	}
	mine, err := ad(s.me.Card())
	if err != nil {
		return err
	}
	theirs, err := ad(k.Card)
	if err != nil {
		return err
	}
	h, err := seal.AnswerHandshake(secret, seal.Invite{Plate: k.Plate}.Channel(), k.SID, mine, k.Hello, theirs)
	if err != nil {
		return r.reply(ctx, s, space.ReplyIn{Knock: k.ID, Refused: "the knock is malformed"})
	}
	s.joins[k.ID] = &joining{hand: h, began: r.now(), short: seal.Invite{Secret: string(secret)}.Short()}
	return r.reply(ctx, s, space.ReplyIn{Knock: k.ID, Answer: h.Message(), By: s.me.Card()})
}

// maxGuesses is how many wrong guesses end a code: three of a million. A link has 128 bits, and no number of guesses ends it.
const maxGuesses = 3

// guessed counts a wrong guess, and says whether it was the last.
func (r *Room) guessed(ctx context.Context, s *seat, plate string) (last bool, err error) {
	var n int
	err = r.db.Write(ctx, func(tx *db.Tx) error {
		if _, err := tx.Exec("UPDATE peer_invite SET guesses = guesses + 1 WHERE tenant = ? AND seat = ? AND plate = ?", s.tenant, s.id,
			plate); err != nil {
			return err
		}
		return tx.QueryRow("SELECT guesses FROM peer_invite WHERE tenant = ? AND seat = ? AND plate = ?", s.tenant, s.id, plate).Scan(&n)
	})
	return n >= maxGuesses, err
}

// wrong answers somebody who does not know the secret.
func (r *Room) wrong(ctx context.Context, s *seat, k space.Knock, short bool) error {
	refuse := func(why string) error { return r.reply(ctx, s, space.ReplyIn{Knock: k.ID, Refused: why}) }
	if !short {
		return refuse(space.NoInvite)
	}
	last, err := r.guessed(ctx, s, k.Plate)
	switch {
	case err != nil:
		return errors.Join(err, refuse("the code could not be checked; try again"))
	case last:
		return errors.Join(r.endInvite(ctx, s, k.Plate, "burned"), refuse(space.NoInvite))
	}
	return refuse(space.NoInvite)
}

// admit checks the joiner's confirmation. A right one makes the joiner a member.
func (r *Room) admit(ctx context.Context, s *seat, k space.Knock) error {
	j := s.joins[k.ID]
	if j == nil {
		return r.reply(ctx, s, space.ReplyIn{Knock: k.ID, Refused: "the inviter's tandem was restarted meanwhile; try again"})
	}
	j.decided = true
	h := j.hand
	if err := h.Confirm(k.Confirm); err != nil {
		return r.wrong(ctx, s, k, j.short)
	}
	key, err := h.Key()
	if err != nil {
		return err
	}
	raw, err := key.Unwrap("offer", k.SID, k.Offer)
	if err != nil {
		return r.reply(ctx, s, space.ReplyIn{Knock: k.ID, Refused: "the offer does not open"})
	}
	var o offer
	if err := json.Unmarshal(raw, &o); err != nil {
		return r.reply(ctx, s, space.ReplyIn{Knock: k.ID, Refused: "the offer is malformed"})
	}
	card, err := seal.CardOf(o.KeyPackage)
	if err != nil || !card.Equal(k.Card) {
		return r.reply(ctx, s, space.ReplyIn{Knock: k.ID, Refused: "the key package is not the knocker's"})
	}
	if err := r.endInvite(ctx, s, k.Plate, "used"); err != nil {
		return errors.Join(err, r.reply(ctx, s, space.ReplyIn{Knock: k.ID, Refused: space.NoInvite}))
	}
	c, seq, err := r.commit(ctx, s, func(g *seal.Group) (seal.Change, space.CommitClear, error) {
		c, err := g.Add(o.KeyPackage)
		return c, space.CommitClear{Add: []seal.Card{card}}, err
	})
	if err != nil {
		return errors.Join(err, r.reply(ctx, s, space.ReplyIn{Knock: k.ID, Refused: fault.Public(err).Msg}))
	}
	hash, err := r.hashAt(ctx, s, seq)
	if err != nil {
		return err
	}
	snap := s.snapshot()
	snap.Profiles[string(card.ID)] = Profile{Name: o.Name}
	_, pin := r.reach(s)
	plain, err := json.Marshal(bundle{Space: s.space, Welcome: c.Welcome, Key: s.sec.Space, Seq: seq, Hash: hash, Pin: pin,
		Snapshot: snap, Void: s.sec.Void})
	if err != nil {
		return err
	}
	box, err := key.Wrap("bundle", k.SID, plain)
	if err != nil {
		return err
	}
	return r.reply(ctx, s, space.ReplyIn{Knock: k.ID, Welcome: h.Tag(), Bundle: box})
}
