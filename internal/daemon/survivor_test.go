package daemon

import (
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
	w.must(room.CutParts(t.Context()))
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
