package peer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// An attachment is sealed with a key of its own, in pieces that the host keeps
// by their hashes. Its message names them and holds the key. The sender puts the
// pieces to the host before it says the message, so that whoever reads it can
// have them, and keeps its own copy as long as a host does: a host that takes
// over is given them again (offer).

// The limits of attachments.
const (
	MaxAttachment  = 8 << 20 // bytes of one
	MaxAttachments = 8       // of one message
	pieceSize      = 512<<10 - 4
	stagedFor      = 24 * time.Hour // how long one is kept that no message was sent with
)

// File is an attachment as its message names it.
type File struct {
	ID     string   `json:"id"`
	Name   string   `json:"name"`
	Size   int64    `json:"size"`
	Sum    string   `json:"sha256"` // of what it holds
	Key    seal.Key `json:"key"`
	Pieces []string `json:"pieces"` // SHA-256 of each sealed piece
}

// sum names what an attachment holds, as an approval shows it.
func (f File) sum() string { return fmt.Sprintf("%d bytes, SHA-256 %s", f.Size, f.Sum) }

// pieceOf binds a piece to its place.
func (f File) pieceOf(n int) []byte { return fmt.Appendf(nil, "%s/%d/%d", f.ID, n, len(f.Pieces)) }

// sealFile seals what an attachment holds.
func sealFile(name string, data []byte) (f File, boxes [][]byte, err error) {
	sum := sha256.Sum256(data)
	f = File{ID: id.New("att"), Name: name, Size: int64(len(data)), Sum: hex.EncodeToString(sum[:])}
	if f.Key, err = seal.NewKey(); err != nil {
		return f, nil, err
	}
	f.Pieces = make([]string, max(1, (len(data)+pieceSize-1)/pieceSize))
	for n := range f.Pieces {
		part := data[n*pieceSize : min((n+1)*pieceSize, len(data))]
		box, err := f.Key.Wrap("attachment", f.pieceOf(n), part)
		if err != nil {
			return f, nil, err
		}
		f.Pieces[n] = space.PieceHash(box)
		boxes = append(boxes, box)
	}
	return f, boxes, nil
}

// SafeName is the name under which an attachment is written: one part of a path
// on every system, that hides nothing. "" when there is none.
func SafeName(name string) string {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	device := len(stem) == 4 && strings.ContainsAny(stem[3:], "0123456789") && (stem[:3] == "com" || stem[:3] == "lpt")
	switch {
	case name == "" || len(name) > 120 || !utf8.ValidString(name) || strings.TrimSpace(name) != name,
		strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-") || strings.HasSuffix(name, "."),
		name != path.Base(name) || strings.ContainsAny(name, `/\:*?"<>|`),
		device || stem == "con" || stem == "prn" || stem == "aux" || stem == "nul":
		return ""
	}
	for _, r := range name {
		if !unicode.IsPrint(r) || unicode.Is(unicode.Cf, r) {
			return ""
		}
	}
	return name
}

// shown is the name of an attachment that a member sent, made safe.
func (f File) shown(n int) string {
	if name := SafeName(f.Name); name != "" {
		return name
	}
	return fmt.Sprintf("attachment-%d", n+1)
}

// keepFile puts a sealed attachment on this disk. It is sent with a message later.
func (r *Room) keepFile(ctx context.Context, s *seat, f File, boxes [][]byte) error {
	about, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("write attachment: %w", err)
	}
	box, err := r.key.Wrap("attachment", []byte(f.ID), about)
	if err != nil {
		return err
	}
	return r.db.Write(ctx, func(tx *db.Tx) error {
		if err := tidy(tx); err != nil {
			return err
		}
		var kept int64
		if err := tx.QueryRow("SELECT count(*) FROM peer_piece WHERE tenant = ? AND seat = ?", s.tenant, s.id).Scan(&kept); err != nil {
			return err
		}
		if (kept+int64(len(boxes)))*space.MaxPiece > space.PiecesOfMember+MaxAttachment {
			return fault.New(fault.Conflict, "space.attach", "%d MiB of your attachments in this space are kept, and there is no room for more",
				space.PiecesOfMember>>20).WithNext("each is forgotten after %d days, and after a day when no message was sent with it",
				int(space.PieceLife.Hours()/24))
		}
		if _, err := tx.Exec("INSERT INTO peer_attachment (tenant, seat, id, about, said, created_at) VALUES (?, ?, ?, ?, 0, ?)", s.tenant, s.id,
			f.ID, box, tx.Now()); err != nil {
			return err
		}
		for n, box := range boxes {
			if _, err := tx.Exec("INSERT INTO peer_piece (tenant, seat, attachment, n, hash, term, box) VALUES (?, ?, ?, ?, ?, 0, ?)", s.tenant,
				s.id, f.ID, n, f.Pieces[n], box); err != nil {
				return err
			}
		}
		return nil
	})
}

// tidy forgets own attachments as a host does, and those that were never sent.
func tidy(tx *db.Tx) error {
	if _, err := tx.Exec("DELETE FROM peer_attachment WHERE created_at <= ? OR (said = 0 AND created_at <= ?)", tx.Now().Add(-space.PieceLife),
		tx.Now().Add(-stagedFor)); err != nil {
		return err
	}
	_, err := tx.Exec(`DELETE FROM peer_piece WHERE NOT EXISTS (SELECT 1 FROM peer_attachment a
		WHERE a.tenant = peer_piece.tenant AND a.seat = peer_piece.seat AND a.id = peer_piece.attachment)`)
	return err
}

// staged are attachments of this seat that a message is to be sent with.
func (r *Room) staged(ctx context.Context, s *seat, ids []string) ([]File, error) {
	if len(ids) == 0 || len(ids) > MaxAttachments {
		return nil, fault.New(fault.Invalid, "space.send_files", "a message has 1 to %d attachments", MaxAttachments)
	}
	var out []File
	for _, id := range ids {
		var box []byte
		err := r.db.QueryRow(ctx, "SELECT about FROM peer_attachment WHERE tenant = ? AND seat = ? AND id = ?", s.tenant, s.id, id).Scan(&box)
		if db.NoRows(err) {
			return nil, fault.New(fault.NotFound, "space.send_files", "there is no attachment %s of yours in this space", clip(id)).
				WithNext("bring it again: tandem space send MESSAGE --attach FILE")
		}
		if err != nil {
			return nil, err
		}
		var f File
		about, err := r.key.Unwrap("attachment", []byte(id), box)
		if err == nil {
			err = json.Unmarshal(about, &f)
		}
		if err != nil {
			return nil, fmt.Errorf("read attachment %s: %w", id, err)
		}
		out = append(out, f)
	}
	return out, nil
}

// size is a number of bytes for people.
func size(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
