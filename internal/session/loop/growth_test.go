package loop

import (
	"fmt"
	"strings"
	"testing"

	"tandem/internal/db"
	"tandem/internal/session"
)

// A turn of many steps read its whole conversation before each. What was said before is read once a turn: here nobody could read it again.
func TestAStepReadsWhatTheLastOneAdded(t *testing.T) {
	h := newHouse(t)
	h.write("a.txt", "one")
	s := h.session()
	h.until(h.prompt(s, "[[say hello]]"), session.Done)
	h.plans.mu.Lock()
	h.plans.before = func(tool string) {
		if tool != "read" { // the first step's
			return
		}
		if err := h.db.Write(t.Context(), func(tx *db.Tx) error {
			n, err := tx.Changed("UPDATE session_message SET blocks = 'unreadable' WHERE session = ? AND seq <= 2", s.ID)
			if err == nil && n != 2 {
				t.Errorf("%d messages were there before", n)
			}
			return err
		}); err != nil {
			t.Error(err)
		}
	}
	h.plans.mu.Unlock()
	turn := h.prompt(s, `[[tool read {"path":"a.txt"}]] [[tool grep {"pattern":"one"}]] [[tool list {}]] [[say end]]`)
	if end := h.until(turn, session.Done, session.Failed); end.State != session.Done || end.Calls != 3 {
		t.Errorf("%s after %d calls: %s", end.State, end.Calls, end.Reason)
	}
}

// Each step of a turn read every call of it, with its arguments and results, and answering one read every message. A step reads what the
// last reply asked for: here nobody could read the calls and the results of the steps before.
func TestAStepReadsNoCallOfThoseBefore(t *testing.T) {
	h := newHouse(t)
	h.write("a.txt", "one")
	s := h.session()
	step := 0
	h.plans.mu.Lock()
	h.plans.before = func(string) {
		if step++; step != 3+session.Lately(maxRepeat) { // those before have ended and are answered; the last few are compared, for circles
			return
		}
		if err := h.db.Write(t.Context(), func(tx *db.Tx) error {
			n, err := tx.Changed("UPDATE session_call SET result = 'unreadable' WHERE session = ? AND position <= 3", s.ID)
			if err == nil && n != 3 {
				t.Errorf("%d calls were there before", n)
			}
			if err != nil {
				return err
			}
			_, err = tx.Exec("UPDATE session_message SET blocks = 'unreadable' WHERE session = ? AND role = 'tool'", s.ID)
			return err
		}); err != nil {
			t.Error(err)
		}
	}
	h.plans.mu.Unlock()
	var look strings.Builder
	many := 5 + session.Lately(maxRepeat)
	for i := range many {
		fmt.Fprintf(&look, `[[tool grep {"pattern":"p%d"}]] `, i)
	}
	turn := h.prompt(s, look.String()+`[[say end]]`)
	if end := h.until(turn, session.Done, session.Failed); end.State != session.Done || end.Calls != int64(many) {
		t.Errorf("%s after %d calls: %s", end.State, end.Calls, end.Reason)
	}
}

// The next turn is found by an index of open ones: those of a long session that ended are not looked at.
func TestEndedTurnsAreNotLookedAtForTheNext(t *testing.T) {
	h := newHouse(t)
	rows, err := h.db.Query(t.Context(), `EXPLAIN QUERY PLAN SELECT prompt FROM session_turn
		WHERE tenant = ? AND session = ? AND ended_at = 0 ORDER BY id LIMIT 1`, "local", "ses_x")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var how string
	for rows.Next() {
		var id, parent, unused int
		var line string
		if err := rows.Scan(&id, &parent, &unused, &line); err != nil {
			t.Fatal(err)
		}
		how += line + "\n"
	}
	if err := rows.Err(); err != nil || !strings.Contains(how, "session_turn_next") {
		t.Errorf("%v %s", err, how)
	}
}
