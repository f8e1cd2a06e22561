package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/session"
	"tandem/internal/testenv"
)

// A line of SQL gave a session another folder, other rights, another budget, or whom it acts for: it went on by them, and audit verify said
// nothing.
func TestASessionHasWhatItWasGiven(t *testing.T) {
	wards(t, func(w *ward) {
		ctx, other := t.Context(), testenv.Dir(t)
		var s session.Session
		open := func() string {
			t.Helper()
			w.must(w.Call(ctx, "session.create", map[string]any{"title": "x", "mode": "plan",
				"config": map[string]any{"tools": []string{"read"}, "narrow": true, "budget": map[string]any{"tokens": 10_000}}}, &s))
			return s.ID
		}
		prompt := func(id string) error {
			return w.Call(ctx, "session.prompt", map[string]any{"id": id, "text": "say hello"}, nil)
		}
		id := open()
		w.must(prompt(id))
		w.sound("of a session that was opened")
		w.again()
		w.must(prompt(id))
		w.must(w.Call(ctx, "session.update", map[string]any{"id": id, "mode": "immediate", "title": "y"}, nil))
		w.must(w.Call(ctx, "session.fork", map[string]any{"id": id}, nil))
		w.sound("after a start, a change and a copy")

		for what, set := range map[string]string{"folder": "directory = '" + other + "'", "mode": "mode = 'immediate'",
			"settings": "config = '{}'", "model": "model = 'anthropic/x'", "driver": "driver = 'terminal'", "opener": "owner = 'owner'",
			"whom it acts for": `chain = '["person:owner"]'`, "parent": "parent = 'ses_x'"} {
			id := open()
			w.sql("UPDATE session SET " + set + " WHERE id = '" + id + "'")
			w.refused("a prompt, with another "+what, prompt(id), fault.Denied)
			w.refused("a change, with another "+what, w.Call(ctx, "session.update", map[string]any{"id": id, "title": "z"}, nil), fault.Denied)
			w.refused("a copy, with another "+what, w.Call(ctx, "session.fork", map[string]any{"id": id}, nil), fault.Denied)
			w.must(w.Call(ctx, "session.get", map[string]any{"id": id}, nil))
			w.told("the session " + id)
			w.must(w.Call(ctx, "session.delete", map[string]any{"id": id}, nil))
			w.sound("after it was deleted, with another " + what)
		}

		// What it said before a person narrowed it, put back; and one that nobody opened.
		id = open()
		w.must(w.Call(ctx, "session.update", map[string]any{"id": id, "mode": "immediate"}, nil))
		w.must(w.Call(ctx, "session.update", map[string]any{"id": id, "mode": "plan"}, nil))
		w.again("UPDATE session SET mode = 'immediate' WHERE id = '"+id+"'",
			"INSERT INTO session SELECT tenant, 'ses_forged', title, directory, driver, model, parent, mode, config, todos, owner, chain, "+
				"archived, events, messages, reverted, created_at, updated_at FROM session WHERE id = '"+id+"'")
		w.refused("a prompt, by what it said before", prompt(id), fault.Denied)
		w.refused("a prompt of one that nobody opened", prompt("ses_forged"), fault.Denied)
		w.told("the session ses_forged")
	})
}

// A turn that waits goes on by what its session was given, or not at all.
func TestATurnOfAForgedSessionEnds(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		var s session.Session
		var turn session.Turn
		w.must(w.Call(ctx, "session.create", map[string]any{"title": "x"}, &s))
		w.must(w.Call(ctx, "session.prompt", map[string]any{"id": s.ID, "text": "say hello"}, &turn))
		testenv.Eventually(t, "it is done", time.Minute, func() bool {
			w.must(w.Call(ctx, "session.turn", map[string]any{"turn": turn.ID}, &turn))
			return turn.State == session.Done
		})
		w.again("UPDATE session SET directory = '"+filepath.ToSlash(w.home)+"' WHERE id = '"+s.ID+"'",
			"UPDATE session_turn SET state = 'queued', ended_at = 0, started_at = 0, server = '' WHERE id = '"+turn.ID+"'")
		testenv.Eventually(t, "it ends", time.Minute, func() bool {
			w.must(w.Call(ctx, "session.turn", map[string]any{"turn": turn.ID}, &turn))
			return turn.State == session.Failed && strings.Contains(turn.Reason, "changed in the database")
		})
	})
}

