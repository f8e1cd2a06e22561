package peer

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"tandem/internal/db"
)

// What members of the first releases kept, each for itself, is one log afterwards:
// with class and sender whoever could open an entry, what was read and what was
// not by seat, and which messages are a member's own. Whose history parted has
// its own.
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
		// Two seats with one history, of which the second came further, and one whose history parted after the first entry.
		for _, s := range []string{"seat_a", "seat_b", "seat_c"} {
			if _, err := tx.Exec("INSERT INTO peer_seat (tenant, id, owner, space, folder, state, why, host, pin, seq, hash, term, joined_seq, "+
				"secrets, created_at, updated_at) VALUES ('t', ?, 'o', 'spc', '', 'active', '', '', '', 0, '', 1, 1, ?, 1, 1)", s,
				[]byte("keys")); err != nil {
				return err
			}
		}
		for _, n := range []struct {
			seats                  string
			seq                    int
			env, class, sender, to string
			at, surfaced, read     int64
		}{
			{seats: "a b c", seq: 1, env: "host/1"}, // the host's own: no words
			{"a", 2, "m_mine", "message", "mem_a", "mem_b", 20, 20, 20},
			{"b", 2, "m_mine", "message", "mem_a", "mem_b", 20, 0, 0},
			{"a", 3, "m_new", "message", "mem_b", "", 30, 0, 0},
			{seats: "b", seq: 3, env: "m_new"}, // did not open
			{"a b", 4, "m_woken", "message", "mem_c", "", 40, 41, 0},
			{"a b", 5, "m_read", "message", "mem_c", "", 50, 51, 52},
			{"b", 6, "env_var", "var", "mem_c", "", 60, 0, 0},
			{seats: "b", seq: 7, env: "m_theirs"}, // for somebody else
			{"c", 2, "m_apart", "message", "mem_c", "", 20, 0, 0},
		} {
			for s := range strings.FieldsSeq(n.seats) {
				seat := "seat_" + s
				class := "message"
				if n.env == "host/1" || n.env == "env_var" {
					class = "other"
				}
				if _, err := tx.Exec("INSERT INTO peer_log (tenant, seat, seq, env, entry) VALUES ('t', ?, ?, ?, ?)", seat, n.seq, n.env,
					fmt.Sprintf(`{"seq":%d,"class":%q,"hash":"%064s"}`, n.seq, class, n.env)); err != nil {
					return err
				}
				if n.class == "" {
					continue
				}
				if _, err := tx.Exec("INSERT INTO peer_note (tenant, seat, seq, env, class, sender, recipient, at, content, surfaced_at, "+
					"read_at) VALUES ('t', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
					seat, n.seq, n.env, n.class, n.sender, n.to, n.at, []byte("words of "+n.env), n.surfaced, n.read); err != nil {
					return err
				}
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
		"SELECT group_concat(id || ' on ' || line, ', ') FROM (SELECT * FROM peer_seat ORDER BY id)": "seat_a on seat_b, seat_b on seat_b, " +
			"seat_c on seat_c",
		"SELECT group_concat(env || ' ' || class || ' ' || sender || ' ' || recipient || ' ' || at, ', ') FROM " +
			"(SELECT * FROM peer_log WHERE line = 'seat_b' ORDER BY seq)": "host/1    0, m_mine message mem_a mem_b 20, " +
			"m_new message mem_b  30, m_woken message mem_c  40, m_read message mem_c  50, env_var var mem_c  60, m_theirs    0",
		"SELECT group_concat(line || seq || ltrim(hash, '0'), ' ') FROM (SELECT * FROM peer_log WHERE line <> 'seat_b' ORDER BY seq)": "" +
			"seat_c1host/1 seat_c2m_apart",
		"SELECT group_concat(seat || seq || '/' || surfaced_at || '/' || read_at, ' ') FROM (SELECT * FROM peer_mark ORDER BY seat, seq)": "" +
			"seat_a2/20/20 seat_a4/41/0 seat_a5/51/52 seat_b3/1/1 seat_b4/41/0 seat_b5/51/52 seat_b7/1/1",
		"SELECT group_concat(seat || env || seq || recipient, ' ') FROM peer_said": "seat_am_mine2mem_b",
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

	// Asked for more than a page it gives a page as long as one may be, and not the usual twenty.
	for range 12 {
		sent = append(sent, do[Said](h, "ann", "space.send", SendIn{Type: "chat", Message: "x"}).ID)
	}
	reads(InboxIn{All: true, Limit: 500}, append(slices.Clone(sent[:12]), append([]string{last}, sent[12:]...)...)...)
	if n := atMost(500, 20, 200); n != 200 {
		t.Errorf("the longest page has %d", n)
	}
}
