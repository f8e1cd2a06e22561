package peer

import (
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"tandem/internal/db"
)

// What members of the first releases kept in two tables is in one afterwards:
// entries with and without words, what was read and what was not, and which
// messages are a member's own.
func TestEntriesOfEarlierReleases(t *testing.T) {
	ctx := t.Context()
	d, err := db.Open(ctx, filepath.Join(t.TempDir(), "tandem.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	old := fstest.MapFS{}
	for _, name := range []string{"schema/0001_peer.sql", "schema/0002_receipts.sql", "schema/0003_refused.sql"} {
		data, err := schema.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		old[name] = &fstest.MapFile{Data: data}
	}
	if _, err := d.Migrate(ctx, db.Migrations{Room: "peer", FS: old}); err != nil {
		t.Fatal(err)
	}
	err = d.Write(ctx, func(tx *db.Tx) error {
		for seq, n := range []struct {
			env, class, sender, to string
			at, surfaced, read     int64
		}{
			{env: "host/1"}, // the host's own: no words
			{"m_mine", "message", "mem_a", "mem_b", 20, 20, 20},
			{"m_new", "message", "mem_b", "", 30, 0, 0},
			{"m_woken", "message", "mem_b", "", 40, 41, 0},
			{"m_read", "message", "mem_b", "", 50, 51, 52},
			{"env_var", "var", "mem_b", "", 60, 0, 0},
			{env: "m_theirs"}, // for somebody else
		} {
			if _, err := tx.Exec("INSERT INTO peer_log (tenant, seat, seq, env, entry) VALUES ('t', 's', ?, ?, ?)", seq+1, n.env,
				"entry of "+n.env); err != nil {
				return err
			}
			if n.class == "" {
				continue
			}
			if _, err := tx.Exec("INSERT INTO peer_note (tenant, seat, seq, env, class, sender, recipient, at, content, surfaced_at, "+
				"read_at) VALUES ('t', 's', ?, ?, ?, ?, ?, ?, ?, ?, ?)",
				seq+1, n.env, n.class, n.sender, n.to, n.at, []byte("words of "+n.env), n.surfaced, n.read); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := d.Migrate(ctx, Migrations); err != nil || n < 1 {
		t.Fatalf("%d, %v", n, err)
	}
	for query, want := range map[string]string{
		"SELECT group_concat(env || '=' || entry, ' ') FROM (SELECT * FROM peer_entry ORDER BY seq)": "host/1=entry " +
			"of host/1 m_mine=entry of m_mine m_new=entry of m_new m_woken=entry of m_woken m_read=entry of m_read env_var=entry of env_var " +
			"m_theirs=entry of m_theirs",
		"SELECT group_concat(cast(content AS TEXT), ' ') FROM (SELECT * FROM peer_entry ORDER BY seq)": "words of " +
			"m_mine words of m_new words of m_woken words of m_read words of env_var",
		"SELECT group_concat(env, ' ') FROM (SELECT * FROM peer_entry WHERE read_at = 0 ORDER BY seq)":                     "m_new m_woken",
		"SELECT group_concat(env, ' ') FROM (SELECT * FROM peer_entry WHERE read_at = 0 AND surfaced_at = 0 ORDER BY seq)": "m_new",
		"SELECT group_concat(class || sender || at, ' ') FROM (SELECT * FROM peer_entry WHERE class = 'message' ORDER BY seq)": "" +
			"messagemem_a20 messagemem_b30 messagemem_b40 messagemem_b50",
		"SELECT group_concat(env || seq || recipient, ' ') FROM peer_said": "m_mine2mem_b",
	} {
		var got string
		if err := d.QueryRow(ctx, query).Scan(&got); err != nil || got != want {
			t.Errorf("%s\n is %q, %v", query, got, err)
		}
	}
}

// What is unread is known whatever was read first, and after a restart.
func TestUnread(t *testing.T) {
	h := newHouse(t)
	seated(h, "ann", "bob")
	var sent []string
	for range 12 {
		sent = append(sent, do[Said](h, "ann", "space.send", SendIn{Type: "chat", Message: "x"}).ID)
	}
	reads := func(in InboxIn, want ...string) {
		t.Helper()
		var got []string
		for _, m := range do[Inbox](h, "bob", "space.inbox", in).Messages {
			got = append(got, m.ID)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("bob reads %v, want %v", got, want)
		}
	}
	reads(InboxIn{Limit: 4}, sent[:4]...)
	reads(InboxIn{All: true, Limit: 3}, sent[9:]...)
	for range 2 {
		h.contains(do[BoardOut](h, "bob", "board.show", BoardIn{All: true}).Text, "5 messages, "+sent[4]+", ")
		h.restart()
	}
	reads(InboxIn{Limit: 2}, sent[4:6]...)
	h.contains(do[BoardOut](h, "bob", "board.show", BoardIn{All: true}).Text, "3 messages, "+sent[6]+", ")
	reads(InboxIn{}, sent[6:9]...)
	reads(InboxIn{})
	last := do[Said](h, "ann", "space.send", SendIn{Type: "chat", Message: "x", To: "bob"}).ID
	h.contains(do[BoardOut](h, "bob", "board.show", BoardIn{All: true}).Text, "1 message, "+last+": call")
	reads(InboxIn{}, last)
}
