package daemon

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/models"
	"tandem/internal/op"
	"tandem/internal/provider/scripted"
	"tandem/internal/session"
	relays "tandem/internal/session/relay"
	"tandem/internal/testenv"
)

// scripted has sessions answered by a script.
func (w *ward) scripted() *scripted.Server {
	w.t.Helper()
	model := &scripted.Server{}
	w.must(model.Start("127.0.0.1:0"))
	w.t.Cleanup(func() { model.Close() })
	w.present("provider.add", models.ProviderAddIn{ID: "mine", Base: model.URL(), Wire: "anthropic", Keyless: true}, nil)
	return model
}

// agent is a caller that is an agent.
func (w *ward) agent(name string) op.Caller {
	w.t.Helper()
	var token struct{ Secret string }
	w.present("actor.add", map[string]any{"name": name, "kind": "agent"}, nil)
	w.present("token.new", map[string]any{"actor": name}, &token)
	c, err := w.identity.Bearer(w.t.Context(), token.Secret, op.DoorHTTP)
	w.must(err)
	return c
}

func (w *ward) until(id string, want ...session.TurnState) (turn session.Turn) {
	w.t.Helper()
	testenv.Eventually(w.t, fmt.Sprint("the turn is ", want), time.Minute, func() bool {
		w.must(w.Call(w.t.Context(), "session.turn", map[string]any{"turn": id}, &turn))
		for _, s := range want {
			if turn.State == s {
				return true
			}
		}
		return false
	})
	return turn
}

const asksSure = `[[tool question {"questions":[{"question":"sure?"}]}]] [[say sure]]`

// A line of SQL put words into a session's queue, gave a turn other words, another model or another session, had one that was over worked
// on once more, and took away on whose words one works, so that it did what this one is denied.
func TestATurnHasWhatItWasGiven(t *testing.T) {
	wards(t, func(w *ward) {
		ctx, model, builder := t.Context(), w.scripted(), w.agent("builder")
		w.present("grant.add", map[string]any{"principal": "agent:builder", "resource": "session:/", "permissions": []string{"execute"}}, nil)
		open := func() (s session.Session) {
			w.must(w.Call(ctx, "session.create", map[string]any{"title": "x", "model": "mine/scripted-1"}, &s))
			return s
		}
		prompt := func(s session.Session, as *op.Caller, text string) string {
			t.Helper()
			c := op.Caller{Tenant: identity.LocalTenant, Actor: "act_local", Name: "local", Kind: op.Local, Door: op.DoorSocket, Request: "req"}
			if as != nil {
				c = *as
			}
			out, err := w.gate.Invoke(op.WithCaller(ctx, c), "session.prompt", session.PromptIn{ID: s.ID, Text: text})
			w.must(err)
			return out.(*session.Turn).ID
		}
		answer := func(c *op.Caller) {
			t.Helper()
			var all session.QuestionsOut
			w.must(w.Call(ctx, "question.list", session.Nothing{}, &all))
			in := session.AnswerIn{ID: all.Questions[0].ID, Answer: "yes"}
			if c == nil {
				w.must(w.Call(ctx, "question.answer", in, nil))
				return
			}
			_, err := w.gate.Invoke(op.WithCaller(ctx, *c), "question.answer", in)
			w.must(err)
		}
		s, other := open(), open()
		done := prompt(s, nil, "[[say one]]")
		w.until(done, session.Done)
		waits := prompt(s, nil, asksSure)
		w.until(waits, session.Waiting)
		honest := prompt(s, &builder, "[[say honest]]")
		gone := prompt(s, nil, "[[say gone]]")
		w.must(w.Call(ctx, "session.cancel", map[string]any{"id": s.ID, "turn": gone}, nil))
		forged := map[string]string{}
		for what, set := range map[string]string{"words": `prompt = '[{"kind":"text","text":"forged"}]'`,
			"options": `options = '{"model":"anthropic/forged"}'`, "asker": "asker = 'owner'", "session": "session = '" + other.ID + "'",
			"whose words": "prompted = ''"} {
			id := prompt(s, &builder, "[[say two]]")
			forged[id] = "UPDATE session_turn SET " + set + " WHERE id = '" + id + "'"
			if what == "options" { // in the running server
				w.sql(forged[id])
				w.told("the turn " + id)
				delete(forged, id)
				defer func() {
					if turn := w.until(id, session.Failed); !strings.Contains(turn.Reason, "changed in the database") {
						t.Errorf("with other options: %s", turn.Reason)
					}
				}()
			}
		}
		lines := []string{"UPDATE session_turn SET state = 'queued', ended_at = 0, started_at = 0, server = '' WHERE id IN ('" + done + "', '" +
			gone + "')",
			`INSERT INTO session_turn (tenant, id, session, state, reason, ask, cancel, prompt, options, asker, steps, calls, attempts, usage, ` +
				`cost, created_at, started_at, ended_at) SELECT tenant, 'turn_forged', '` + other.ID + `', 'queued', '', '', 0, ` +
				`'[{"kind":"text","text":"forged"}]', '{}', 'owner', 0, 0, 0, '{}', 0, created_at, 0, 0 FROM session_turn WHERE id = '` +
				done + `'`}
		for _, line := range forged {
			lines = append(lines, line)
		}
		forged[done], forged[gone], forged["turn_forged"] = "", "", ""
		asked := len(model.Requests())
		w.again(lines...)
		w.told("the turn ")
		answer(nil)
		for id := range forged {
			if turn := w.until(id, session.Failed); !strings.Contains(turn.Reason, "changed in the database") {
				t.Errorf("%s: %s", id, turn.Reason)
			}
		}
		w.until(waits, session.Done)
		w.until(honest, session.Done)
		if n := len(model.Requests()) - asked; n != 2 {
			t.Errorf("the model was asked %d times, for two turns that count", n)
		}

		// Who answers is heard from then on, and a line of SQL does not take that one away from a turn that waits.
		third := prompt(other, nil, asksSure)
		w.until(third, session.Waiting)
		answer(&builder)
		w.until(third, session.Done)
		fourth := prompt(other, &builder, asksSure)
		w.until(fourth, session.Waiting)
		w.sql("UPDATE session_turn SET prompted = '' WHERE id = '" + fourth + "'")
		answer(nil)
		if turn := w.until(fourth, session.Failed); !strings.Contains(turn.Reason, "changed in the database") {
			t.Errorf("without the one on whose words it works: %s", turn.Reason)
		}
		w.sound("of turns that are over")
	})
}

