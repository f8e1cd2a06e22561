package daemon

import (
	"os"
	"strings"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/knowledge/wire"
)

// A line of SQL made somebody the owner or a reader of a knowledge space, and let them read it and say what it answers.
func TestAKnowledgeSpaceIsOwnedByWhomAPersonNamed(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		in := wire.CreateIn{Name: "pay", Purpose: "what contracts say", Readers: []string{"person:owner"}}
		w.present("knowledge.create", in, nil)
		var item wire.Changed
		w.present("knowledge.add", wire.AddIn{Name: "pay", Title: "Days", Body: "Thirty days of leave."}, &item)
		promote := wire.PromoteIn{ID: item.ID, Version: item.Version}
		read := func() error { return w.Call(ctx, "knowledge.item", wire.ItemIn{ID: item.ID}, nil) }
		w.must(read())
		w.sound("of what a person made")
		for _, change := range []string{`UPDATE knowledge SET owners = '["mallory","owner"]'`, "UPDATE knowledge SET readers = '[]'",
			"UPDATE knowledge SET owners = 'no list'", "UPDATE knowledge SET trust = 'sourced'", "UPDATE knowledge SET nr = nr + 1000"} {
			w.sql(change)
			w.refused(change+": it is read", read(), fault.NotFound)
			var list wire.ListOut
			if w.must(w.Call(ctx, "knowledge.list", wire.ListIn{}, &list)); len(list.Spaces) != 0 {
				t.Errorf("%s: it is listed: %+v", change, list.Spaces)
			}
			w.refused(change+": it is shown", w.presents("knowledge.show", wire.ShowIn{Name: "pay"}), fault.Denied)
			w.told("the knowledge space pay")
			w.sql(`UPDATE knowledge SET owners = '["owner"]', readers = '["person:owner"]', trust = 'approved', nr = ` +
				"(SELECT min(place) FROM knowledge_item)")
			w.must(read())
		}
		w.sound("as a person said it again")

		// Also at the next start. Who administers the house lets nothing answer there, and says anew who owns and reads it, and all of it.
		w.again(`UPDATE knowledge SET owners = '["owner","mallory"]'`)
		w.refused("an item is let answer there", w.presents("knowledge.promote", promote), fault.Denied)
		days := 3
		w.refused("it is changed as it stands", w.presents("knowledge.change", wire.ChangeIn{Name: "pay", Days: &days}), fault.Denied)
		owners, readers := []string{"owner"}, []string{"person:owner"}
		w.present("knowledge.change", wire.ChangeIn{Name: "pay", Owners: &owners, Readers: &readers, Trust: wire.Approved}, nil)
		w.present("knowledge.promote", promote, nil)
		w.sound("after a person said it anew")
		w.present("knowledge.close", wire.NameIn{Name: "pay"}, nil)
		w.sound("after it was removed")
		w.again("INSERT INTO knowledge (tenant, name, nr, purpose, owners, readers, trust, days, texts, length, made_at, changed_at) " +
			`VALUES ('local', 'theirs', 900, 'x', '["owner"]', '[]', 'approved', 0, 0, 0, 1, 1)`)
		w.told("the knowledge space theirs")

		// A server from before has some that the journal never saw: they count, and a person is asked to look.
		w.sql("DELETE FROM knowledge")
		w.must(os.WriteFile(w.file("journal.kinds"), []byte(strings.ReplaceAll(lateKinds, "knowledge ", "")), 0o600))
		w.again("INSERT INTO knowledge (tenant, name, nr, purpose, owners, readers, trust, days, texts, length, made_at, changed_at) " +
			`VALUES ('local', 'ours', 901, 'x', '["owner"]', '[]', 'approved', 0, 0, 0, 1, 1)`)
		if n := w.journal.Waiting(); n != 1 {
			t.Errorf("%d wait to be confirmed", n)
		}
		w.present("knowledge.show", wire.ShowIn{Name: "ours"}, nil)
		w.confirm()
		w.sound("after a person looked")
	})
}
