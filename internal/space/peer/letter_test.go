package peer

import (
	"strings"
	"testing"

	"tandem/internal/fault"
)

// A message goes to several, is answered in one conversation, and is found by its words.
func TestLettersToSeveral(t *testing.T) {
	h := newHouse(t)
	seated(h, "ann", "bob", "cy", "dee")
	said := do[Said](h, "ann", "space.send", SendIn{Type: "question", Message: "who has the staging key?", To: "bob, cy"})
	if len(said.IDs) != 2 || said.ID != said.IDs[0] {
		t.Fatalf("%+v", said)
	}
	h.contains(said.Text, "to bob, cy")
	got := do[Inbox](h, "cy", "space.inbox", InboxIn{}).Messages
	if len(got) != 1 || got[0].To != "bob, cy" || got[0].Text != "who has the staging key?" {
		t.Fatalf("cy got %+v", got)
	}
	if box := do[Inbox](h, "dee", "space.inbox", InboxIn{All: true}); len(box.Messages) != 0 {
		t.Errorf("dee, to whom nobody wrote, reads %+v", box.Messages)
	}
	// One message, and how far it came with each.
	mine := do[Inbox](h, "ann", "space.inbox", InboxIn{All: true}).Messages
	if len(mine) != 1 || mine[0].Peers["cy"] != "read" || mine[0].Peers["bob"] != "stored" {
		t.Errorf("ann's own: %+v", mine)
	}
	h.contains(do[Receipt](h, "ann", "space.receipt", ReceiptIn{ID: said.ID}).Text, "bob: stored\ncy: read")
	// An answer goes to whoever asked, and to nobody else; both know the conversation.
	do[Said](h, "cy", "space.send", SendIn{Type: "chat", Message: "I have it", ReplyTo: got[0].ID})
	do[Said](h, "bob", "space.send", SendIn{Type: "chat", Message: "nothing to do with it"})
	for who, id := range map[string]string{"ann": said.ID, "cy": got[0].ID} {
		var texts []string
		for _, m := range do[Inbox](h, who, "space.inbox", InboxIn{Thread: id}).Messages {
			texts = append(texts, m.Text)
		}
		if strings.Join(texts, "|") != "who has the staging key?|I have it" {
			t.Errorf("the conversation, for %s: %q", who, texts)
		}
	}
	if box := do[Inbox](h, "bob", "space.inbox", InboxIn{All: true}); strings.Contains(box.Text, "I have it") {
		t.Error("an answer went to somebody else, too")
	}
	found := do[Inbox](h, "ann", "space.inbox", InboxIn{Text: "STAGING key"}).Messages
	if len(found) != 1 || found[0].ID != said.ID {
		t.Errorf("found %+v", found)
	}
	why := h.refused("bob", "space.send", SendIn{Type: "chat", Message: "x", ReplyTo: "m_none"}, fault.NotFound)
	h.contains(why, "there is no message m_none")
	why = h.refused("ann", "space.send", SendIn{Type: "chat", Message: "x", To: "bob,nobody"}, fault.NotFound)
	h.contains(why, `no peer "nobody"`)
	// Receipts are in the log for those who ask for them.
	if log := do[Activities](h, "ann", "space.activity", ActivityIn{}).Text; strings.Contains(log, "how far messages came") {
		t.Errorf("the log is full of receipts:\n%s", log)
	}
	h.contains(do[Activities](h, "ann", "space.activity", ActivityIn{Receipts: true}).Text, "told how far messages came - 1 read")
}
