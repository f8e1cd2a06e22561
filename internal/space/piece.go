package space

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// An attachment of a message is kept by the host in sealed pieces, outside the
// log: the message says which, and holds their key.

// PieceIn brings one piece, or asks for it.
type PieceIn struct {
	Space string `json:"space"`
	Hash  string `json:"hash" jsonschema:"SHA-256 of the sealed bytes, in hex"`
	Box   []byte `json:"box,omitempty" jsonschema:"the sealed bytes"`
	Proof Proof  `json:"proof"`
}

// PieceOut is one piece, or that it is stored.
type PieceOut struct {
	Hash  string `json:"hash"`
	Box   []byte `json:"box,omitempty"`
	Again bool   `json:"again,omitempty"` // it was here already
}

// PieceHash is the name of a piece.
func PieceHash(box []byte) string {
	sum := sha256.Sum256(box)
	return hex.EncodeToString(sum[:])
}

func (r *Room) putPiece(ctx context.Context, tx *db.Tx, in PieceIn) (PieceOut, error) {
	tenant, out := op.CallerFrom(ctx).Tenant, PieceOut{Hash: in.Hash}
	s, err := lock(tx, tenant, in.Space)
	if err != nil {
		return out, err
	}
	if err := proven(tx, tenant, in.Space, string(SpacePiecePut), in.Proof, in); err != nil {
		return out, err
	}
	if s.state != stateOpen {
		return out, steppedDown(s)
	}
	if len(in.Box) == 0 || len(in.Box) > MaxPiece {
		return out, fault.New(fault.Invalid, string(SpacePiecePut), "a piece has 1 to %d bytes", MaxPiece)
	}
	if PieceHash(in.Box) != in.Hash {
		return out, fault.New(fault.Invalid, string(SpacePiecePut), "the piece does not have the hash that it was sent with")
	}
	if _, err := tx.Exec("DELETE FROM space_piece WHERE created_at <= ?", tx.Now().Add(-PieceLife)); err != nil {
		return out, err
	}
	var here, all, own int64
	if err := tx.QueryRow(`SELECT count(CASE WHEN hash = ? THEN 1 END), coalesce(sum(size), 0), coalesce(sum(CASE WHEN
		member = ? THEN size END), 0)
		FROM space_piece WHERE tenant = ? AND space = ?`, in.Hash, in.Proof.Member, tenant, in.Space).Scan(&here, &all, &own); err != nil {
		return out, err
	}
	n := int64(len(in.Box))
	switch {
	case here > 0:
		out.Again = true
		return out, nil
	case own+n > PiecesOfMember:
		return out, full("a member's", PiecesOfMember)
	case all+n > PiecesOfSpace:
		return out, full("a space's", PiecesOfSpace)
	}
	op.Note(ctx, "space", in.Space)
	op.Note(ctx, "piece", in.Hash)
	op.Note(ctx, "from", in.Proof.Member)
	op.Note(ctx, "size", n)
	_, err = tx.Exec("INSERT INTO space_piece (tenant, space, hash, member, size, created_at, box) VALUES (?, ?, ?, ?, ?, ?, ?)", tenant,
		in.Space, in.Hash, in.Proof.Member, n, tx.Now(), in.Box)
	return out, err
}

func full(whose string, limit int64) error {
	return fault.New(fault.Conflict, string(SpacePiecePut), "the host keeps %d MiB of %s attachments, and that is used up", limit>>20, whose).
		With("reason", "room").WithNext("send less; each is forgotten after %d days", int(PieceLife.Hours()/24))
}

func (r *Room) getPiece(ctx context.Context, in PieceIn) (PieceOut, error) {
	tenant, out := op.CallerFrom(ctx).Tenant, PieceOut{Hash: in.Hash}
	if _, err := r.check(ctx, tenant, in.Space, string(SpacePieceGet), in.Proof, in); err != nil {
		return out, err
	}
	err := r.db.QueryRow(ctx, "SELECT box FROM space_piece WHERE tenant = ? AND space = ? AND hash = ? AND created_at > ?", tenant, in.Space,
		in.Hash, r.db.Now().Add(-PieceLife)).Scan(&out.Box)
	if db.NoRows(err) {
		return out, fault.New(fault.NotFound, string(SpacePieceGet), "there is no piece %s here", clip(in.Hash)).With("reason", "piece")
	}
	return out, err
}

// SweepOut says what was forgotten.
type SweepOut struct {
	Pieces int64 `json:"pieces"`
}

func (r *Room) sweep(ctx context.Context, tx *db.Tx, _ struct{}) (SweepOut, error) {
	res, err := tx.Exec("DELETE FROM space_piece WHERE created_at <= ?", tx.Now().Add(-PieceLife))
	if err != nil {
		return SweepOut{}, err
	}
	n, err := res.RowsAffected()
	op.Note(ctx, "pieces", n)
	return SweepOut{Pieces: n}, err
}

// Due reports whether sweeping would forget anything, so that an idle host
// writes nothing.
func (r *Room) Due(ctx context.Context) (bool, error) {
	var oldest int64
	err := r.db.QueryRow(ctx, "SELECT coalesce(min(created_at), 0) FROM space_piece").Scan(&oldest)
	return oldest > 0 && r.db.Now().Sub(db.Time(oldest)) >= PieceLife, err
}
