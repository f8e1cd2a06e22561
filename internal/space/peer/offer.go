package peer

import (
	"context"
	"database/sql"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/space"
)

// bring puts the attachments of an own message to the host of now, before the
// message. What it has already is not sent again. The caller holds s.mu, which
// is given away while bytes travel.
func (r *Room) bring(ctx context.Context, s *seat, content []byte) error {
	for _, f := range wordsOf(content).Files {
		if err := r.offer(ctx, s, f.ID); err != nil {
			return err
		}
		var n int
		if err := r.db.QueryRow(ctx, "SELECT count(*) FROM peer_piece WHERE tenant = ? AND seat = ? AND attachment = ? AND term = ?", s.tenant,
			s.id, f.ID, s.term).Scan(&n); err != nil {
			return err
		}
		if n != len(f.Pieces) {
			return fault.New(fault.Conflict, "space.send", "the attachment %s waited too long and is not on this machine any more", clip(f.Name)).
				WithNext("send the message again with the file")
		}
	}
	return nil
}

// offer puts the pieces of one attachment that the host of this term was not
// given yet.
func (r *Room) offer(ctx context.Context, s *seat, attachment string) error {
	for {
		var n int
		in, term := space.PieceIn{Space: s.space}, s.term
		err := r.db.QueryRow(ctx, `SELECT n, hash, box FROM peer_piece WHERE tenant = ? AND seat = ? AND attachment = ? AND term <> ?
			ORDER BY n LIMIT 1`, s.tenant, s.id, attachment, term).Scan(&n, &in.Hash, &in.Box)
		if db.NoRows(err) {
			return nil
		}
		if err != nil {
			return err
		}
		in.Proof = space.Prove(s.me, string(space.SpacePiecePut), in, r.now())
		l := s.link
		s.mu.Unlock()
		_, err = ask(ctx, l, space.SpacePiecePut, in)
		s.mu.Lock()
		if err != nil {
			return err
		}
		if err := s.usable(); err != nil {
			return err
		}
		if err := r.db.Write(ctx, func(tx *db.Tx) error {
			_, err := tx.Exec("UPDATE peer_piece SET term = ? WHERE tenant = ? AND seat = ? AND attachment = ? AND n = ?", term, s.tenant, s.id,
				attachment, n)
			return err
		}); err != nil {
			return err
		}
	}
}

// offerAgain gives a host that took over what this member attached earlier. The
// caller does not hold s.mu.
func (r *Room) offerAgain(ctx context.Context, s *seat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	term := s.term
	err := r.db.Write(ctx, tidy)
	var ids []string
	if err == nil {
		rows, qerr := r.db.Query(ctx, `SELECT DISTINCT a.id FROM peer_attachment a JOIN peer_piece p ON p.tenant = a.tenant AND p.seat = a.seat
			AND p.attachment = a.id WHERE a.tenant = ? AND a.seat = ? AND a.said = 1 AND p.term <> ? ORDER BY a.id`, s.tenant, s.id, term)
		ids, err = db.Collect(rows, qerr, func(rows *sql.Rows) (id string, err error) { return id, rows.Scan(&id) })
	}
	for _, id := range ids {
		if err == nil {
			err = r.offer(ctx, s, id)
		}
	}
	s.offering = false
	if err != nil && ctx.Err() == nil {
		r.log.Warn("attachments not given to the new host", "space", s.space, "err", err)
	}
	if err == nil || !fault.Is(err, fault.Unavailable) { // what it refuses now, it refuses again
		s.offered = term
	}
}
