package daemon

import (
	"strings"
	"testing"

	"tandem/internal/session"
)

// A line of SQL raised a budget that a person had set with their PIN, or took it away, and sessions went on spending; audit verify said
// nothing.
func TestABudgetIsWhatAPersonSaid(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		w.scripted()
		var s session.Session
		w.must(w.Call(ctx, "session.create", map[string]any{"title": "x", "model": "mine/scripted-1"}, &s))
		prompt := func(want session.TurnState, reason string) {
			t.Helper()
			var turn session.Turn
			w.must(w.Call(ctx, "session.prompt", map[string]any{"id": s.ID, "text": "[[say one]]"}, &turn))
			if turn = w.until(turn.ID, session.Done, session.Failed); turn.State != want || !strings.Contains(turn.Reason, reason) {
				t.Errorf("the turn is %s: %s; want %s, %s", turn.State, turn.Reason, want, reason)
			}
		}
		set := func(b session.Budget) {
			t.Helper()
			w.present("budget.set", session.LimitIn{Budget: b}, nil)
		}
		set(session.Budget{Turns: 1})
		prompt(session.Done, "")
		prompt(session.Failed, "is used up")
		w.sound("of a budget that was set")
		const changed = "changed in the database"
		w.sql(`UPDATE session_limit SET budget = '{"turns":1000}'`)
		prompt(session.Failed, changed)
		w.told("the budget of everybody together")
		var all session.LimitsOut
		w.must(w.Call(ctx, "budget.list", session.Nothing{}, &all))
		if len(all.Limits) != 1 || !all.Limits[0].Changed {
			t.Errorf("the list does not say so: %+v", all.Limits)
		}
		set(session.Budget{Turns: 2})
		w.again("DELETE FROM session_limit")
		prompt(session.Failed, changed)
		w.told("and it is gone from the database")
		set(session.Budget{Turns: 1000})
		prompt(session.Done, "")
		w.again("INSERT INTO session_limit (tenant, subject, period, budget, set_by, set_at) " +
			"VALUES ('local', '*', 'day', '{\"turns\":1}', 'owner', 1)")
		prompt(session.Done, "") // what nobody set binds nobody
		w.told("the budget of everybody together (this day) is in the database")
		w.sql("DELETE FROM session_limit WHERE period = 'day'")
		set(session.Budget{})
		prompt(session.Done, "")
		w.sound("of a budget that was taken away")
	})
}
