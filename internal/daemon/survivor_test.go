package daemon

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tandem/internal/session"
	"tandem/internal/testenv"
)

// A server that settles what a fellow of its cluster left does not cut off what it streams itself.
func TestASurvivorGoesOnWithItsOwnStreams(t *testing.T) {
	w := newWard(t, "")
	var s session.Session
	w.must(w.Call(t.Context(), "session.create", session.CreateIn{Title: "mine"}, &s))
	var turn session.Turn
	w.must(w.Call(t.Context(), "session.prompt", session.PromptIn{ID: s.ID, Text: "say something"}, &turn))
	testenv.Eventually(t, "its turn ends", 2*time.Minute, func() bool {
		var out session.TurnsOut
		w.must(w.Call(t.Context(), "session.turns", session.TurnIn{ID: s.ID, Turn: turn.ID}, &out))
		return out.Turns[0].State.Ended()
	})
	w.sql("UPDATE session_turn SET state = 'running', ended_at = 0, since = 5, server = '" + w.self.ID + "' WHERE id = '" + turn.ID + "'")
	room := w.rooms.session
	mine, err := room.Get(t.Context(), "local", s.ID)
	w.must(err)
	part, err := room.StartPart(t.Context(), mine, turn.ID, session.Part{})
	w.must(err)
	part.Add("half of it")
	w.must(room.CutParts(t.Context(), w.must))
	var since int64
	w.must(w.db.QueryRow(t.Context(), "SELECT since FROM session_turn WHERE id = ?", turn.ID).Scan(&since))
	var ended int
	w.must(w.db.QueryRow(t.Context(), "SELECT count(*) FROM session_event WHERE session = ? AND type = ? AND body LIKE '%\"cut\":true%'", s.ID,
		session.EventPartEnd).Scan(&ended))
	if since != 5 || ended != 0 {
		t.Errorf("its own stream was cut: %d ends, since %d", ended, since)
	}
	w.must(part.End(t.Context(), false))
	w.sql("UPDATE session_turn SET state = 'done', ended_at = 9 WHERE id = '" + turn.ID + "'")
}

// One part that nobody can close kept a server from starting for ever. Now it is told, and the others are closed.
func TestAPartThatNobodyClosesStopsNoStart(t *testing.T) {
	w := newWard(t, "")
	var s session.Session
	w.must(w.Call(t.Context(), "session.create", session.CreateIn{Title: "mine"}, &s))
	for i, of := range []string{"ses_0", s.ID} { // the first is of no session
		w.sql(fmt.Sprintf("INSERT INTO session_event (tenant, session, seq, turn, type, body, at) VALUES ('local', '%s', %d, 'x', '%s', '{}', 1)",
			of, 1000*i+1000, session.EventPart))
	}
	w.sql("UPDATE session SET events = 2000 WHERE id = '" + s.ID + "'")
	var odd []string
	w.must(w.rooms.session.CutParts(t.Context(), func(err error) { odd = append(odd, err.Error()) }))
	var ended int
	w.must(w.db.QueryRow(t.Context(), "SELECT count(*) FROM session_event WHERE session = ? AND seq = 2001 AND type = ?", s.ID,
		session.EventPartEnd).Scan(&ended))
	if len(odd) != 1 || !strings.Contains(odd[0], "ses_0") || ended != 1 {
		t.Errorf("told %q, and %d of the others are closed", odd, ended)
	}
}