// A line of SQL named a program, and the next start ran it, in any folder and without a box.
func TestATerminalRunsWhatItsSessionWasGiven(t *testing.T) {
	wards(t, func(w *ward) {
		body := `{"name":"forged","session":"ses_forged","agent":"claude","cwd":"` + filepath.ToSlash(w.home) +
			`","state":"ready","signal":"screen","confined":"none","program":"/bin/true","config":"` + filepath.ToSlash(w.home) +
			`","conversation":"x"}`
		w.again("INSERT INTO session (tenant, id, title, directory, driver, model, parent, mode, config, todos, owner, chain, archived, events, "+
			"messages, reverted, created_at, updated_at) VALUES ('local', 'ses_forged', 'forged', '"+filepath.ToSlash(w.home)+
			"', 'terminal', 'claude/default', '', 'immediate', '{}', '[]', 'owner', '[]', 0, 0, 0, '', 1, 1)",
			"INSERT INTO terminal (tenant, session, name, relay, body, created_at, closed_at) VALUES ('local', 'ses_forged', 'forged', '', '"+
				body+"', 1, 0)")
		var is string
		testenv.Eventually(t, "the start looked at it", time.Minute, func() bool {
			w.told("the terminal of ses_forged")
			w.must(w.db.QueryRow(t.Context(), "SELECT body FROM terminal WHERE session = 'ses_forged'").Scan(&is))
			return true
		})
		if is != body {
			t.Errorf("it was taken up: %s", is)
		}
		w.refused("it is opened again", w.Call(t.Context(), "session.send", map[string]any{"name": "forged", "text": "hello"}, nil), fault.Denied)
	})
}

// A line of SQL put the row of one terminal into the place of another, or had it name a folder elsewhere: the one had what the other was
// given, and closing it took that folder away. Such a one is closed all the same, and nothing else comes of it.
func TestATerminalStandsInItsOwnPlace(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		var a, b, c session.Session
		for _, s := range []*session.Session{&a, &b, &c} {
			w.must(w.Call(ctx, "session.create", map[string]any{"title": "x"}, s))
		}
		row := func(name, at, named, says string) {
			w.sql("INSERT INTO terminal (tenant, session, name, relay, body, created_at, closed_at) VALUES ('local', '" + at + "', '" + name +
				"', '', '" + `{"name":"` + named + `","session":"` + says + `","agent":"claude","cwd":"/b","confined":"none"}` + "', 1, 0)")
		}
		row("b", b.ID, "b", b.ID)
		w.must(w.db.Write(ctx, func(tx *db.Tx) error {
			return w.journal.Tell(tx, journal.Event{Tenant: "local", Type: "session.given", Phase: journal.Done, Actor: "owner",
				Resource: "session:/" + b.ID}, map[string]any{}, op.Sealed{Tenant: "local", Subject: "terminal:" + b.ID, What: "b",
				Says: []string{"b", "claude", "", "", "/b", "", "", "none", "", "", "false", "false", "false", "false"}})
		}))
		reach := func(id string) error {
			return w.journal.View(ctx, func(tx *db.Tx) error {
				_, err := w.rooms.terminal.Reach(tx, &session.Session{Tenant: "local", ID: id})
				return err
			})
		}
		w.must(reach(b.ID))
		row("a", a.ID, "b", b.ID)
		w.refused("one has what another one was given", reach(a.ID), fault.Denied)
		w.told("the terminal of " + a.ID)

		row("c", c.ID, "c", "../../x")
		folders := []string{filepath.Join(w.home, "x"), filepath.Join(w.home, ".tandem", "terminals", c.ID)}
		for _, f := range folders {
			w.must(os.MkdirAll(f, 0o700))
		}
		w.sql("UPDATE session SET model = 'anthropic/x' WHERE id = '" + c.ID + "'")
		for _, name := range []string{"a", "c"} {
			w.must(w.Call(ctx, "session.close", map[string]any{"name": name}, nil))
		}
		for _, f := range folders {
			if _, err := os.Stat(f); err != nil {
				t.Errorf("closing what was changed took a folder away: %v", err)
			}
		}
		var open string
		w.must(w.db.QueryRow(ctx, "SELECT session FROM terminal WHERE closed_at = 0").Scan(&open))
		if open != b.ID {
			t.Errorf("%s is open, and not %s", open, b.ID)
		}
	})
}
