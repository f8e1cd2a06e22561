package daemon

import (
	"strings"
	"testing"
	"time"

	automation "tandem/internal/automation/wire"
	"tandem/internal/fault"
	"tandem/internal/knowledge/wire"
	"tandem/internal/models"
	"tandem/internal/provider/scripted"
	"tandem/internal/session"
	"tandem/internal/testenv"
)

// answered prompts a session and waits for the end of the turn.
func (k *kept) answered(ses, text string, o session.Options) *session.Turn {
	k.t.Helper()
	turn := k.must("session.prompt", session.PromptIn{ID: ses, Text: text, Options: o}).(*session.Turn)
	testenv.Eventually(k.t, "the turn ends", 2*time.Minute, func() bool {
		turn = k.must("session.turns", session.TurnIn{ID: ses, Turn: turn.ID}).(session.TurnsOut).Turns[0]
		return turn.State.Ended()
	})
	return turn
}

const asksFirst = `[[tool tandem {"operation":"knowledge.ask","input":{"question":"when are releases cut"}}]] `

// A session that is bound to a knowledge space reads it and no other, and where it must cite, an answer that does not stand on what it read
// is not taken: it is asked once more, and then the turn fails with that reason.
func TestAnAnswerStandsOnWhatWasRead(t *testing.T) {
	k := keptAt(t, "")
	serve := func(id string, rules ...scripted.Rule) *scripted.Server {
		model := &scripted.Server{Script: scripted.Script{Rules: rules}}
		if err := model.Start("127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { model.Close() })
		k.must("provider.add", models.ProviderAddIn{ID: id, Base: model.URL(), Wire: "anthropic", Keyless: true})
		return model
	}
	model := serve("mine")
	ids := map[string]string{}
	for _, name := range []string{"handbook", "ledger"} {
		k.must("knowledge.create", wire.CreateIn{Name: name, Purpose: "releases"})
		i := k.must("knowledge.add", wire.AddIn{Name: name, Title: name,
			Body: "Releases of the " + name + " are cut on Tuesdays."}).(wire.Changed)
		k.must("knowledge.promote", wire.PromoteIn{ID: i.ID, Version: i.Version})
		ids[name] = i.ID
	}
	opened := func(c session.Config) string {
		return k.must("session.create", session.CreateIn{Model: "mine/scripted-1", Config: c}).(*session.Session).ID
	}
	bound := session.Config{Knowledge: []string{"handbook"}, Cite: true}
	last := func() string { all := model.Requests(); return string(all[len(all)-1].Body) }

	ses := opened(bound)
	if turn := k.answered(ses, asksFirst+"[[say On Tuesdays ["+ids["handbook"]+"].]]", session.Options{}); turn.State != session.Done {
		t.Fatalf("an answer that cites what was read: %s %s", turn.State, turn.Reason)
	}
	if got := last(); !strings.Contains(got, ids["handbook"]) || strings.Contains(got, ids["ledger"]) ||
		!strings.Contains(got, "no others: handbook") {
		t.Errorf("it was told %s", got)
	}
	before := len(model.Requests())
	turn := k.answered(ses, "[[say On Tuesdays ["+ids["ledger"]+"].]]", session.Options{})
	if turn.State != session.Failed || !strings.Contains(turn.Reason, "the answer must cite what was read: ") {
		t.Errorf("what it did not read is cited: %s %q", turn.State, turn.Reason)
	}
	if n := len(model.Requests()) - before; n != 2 || !strings.Contains(last(), "it cites "+ids["ledger"]+", which was not read") {
		t.Errorf("it was asked %d times, last %s", n, last())
	}
	serve("mends", scripted.Rule{Prompt: "was not taken", Turns: []scripted.Turn{{{Say: "On Tuesdays [" + ids["handbook"] + "]."}}}})
	if turn := k.answered(ses, "[[say On Tuesdays.]]", session.Options{Model: "mends/scripted-1"}); turn.State != session.Done {
		t.Errorf("mended when asked once more: %s %s", turn.State, turn.Reason)
	}
	free := opened(session.Config{})
	if turn := k.answered(free, "[[say On Tuesdays.]]", session.Options{}); turn.State != session.Done {
		t.Errorf("one that need not cite: %s %s", turn.State, turn.Reason)
	}
	if turn := k.answered(free, "[[say On Tuesdays.]]", session.Options{Cite: true}); turn.State != session.Failed {
		t.Errorf("a prompt that must be cited: %s", turn.State)
	}

	_, err := k.do("session.create", session.CreateIn{Model: "mine/scripted-1", Config: session.Config{Knowledge: []string{"nowhere"}}})
	if !fault.Is(err, fault.NotFound) {
		t.Errorf("bound to what is not there: %v", err)
	}
	_, err = k.do("session.update", session.UpdateIn{ID: ses, Config: &session.Config{Knowledge: []string{"handbook", "ledger"}}})
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("a binding is widened: %v", err)
	}
	if s := k.must("session.update", session.UpdateIn{ID: ses, Config: &session.Config{System: "x"}}).(*session.Session); !s.Config.Cite ||
		len(s.Config.Knowledge) != 1 {
		t.Errorf("left out, it is %+v", s.Config)
	}
	k.stepReads(ids)
}

// stepReads runs an automation whose turn reads a knowledge space, and has no other operation by that.
func (k *kept) stepReads(ids map[string]string) {
	k.t.Helper()
	a := k.must("automation.add", automation.AddIn{Text: `
name = "reads"
[[node]]
id = "answer"
[node.turn]
model = "mine/scripted-1"
prompt = '` + asksFirst + `[[tool tandem {"operation":"board.list","input":{}}]] [[say On Tuesdays [` + ids["handbook"] + `].]]'
knowledge = ["handbook"]
cite = true
[node.output.text.schema]
type = "string"
`}).(*automation.Automation)
	k.must("automation.on", automation.OnIn{Name: a.Name, Digest: a.Latest})
	r := k.must("automation.run", automation.BeginIn{Name: a.Name}).(*automation.Run)
	testenv.Eventually(k.t, "the run ends", 2*time.Minute, func() bool {
		r = k.must("automation.trace", automation.RunIn{ID: r.ID}).(*automation.Run)
		return !r.EndedAt.IsZero()
	})
	if r.Status != "completed" || r.Steps[0].Output["text"] != "On Tuesdays ["+ids["handbook"]+"]." {
		k.t.Fatalf("the run is %+v", r)
	}
	out := k.must("session.turns", session.TurnIn{ID: r.Steps[0].Session, Turn: r.Steps[0].Turn}).(session.TurnsOut)
	if len(out.Calls) != 2 || !strings.Contains(out.Calls[0].Result.Text, ids["handbook"]) ||
		!strings.Contains(out.Calls[1].Result.Text, "there is no operation") {
		k.t.Errorf("its calls are %+v", out.Calls)
	}
}
