package peer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// AttachIn brings a file that a message is to be sent with.
type AttachIn struct {
	Name string `json:"name" jsonschema:"its name, without folders"`
	Data []byte `json:"data" jsonschema:"what it holds, 8 MiB at most"`
	Which
}

// Attached is an attachment as people see it.
type Attached struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Size int64  `json:"size"`
	Sum  string `json:"sha256" jsonschema:"SHA-256 of what it holds, in hex"`
}

func (f File) attached(n int) Attached {
	return Attached{ID: f.ID, Name: f.shown(n), Size: f.Size, Sum: f.Sum}
}

func (r *Room) opAttach(ctx context.Context, in AttachIn) (Attached, error) {
	switch {
	case SafeName(in.Name) == "":
		return Attached{}, fault.New(fault.Invalid, "space.attach", "%q cannot be the name of an attachment", clip(in.Name)).
			WithNext("name it with letters and digits, without folders, and not with a dot or a dash first")
	case len(in.Data) > MaxAttachment:
		return Attached{}, fault.New(fault.Invalid, "space.attach", "%s has %d bytes, and an attachment may have %d MiB", clip(in.Name),
			len(in.Data), MaxAttachment>>20).WithNext("send a part of it, or say where it can be found")
	}
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Attached{}, err
	}
	defer s.mu.Unlock()
	if err := s.usable(); err != nil {
		return Attached{}, err
	}
	f, boxes, err := sealFile(in.Name, in.Data)
	if err != nil {
		return Attached{}, err
	}
	return f.attached(0), r.keepFile(ctx, s, f, boxes)
}

// SendFilesIn is a message with attachments.
type SendFilesIn struct {
	SendIn
	Attachments []string `json:"attachments" jsonschema:"their ids, as space.attach told them; 8 at most"`
}

func (r *Room) opSendFiles(ctx context.Context, in SendFilesIn) (Said, error) {
	if err := in.check(); err != nil {
		return Said{}, err
	}
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Said{}, err
	}
	defer s.mu.Unlock()
	files, err := r.staged(ctx, s, in.Attachments)
	if err != nil {
		return Said{}, err
	}
	for _, f := range files {
		if err := meant(ctx, attachmentNamed(f), f.sum()); err != nil {
			return Said{}, err
		}
	}
	root, to, err := r.replying(ctx, s, in.SendIn)
	if err != nil {
		return Said{}, err
	}
	if err := r.db.Write(ctx, func(tx *db.Tx) error { // from now on they are kept for whichever host comes
		for _, f := range files {
			if _, err := tx.Exec("UPDATE peer_attachment SET said = 1 WHERE tenant = ? AND seat = ? AND id = ?", s.tenant, s.id, f.ID); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return Said{}, err
	}
	did := fmt.Sprintf("Sent %s with %d attachments", in.Type, len(files))
	if len(files) == 1 {
		did = fmt.Sprintf("Sent %s with %s", in.Type, escape(files[0].Name))
	}
	return r.say(ctx, s, Words{Type: in.Type, Text: in.Message, Re: root, Files: files}, to, did)
}

func attachmentNamed(f File) string { return "attachment " + f.Name + " (" + f.ID + ")" }

// bindSendFiles adds what the attachments hold to whom the message is for.
func (r *Room) bindSendFiles(ctx context.Context, in SendFilesIn) ([]op.Bound, error) {
	out, err := r.bindSend(ctx, in.SendIn)
	if err != nil {
		return nil, err
	}
	s, err := r.enterSeat(choosing(ctx, in))
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	files, err := r.staged(ctx, s, in.Attachments)
	for _, f := range files {
		out = append(out, op.Bound{Name: attachmentNamed(f), Value: f.sum()})
	}
	return out, err
}

// AttachmentIn asks for an attachment of a message.
type AttachmentIn struct {
	ID string `json:"id" jsonschema:"of the message"`
	N  int    `json:"n,omitempty" jsonschema:"which of its attachments, from 1; may be left out when there is one"`
	Which
}

// Attachment is one with what it holds.
type Attachment struct {
	Attached
	From string `json:"from"`
	Data []byte `json:"data"`
}

func (r *Room) opAttachment(ctx context.Context, in AttachmentIn) (Attachment, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Attachment{}, err
	}
	defer s.mu.Unlock()
	r.fresh(ctx, s) // it may have been said a moment ago
	found, err := r.messages(ctx, s, "l.env = ?", 1, in.ID)
	if err != nil {
		return Attachment{}, err
	}
	if len(found) == 0 || len(found[0].Words.Files) == 0 {
		return Attachment{}, fault.New(fault.NotFound, "space.attachment", "there is no message %s with attachments in this space", clip(in.ID)).
			WithNext("see intandem_inbox with all=true")
	}
	m, files := found[0], found[0].Words.Files
	if in.N == 0 && len(files) == 1 {
		in.N = 1
	}
	if in.N < 1 || in.N > len(files) {
		return Attachment{}, fault.New(fault.Invalid, "space.attachment", "%s has attachments 1 to %d; say which", m.ID, len(files))
	}
	f := files[in.N-1]
	data, err := r.fetch(ctx, s, m, f, f.shown(in.N-1))
	if err != nil {
		return Attachment{}, err
	}
	return Attachment{Attached: f.attached(in.N - 1), From: s.name(seal.MemberID(m.From)), Data: data}, nil
}

