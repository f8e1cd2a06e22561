package peer

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/space"
)

// noise is content that nothing can shrink, the same each time.
func noise(n int) []byte {
	out, from := make([]byte, n), rand.New(rand.NewPCG(1, 2))
	for i := range out {
		out[i] = byte(from.Uint32())
	}
	return out
}

// sendFile sends a message with one attachment and returns the message's id.
func sendFile(h *house, who, name string, data []byte, to string) string {
	h.t.Helper()
	a := do[Attached](h, who, "space.attach", AttachIn{Name: name, Data: data})
	return do[Said](h, who, "space.send_files", SendFilesIn{SendIn: SendIn{Type: "chat", Message: "here it is", To: to},
		Attachments: []string{a.ID}}).ID
}

func (h *house) exec(q string, args ...any) {
	h.t.Helper()
	if err := h.db.Write(h.t.Context(), func(tx *db.Tx) error {
		n, err := tx.Exec(q, args...)
		if rows, _ := n.RowsAffected(); err == nil && rows == 0 {
			h.t.Fatalf("%s changed nothing", q)
		}
		return err
	}); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) count(q string) (n int) {
	h.t.Helper()
	if err := h.db.QueryRow(h.t.Context(), q).Scan(&n); err != nil {
		h.t.Fatal(err)
	}
	return n
}

func TestAttachmentsHere(t *testing.T) {
	h := newHouse(t)
	seated(h, "ann", "bob", "cy")
	whole := noise(MaxAttachment)
	id := sendFile(h, "ann", "report.pdf", whole, "bob")
	box := do[Inbox](h, "bob", "space.inbox", InboxIn{})
	h.contains(box.Text, "attachment report.pdf, 8.0 MiB: tandem space attachment save "+id)
	if a := box.Messages[0].Attachments; len(a) != 1 || a[0].Name != "report.pdf" || a[0].Size != MaxAttachment {
		t.Fatalf("%+v", a)
	}
	got := do[Attachment](h, "bob", "space.attachment", AttachmentIn{ID: id})
	if !bytes.Equal(got.Data, whole) || got.From != "ann" || got.Name != "report.pdf" {
		t.Errorf("%s from %s: %d bytes", got.Name, got.From, len(got.Data))
	}
	h.refused("cy", "space.attachment", AttachmentIn{ID: id}, fault.NotFound) // it was for bob
	// Two, one of them empty, to two: each is found by its number, and by its name in a search.
	one := do[Attached](h, "ann", "space.attach", AttachIn{Name: "empty.txt"})
	two := do[Attached](h, "ann", "space.attach", AttachIn{Name: "notes.txt", Data: []byte("kept")})
	both := do[Said](h, "ann", "space.send_files", SendFilesIn{SendIn: SendIn{Type: "chat", Message: "two", To: "bob,cy"},
		Attachments: []string{one.ID, two.ID}})
	mine := do[Inbox](h, "cy", "space.inbox", InboxIn{}).Messages[0].ID
	if got := do[Attachment](h, "cy", "space.attachment", AttachmentIn{ID: mine, N: 2}); string(got.Data) != "kept" {
		t.Errorf("%q", got.Data)
	}
	if got := do[Attachment](h, "cy", "space.attachment", AttachmentIn{ID: mine, N: 1}); len(got.Data) != 0 || got.Size != 0 {
		t.Errorf("%+v", got)
	}
	h.contains(h.refused("cy", "space.attachment", AttachmentIn{ID: mine}, fault.Invalid), "1 to 2; say which")
	if found := do[Inbox](h, "ann", "space.inbox", InboxIn{Text: "notes.txt"}).Messages; len(found) != 1 || found[0].ID != both.ID {
		t.Errorf("found %+v", found)
	}
	// Somebody else's, one too large, and names that are no file's.
	theirs := SendFilesIn{SendIn: SendIn{Type: "chat", Message: "x"}, Attachments: []string{two.ID}}
	h.refused("bob", "space.send_files", theirs, fault.NotFound)
	h.contains(h.refused("ann", "space.attach", AttachIn{Name: "big", Data: make([]byte, MaxAttachment+1)}, fault.Invalid), "8 MiB")
	for _, name := range []string{"", "../x", "a/b", `a\b`, ".bashrc", "-rf", "x\n", "con", "COM1.txt", "a:b", " x", "x.", "a\u202eb",
		strings.Repeat("x", 200)} {
		if SafeName(name) != "" {
			t.Errorf("%q is the name of an attachment", name)
		}
	}
}