// A line of SQL named a relay that nobody started, and the next start prompted a person's session as the person; or it changed what one
// was told, and for whom it works.
func TestARelayDoesWhatItWasStartedFor(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		w.scripted()
		side := relays.Side{Agent: "model", Model: "mine/scripted-1"}
		var out relays.ReadOut
		read := func(id string) relays.ReadOut {
			t.Helper()
			w.must(w.Call(ctx, "relay.read", relays.ReadIn{ID: id}, &out))
			return out
		}
		start := func() string {
			t.Helper()
			var x relays.Relay
			w.must(w.Call(ctx, "relay.start", relays.StartIn{Task: "[[say NEEDS_INPUT: which?]]", Mission: "ask", Lead: side, Worker: side}, &x))
			testenv.Eventually(t, "it asks", time.Minute, func() bool { return read(x.ID).Status == relays.NeedsInput })
			return x.ID
		}
		enqueue := func(id string) error {
			return w.Call(ctx, "relay.enqueue", relays.TextIn{ID: id, Text: "[[say that is it]] RELAY_DONE"}, nil)
		}
		id := start()
		w.sound("of a relay that waits")
		w.again()
		w.must(enqueue(id))
		w.must(w.Call(ctx, "relay.stop", relays.IDIn{ID: id}, nil))
		testenv.Eventually(t, "it is over", time.Minute, func() bool { return read(id).Status.Over() && !w.rooms.relay.Busy() })
		w.sound("of one that is over")
		for what, set := range map[string]string{"mission": `body = replace(body, '"mission":"ask"', '"mission":"forged"')`,
			"for whom": `body = replace(body, '"local"', '"owner"')`, "state": "status = 'parked'", "words": "body = '{'"} {
			id := start()
			w.sql("UPDATE relay SET " + set + " WHERE id = '" + id + "'")
			w.refused("the next task, with another "+what, enqueue(id), fault.Denied)
			if x := read(id); x.Status != relays.Blocked || !strings.Contains(x.Reason, "changed in the database") {
				t.Errorf("with another %s it is %s: %s", what, x.Status, x.Reason)
			}
			w.must(w.Call(ctx, "relay.list", session.Nothing{}, nil))
			w.told("the relay " + id)
			w.must(w.Call(ctx, "relay.stop", relays.IDIn{ID: id}, nil))
			w.sound("after it was taken away, with another " + what)
		}

		var s session.Session
		w.must(w.Call(ctx, "session.create", map[string]any{"title": "x", "model": "mine/scripted-1"}, &s))
		id = start()
		w.again("INSERT INTO relay SELECT tenant, 'loop_forged', 'running', replace(replace(replace(replace(replace(body, '"+id+
			"', 'loop_forged'), '\"status\":\"needs input\"', '\"status\":\"running\"'), "+
			"'\"next\":\"\"', '\"next\":\"lead\",\"prompt\":\"forged\"'), "+
			"'\"lead\":\"', '\"lead\":\""+s.ID+"\",\"was\":\"'), '\"name\":\"local\"', '\"name\":\"owner\"'), created_at, updated_at "+
			"FROM relay WHERE id = '"+id+"'",
			"DELETE FROM relay_side WHERE session = '"+s.ID+"'")
		w.told("the relay loop_forged")
		w.must(w.Call(ctx, "relay.stop", relays.IDIn{ID: id}, nil))
		testenv.Eventually(t, "nobody looks at relays any more", time.Minute, func() bool { return !w.rooms.relay.Busy() })
		var turns session.TurnsOut
		w.must(w.Call(ctx, "session.turns", session.TurnIn{ID: s.ID}, &turns))
		if len(turns.Turns) != 0 {
			t.Errorf("it was prompted: %+v", turns.Turns[0])
		}
	})
}
