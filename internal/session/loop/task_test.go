package loop

import (
	"context"
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/policy/book"
	"tandem/internal/session"
)

func (h *house) children(s *session.Session) []*session.Session {
	h.t.Helper()
	return h.do(local, "session.list", session.ListIn{Parent: s.ID}).(session.ListOut).Sessions
}

// A task is done by a child session, whose report is the result; the parent's turn waits through a restart.
func TestTaskIsDoneByAChild(t *testing.T) {
	h := newHouse(t)
	h.write("a.txt", "the answer is 42\n")
	s := h.session()
	turn := h.prompt(s, `[[tool task {"title":"look","prompt":"look [[tool todo {\"todos\":[]}]] [[tool question `+
		`{\"questions\":[{\"question\":\"sure?\"}]}]] [[tool read {\"path\":\"a.txt\"}]] `+
		`[[result]]","tools":["read","question","todo"]}]] [[result]]`)
	h.until(turn, session.Waiting)
	h.restart()
	for open := []*session.Question(nil); len(open) == 0; {
		open = h.do(local, "question.list", session.Nothing{}).(session.QuestionsOut).Questions
		if len(open) > 0 {
			h.do(local, "question.answer", session.AnswerIn{ID: open[0].ID, Answer: "yes"})
		}
	}
	h.until(turn, session.Done)
	kids := h.children(s)
	if len(kids) != 1 || kids[0].Title != "look" || kids[0].Directory != h.dir {
		t.Fatalf("%+v", kids)
	}
	if got := h.said(kids[0]); !strings.Contains(got, "the answer is 42") {
		t.Errorf("the child says %q", got)
	}
	used, err := h.room.Used(context.Background(), s)
	if err != nil || used.Calls != 4 || used.Turns != 1 {
		t.Errorf("the child's use does not count: %+v %v", used, err)
	}
	for _, q := range h.model.Requests() {
		if strings.HasPrefix(q.Prompt, "look") && strings.Join(q.Tools, " ") != "question read todo" {
			t.Errorf("the child is offered %v", q.Tools)
		}
	}
}

// A child has no right that its parent lacks: an allowlist and plan mode go down, and what the parent would have to ask for
// the child has to ask for.
func TestChildIsNarrowerThanItsParent(t *testing.T) {
	h := newHouse(t)
	s := h.do(local, "session.create", session.CreateIn{Directory: h.dir, Model: "fake/scripted-1",
		Config: session.Config{Tools: []string{"task", "read", "write"}}}).(*session.Session)
	turn := h.prompt(s, `[[tool task {"prompt":"work [[tool bash {\"command\":\"touch owned\"}]] [[tool write `+
		`{\"path\":\"x.txt\",\"content\":\"from the child\"}]] [[result]]","tools":["*"]}]] [[say end]]`)
	h.until(turn, session.Waiting)
	var asked *session.Turn
	for asked == nil {
		for _, k := range h.children(s) {
			ts := h.do(local, "session.turns", session.TurnIn{ID: k.ID}).(session.TurnsOut)
			if ts.Turns[0].State == session.Waiting {
				asked = ts.Turns[0]
			}
		}
	}
	child := h.children(s)[0]
	if c := child.Caller(); len(c.For) == 0 || c.For[0] != "session:"+s.ID {
		t.Errorf("the child acts for %v", c.For)
	}
	if _, err := h.try(s.Caller(), "approval.decide", approval.DecideIn{ID: asked.Ask, Verdict: approval.Approve}); err == nil {
		t.Error("the parent decided its child's ask")
	}
	h.decide(asked, approval.Approve, "")
	h.until(turn, session.Done)
	if h.read("x.txt") != "from the child" || h.read("owned") != "(owned is not there)" {
		t.Errorf("%q %q", h.read("x.txt"), h.read("owned"))
	}
	// Cancelling the parent stops the child.
	turn = h.prompt(s, `[[tool task {"prompt":"[[slow 30]]"}]] [[say end]]`)
	h.until(turn, session.Waiting)
	h.do(local, "session.cancel", session.TurnIn{ID: s.ID})
	h.until(turn, session.Cancelled)
	newest := h.children(s)[0]
	ts := h.do(local, "session.turns", session.TurnIn{ID: newest.ID}).(session.TurnsOut)
	h.until(ts.Turns[0], session.Cancelled)
}