func TestAttachmentsOfAnotherMachine(t *testing.T) {
	a, b := far(t)
	a.tape = &tape{}
	a.again()
	b.lostNothing("bob")
	words := bytes.Repeat([]byte("not for the host "), 60_000) // two pieces
	id := sendFile(b.house, "bob", "secret-plan.txt", words, "ann")
	if got := do[Attachment](a.house, "ann", "space.attachment", AttachmentIn{ID: id}); !bytes.Equal(got.Data, words) {
		t.Errorf("ann, at the host, got %d bytes", len(got.Data))
	}
	id = sendFile(a.house, "ann", "back.txt", words, "bob")
	if got := do[Attachment](b.house, "bob", "space.attachment", AttachmentIn{ID: id}); !bytes.Equal(got.Data, words) {
		t.Errorf("bob, far away, got %d bytes", len(got.Data))
	}
	a.tape.mu.Lock()
	defer a.tape.mu.Unlock()
	for _, secret := range []string{"not for the host", "secret-plan", "bm90IGZvciB0aGUgaG9zdC"} {
		if bytes.Contains(a.tape.all.Bytes(), []byte(secret)) {
			t.Errorf("%q was on the wire", secret)
		}
	}
	if !bytes.Contains(a.tape.all.Bytes(), []byte("space.piece_put")) {
		t.Error("no piece was on the wire")
	}
}

// lostNothing waits until a member reaches its host again.
func (m *machine) lostNothing(who string) {
	m.t.Helper()
	eventually(m.t, who+" reaching the host", func() bool {
		return !strings.Contains(do[Peers](m.house, who, "space.peers", nil).Health, "cannot be reached")
	})
}

// What waits for a host that is away waits with its attachment, through a
// restart, and nobody sees the message before the attachment can be had.
func TestAnAttachmentWaitsWithItsMessage(t *testing.T) {
	a, b := far(t)
	a.unplug()
	b.lost("bob")
	data := noise(700_000)
	staged := do[Attached](b.house, "bob", "space.attach", AttachIn{Name: "later.bin", Data: data})
	said := do[Said](b.house, "bob", "space.send_files", SendFilesIn{SendIn: SendIn{Type: "chat", Message: "late"},
		Attachments: []string{staged.ID}})
	if said.State != "queued" {
		t.Fatalf("%+v", said)
	}
	b.again()
	a.listen(nil)
	var got []Message
	eventually(t, "the message", func() bool {
		got = append(got, do[Inbox](a.house, "ann", "space.inbox", InboxIn{}).Messages...)
		return len(got) > 0
	})
	if have := do[Attachment](a.house, "ann", "space.attachment", AttachmentIn{ID: got[0].ID}); !bytes.Equal(have.Data, data) {
		t.Errorf("%d bytes", len(have.Data))
	}
}

// A host that alters, swaps or withholds what it keeps is named, and what was
// kept long enough is forgotten.
func TestAHostThatLiesAboutAttachments(t *testing.T) {
	a, b := far(t)
	data := noise(600_000)
	id := sendFile(a.house, "ann", "plan.bin", data, "bob")
	other := sendFile(a.house, "ann", "other.bin", noise(600_000)[1:], "bob")
	do[Inbox](b.house, "bob", "space.inbox", InboxIn{})
	read := func(kind fault.Kind, want ...string) {
		t.Helper()
		b.contains(b.refused("bob", "space.attachment", AttachmentIn{ID: id}, kind), append(want, "plan.bin", "ann")...)
	}
	pieces := do[Attachment](b.house, "bob", "space.attachment", AttachmentIn{ID: other})
	if len(pieces.Data) == 0 {
		t.Fatal("nothing to swap")
	}
	first := b.fileOf("bob", id).Pieces[0]
	a.exec("UPDATE space_piece SET box = x'00' WHERE hash = ?", first)
	read(fault.Conflict, "the space's host ("+a.addr+") gave other bytes than ann sent: piece 1 of 2")
	a.exec("UPDATE space_piece SET box = (SELECT box FROM space_piece WHERE hash = ?) WHERE hash = ?", b.fileOf("bob", other).Pieces[0], first)
	read(fault.Conflict, "gave other bytes than ann sent")
	a.exec("DELETE FROM space_piece WHERE hash = ?", first)
	read(fault.NotFound, "the space's host ("+a.addr+") does not give out piece 1 of 2")
	// What ann sent is on her own machine, whatever the host does.
	if got := do[Attachment](a.house, "ann", "space.attachment", AttachmentIn{ID: id}); !bytes.Equal(got.Data, data) {
		t.Error("ann does not have her own")
	}
	// A month goes by.
	a.exec("UPDATE space_piece SET created_at = created_at - ?", space.PieceLife.Microseconds())
	if due, err := a.space.Due(t.Context()); err != nil || !due {
		t.Fatal(due, err)
	}
	if _, err := a.gate.Invoke(a.as("ann"), "space.sweep", nil); err != nil {
		t.Fatal(err)
	}
	if n := a.count("SELECT count(*) FROM space_piece"); n != 0 {
		t.Errorf("%d pieces are kept after their time", n)
	}
	b.exec("UPDATE peer_log SET at = at - ?", space.PieceLife.Microseconds())
	read(fault.NotFound, "a host keeps attachments for 30 days")
}