// fetch reads an attachment from this disk or from the host, and believes
// neither: every piece has the hash that its sender named. The caller holds
// s.mu, which is given away while bytes travel.
func (r *Room) fetch(ctx context.Context, s *seat, m item, f File, name string) ([]byte, error) {
	from := s.name(seal.MemberID(m.From))
	if f.Size > MaxAttachment || len(f.Pieces) > MaxAttachment/pieceSize+1 {
		return nil, fault.New(fault.Invalid, "space.attachment", "%s is larger than an attachment may be, by what %s says", name, from)
	}
	var all bytes.Buffer
	for n, hash := range f.Pieces {
		var box []byte
		err := r.db.QueryRow(ctx, "SELECT box FROM peer_piece WHERE tenant = ? AND seat = ? AND attachment = ? AND hash = ?", s.tenant, s.id,
			f.ID,
			hash).Scan(&box)
		if db.NoRows(err) {
			box, err = r.piece(ctx, s, hash)
		}
		place := fmt.Sprintf("piece %d of %d of %s", n+1, len(f.Pieces), name)
		switch {
		case reason(err) == "piece":
			return nil, s.withheld(m, from, place, r.now())
		case err != nil:
			return nil, err
		case space.PieceHash(box) != hash:
			return nil, fault.New(fault.Conflict, "space.attachment",
				"the space's host (%s) gave other bytes than %s sent: %s does not have its hash",
				s.hostName(), from, place).With("reason", "altered").
				WithNext("nothing was written; tell the others, and ask %s to send it another way", from)
		}
		part, err := f.Key.Unwrap("attachment", f.pieceOf(n), box)
		if err != nil {
			return nil, fault.New(fault.Invalid, "space.attachment", "%s does not open: %s sealed it wrongly", place, from).
				WithNext("ask %s to send it again", from)
		}
		all.Write(part)
	}
	sum := sha256.Sum256(all.Bytes())
	if int64(all.Len()) != f.Size || hex.EncodeToString(sum[:]) != f.Sum {
		return nil, fault.New(fault.Invalid, "space.attachment", "%s is not what %s says it is: size or hash differ", name, from).
			WithNext("ask %s to send it again", from)
	}
	return all.Bytes(), nil
}

// piece asks the host for a piece.
func (r *Room) piece(ctx context.Context, s *seat, hash string) ([]byte, error) {
	in := space.PieceIn{Space: s.space, Hash: hash}
	in.Proof = space.Prove(s.me, string(space.SpacePieceGet), in, r.now())
	l := s.link
	s.mu.Unlock()
	defer s.mu.Lock()
	out, err := ask(ctx, l, space.SpacePieceGet, in)
	return out.Box, err
}

// withheld says what it means that a host does not have a piece: it is
// forgotten after its time, and before that the host broke its word, or took
// the space over from another a moment ago.
func (s *seat) withheld(m item, from, place string, now time.Time) error {
	at, days := micros(m.At), int(space.PieceLife.Hours()/24)
	if now.Sub(at) >= space.PieceLife {
		return fault.New(fault.NotFound, "space.attachment", "%s was sent on %s, and a host keeps attachments for %d days", place,
			at.Format(time.DateOnly), days).With("reason", "forgotten").WithNext("ask %s to send it again", from)
	}
	return fault.New(fault.NotFound, "space.attachment",
		"the space's host (%s) does not give out %s, which it had before the message came and has to keep for %d days",
		s.hostName(), place, days).With("reason", "withheld").
		WithNext("if the space moved to another host just now, try again in a moment; else ask %s to send it again", from)
}

func (s *seat) hostName() string { return orElse(s.host, "this machine") }