// Generations end, and a read-only child is in plan mode with all that comes of it.
func TestTasksOfTasks(t *testing.T) {
	h := newHouse(t)
	s := h.session()
	nest := func(inner string) string {
		return `[[tool task {"prompt":"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(inner) + `"}]] [[result]]`
	}
	h.until(h.prompt(s, nest(nest(nest(nest("too deep"))))), session.Done)
	if got := h.said(s); !strings.Contains(got, "hands nothing on") {
		t.Errorf("%q", got)
	}
	h.until(h.prompt(s, `[[tool task {"prompt":"peek [[tool write {\"path\":\"x\",\"content\":\"y\"}]] `+
		`[[result]]","read_only":true}]] [[result]]`), session.Done)
	if got := h.said(s); !strings.Contains(got, "there is no tool") || h.read("x") != "(x is not there)" {
		t.Errorf("%q", got)
	}
}

// Tandem's own operations, with the session's own rights and under its name.
func TestOwnOperations(t *testing.T) {
	h := newHouse(t)
	s := h.session()
	ask := func(call string) string {
		h.until(h.prompt(s, "[[tool tandem "+call+"]] [[result]]"), session.Done)
		return h.said(s)
	}
	list := ask(`{}`)
	for _, no := range []string{"approval.decide", "session.update", "session.prompt", "budget.set", "folder.grant", "tool."} {
		if strings.Contains(list, "\n"+no) {
			t.Errorf("%s is offered: %s", no, list)
		}
	}
	if !strings.Contains(list, "approval.list: ") || !strings.Contains(list, "session.list: ") {
		t.Errorf("%s", list)
	}
	if got := ask(`{"operation":"approval.list"}`); !strings.Contains(got, `"limit"`) {
		t.Errorf("%s", got)
	}
	if got := ask(`{"operation":"session.get","input":{"id":"` + s.ID + `"}}`); !strings.Contains(got, h.dir) {
		t.Errorf("%s", got)
	}
	for _, name := range []string{"approval.decide", "budget.set", "session.update", "nobody.knows"} {
		if got := ask(`{"operation":"` + name + `","input":{}}`); !strings.Contains(got, "there is no operation") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A patch changes several files at once, after one approval of exactly that patch, and can be taken back.
func TestPatchIsAskedForOnceAndTakenBack(t *testing.T) {
	h := newHouse(t)
	h.write("a.txt", "one\ntwo\nthree\n")
	h.write("b.txt", "bye\n")
	s := h.session()
	patch := `*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+zwei\n three\n*** Add File: ` +
		`c.txt\n+new\n*** Delete File: b.txt\n*** End Patch`
	turn := h.prompt(s, `[[tool apply_patch {"patch":"`+patch+`"}]] [[result]]`)
	h.until(turn, session.Waiting)
	if h.read("a.txt") != "one\ntwo\nthree\n" {
		t.Error("it was written before anybody approved")
	}
	h.decide(turn, approval.Approve, "")
	h.until(turn, session.Done)
	if h.read("a.txt") != "one\nzwei\nthree\n" || h.read("c.txt") != "new\n" || h.read("b.txt") != "(b.txt is not there)" {
		t.Errorf("%q %q %q", h.read("a.txt"), h.read("b.txt"), h.read("c.txt"))
	}
	// A denial of one of its files stops the whole patch.
	h.do(person, "grant.add", book.GrantIn{Principal: "session:*", Effect: "deny", Resource: "folder:" + h.dir + "/frozen",
		Permissions: []string{"edit"}})
	h.until(h.prompt(s, `[[tool apply_patch {"patch":"*** Begin Patch\n*** Add File: d.txt\n+x\n*** Add File: `+
		`frozen/e.txt\n+x\n*** End Patch"}]] [[result]]`), session.Done)
	if h.read("d.txt") != "(d.txt is not there)" || !strings.Contains(h.said(s), "may not") {
		t.Errorf("%q", h.said(s))
	}
	h.do(local, "session.revert", session.RevertIn{ID: s.ID})
	es, err := h.jn.Read(context.Background(), "local", 0, 100, journal.Filter{Type: "tool.apply_patch"})
	if err != nil || len(es) != 4 { // asked, intent, outcome; denied
		t.Errorf("%d entries, %v", len(es), err)
	}
	h.do(local, "session.revert", session.RevertIn{ID: s.ID})
	if h.read("a.txt") != "one\ntwo\nthree\n" || h.read("b.txt") != "bye\n" || h.read("c.txt") != "(c.txt is not there)" {
		t.Errorf("%q %q %q", h.read("a.txt"), h.read("b.txt"), h.read("c.txt"))
	}
}

// Budgets of an actor and of everybody: the call that would exceed one is not made.
func TestBudgetsOfActorsAndEverybody(t *testing.T) {
	h := newHouse(t)
	h.write("a.txt", "x")
	if _, err := h.try(local, "budget.set", session.LimitIn{Budget: session.Budget{Turns: 1}}); !fault.Is(err, fault.Denied) {
		t.Errorf("a program set a budget: %v", err)
	}
	set := func(in session.LimitIn) { t.Helper(); h.do(person, "budget.set", in) }
	set(session.LimitIn{Subject: "local:local", Period: session.Daily, Budget: session.Budget{Turns: 1}})
	set(session.LimitIn{Subject: "agent:somebody", Budget: session.Budget{Turns: 1}})
	h.until(h.prompt(h.session(), "[[say first]]"), session.Done)
	calls := len(h.model.Requests())
	end := h.until(h.prompt(h.session(), "[[say second]]"), session.Failed)
	if !strings.Contains(end.Reason, "budget of turns for local:local (this day) is used up: 1 of 1") || len(h.model.Requests()) != calls {
		t.Errorf("%q after %d model calls", end.Reason, len(h.model.Requests())-calls)
	}
	set(session.LimitIn{Subject: "local:local", Period: session.Daily})
	if _, err := h.try(person, "budget.set", session.LimitIn{Subject: "local:local", Period: session.Daily}); !fault.Is(err, fault.NotFound) {
		t.Errorf("removed twice: %v", err)
	}
	// Of three calls in one reply only those within the budget are made.
	var used session.Used
	for _, l := range h.do(local, "budget.list", session.Nothing{}).(session.LimitsOut).Limits {
		if l.Subject == "agent:somebody" {
			used = l.Used
		}
	}
	if used != (session.Used{}) {
		t.Errorf("somebody else used %+v", used)
	}
	set(session.LimitIn{Budget: session.Budget{Calls: 2}})
	s := h.session()
	end = h.until(h.prompt(s, `[[tool read {"path":"a.txt"} ;; tool list {} ;; tool glob {"pattern":"*"}]] [[say never]]`), session.Failed)
	cs := h.do(local, "session.turns", session.TurnIn{ID: s.ID}).(session.TurnsOut).Calls
	if len(cs) != 3 || cs[1].State != session.CallDone || cs[2].State != session.CallFailed ||
		!strings.Contains(cs[2].Result.Text, "budget of calls for everybody together") ||
		!strings.Contains(end.Reason, "budget of calls") {
		t.Errorf("%q %+v", end.Reason, cs)
	}
	set(session.LimitIn{Budget: session.Budget{Tokens: 1_000_000}})
	// A question that alone is larger than what is left is not asked.
	small := h.do(local, "session.create", session.CreateIn{Model: "fake/scripted-1",
		Config: session.Config{Budget: session.Budget{Tokens: 300}}}).(*session.Session)
	calls = len(h.model.Requests())
	end = h.until(h.prompt(small, strings.Repeat("many words ", 500)), session.Failed)
	if !strings.Contains(end.Reason, "would exceed the budget") || len(h.model.Requests()) != calls {
		t.Errorf("%q", end.Reason)
	}
	// Time runs out in the middle of an answer.
	slow := h.do(local, "session.create", session.CreateIn{Model: "fake/scripted-1",
		Config: session.Config{Budget: session.Budget{Seconds: 1}}}).(*session.Session)
	end = h.until(h.prompt(slow, "[[slow 30]]"), session.Failed)
	if !strings.Contains(end.Reason, "budget of time") {
		t.Errorf("%q", end.Reason)
	}
}