// fileOf is the attachment of a message in a member's own log.
func (h *house) fileOf(who, id string) File {
	h.t.Helper()
	s := h.seat(who)
	s.mu.Lock()
	defer s.mu.Unlock()
	found, err := h.peers.messages(h.t.Context(), s, "env = ?", 1, id)
	if err != nil || len(found) != 1 {
		h.t.Fatal(found, err)
	}
	return found[0].Words.Files[0]
}

// A space that moves to another host has its attachments there, too: their
// senders bring them.
func TestANewHostIsGivenTheAttachments(t *testing.T) {
	a, b := far(t)
	c := newMachine(t)
	do[Who](c.house, "cy", "space.rename", RenameIn{Name: "cy"})
	do[Joined](c.house, "cy", "space.join", JoinIn{Code: do[Invited](a.house, "ann", "space.invite", InviteIn{Link: true}).Code})
	data := noise(900_000)
	id := sendFile(b.house, "bob", "moves.bin", data, "")
	do[Inbox](c.house, "cy", "space.inbox", InboxIn{})
	a.unplug()
	c.takeOver("cy")
	eventually(t, "the pieces at the new host", func() bool { return c.count("SELECT count(*) FROM space_piece") == 2 })
	if got := do[Attachment](c.house, "cy", "space.attachment", AttachmentIn{ID: id}); !bytes.Equal(got.Data, data) {
		t.Errorf("%d bytes", len(got.Data))
	}
}

// So much, and no more, of one member.
func TestAHostKeepsSoMuch(t *testing.T) {
	h := newHouse(t)
	seated(h, "ann", "bob")
	id := sendFile(h, "ann", "small.bin", noise(1000), "")
	h.exec("UPDATE space_piece SET size = ?", space.PiecesOfMember-100)
	a := do[Attached](h, "ann", "space.attach", AttachIn{Name: "more.bin", Data: noise(1000)})
	in := SendFilesIn{SendIn: SendIn{Type: "chat", Message: "no room"}, Attachments: []string{a.ID}}
	h.contains(h.refused("ann", "space.send_files", in, fault.Conflict), "keeps 64 MiB of a member's attachments", "30 days")
	if all := do[Inbox](h, "bob", "space.inbox", InboxIn{}).Messages; len(all) != 1 || all[0].ID != id {
		t.Errorf("a message went without its attachment: %+v", all)
	}
	sendFile(h, "bob", "mine.bin", noise(1000), "")
	h.exec("UPDATE space_piece SET size = ?", space.PiecesOfSpace/2)
	b := do[Attached](h, "bob", "space.attach", AttachIn{Name: "x.bin", Data: []byte("x")})
	h.exec("UPDATE space_piece SET member = 'somebody'")
	h.contains(h.refused("bob", "space.send_files", SendFilesIn{SendIn: SendIn{Type: "chat", Message: "x"}, Attachments: []string{b.ID}},
		fault.Conflict), "keeps 256 MiB of a space's attachments")
	// What no message was sent with is kept for a day.
	b = do[Attached](h, "bob", "space.attach", AttachIn{Name: "z.bin", Data: []byte("z")})
	h.exec("UPDATE peer_attachment SET created_at = created_at - ? WHERE id = ?", 2*stagedFor.Microseconds(), b.ID)
	do[Attached](h, "bob", "space.attach", AttachIn{Name: "y.bin", Data: []byte("y")})
	if n := h.count("SELECT count(*) FROM peer_piece p LEFT JOIN peer_attachment a ON a.id = p.attachment WHERE a.id IS NULL"); n != 0 {
		t.Errorf("%d pieces belong to nothing", n)
	}
	h.refused("bob", "space.send_files", SendFilesIn{SendIn: SendIn{Type: "chat", Message: "x"}, Attachments: []string{b.ID}}, fault.NotFound)
}
