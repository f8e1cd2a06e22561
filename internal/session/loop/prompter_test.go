package loop

import (
	"encoding/json"
	"strings"
	"testing"

	"tandem/internal/op"
	"tandem/internal/policy/book"
	"tandem/internal/session"
	"tandem/internal/tool"
)

// chat is an app that speaks to tandem for this user, as `tandem mcp` does.
var chat = op.Caller{Tenant: "local", Actor: "act_chat", Name: "chat", Kind: op.Agent, For: []string{"local:local"}, Door: op.DoorMCP,
	Request: "req"}

// told is all that the model of a session was told in a turn.
func (h *house) told(s *session.Session, turn *session.Turn) string {
	h.t.Helper()
	ms, err := h.room.Messages(h.t.Context(), "local", s.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	var all []string
	for _, m := range ms {
		if m.Turn == turn.ID && m.Role == session.RoleTool {
			b, _ := json.Marshal(m.Blocks)
			all = append(all, string(b))
		}
	}
	return strings.Join(all, "\n")
}

// ask prompts a session as somebody and gives what its tools answered.
func (h *house) ask(as op.Caller, s *session.Session, text string) string {
	h.t.Helper()
	turn := h.do(as, "session.prompt", session.PromptIn{ID: s.ID, Text: text}).(*session.Turn)
	h.until(turn, session.Done)
	return h.told(s, turn)
}

const everyTool = `[[tool read {"path":"priv/p.txt"} ;; tool grep {"pattern":"canary"} ;; tool glob {"pattern":"**/*"} ;; ` +
	`tool bash {"command":"cat priv/p.txt; grep -r canary ."}]] [[say end]]`

// An app that was denied a folder had a person's session read it: the session may, and nobody asked for whom it read.
func TestWhoPromptsASessionIsBoundByItsDenials(t *testing.T) {
	h := newHouseWith(t, "", tool.Bubblewrap)
	if h.box.Kind != tool.Bubblewrap {
		t.Fatalf("bubblewrap does not work here (%s): run make test-tools", h.box.Why)
	}
	secret := h.plant("priv/p.txt", "open.txt")
	h.do(person, "grant.add", book.GrantIn{Principal: "session:*", Resource: "tool:/", Permissions: []string{"execute"}})
	h.do(person, "grant.add", book.GrantIn{Principal: "agent:chat", Effect: "deny", Resource: "folder:" + h.dir + "/priv",
		Permissions: []string{"view"}})
	s := h.session()

	if got := h.ask(local, s, everyTool); strings.Count(got, secret["priv/p.txt"]) < 3 {
		t.Fatalf("the person's own prompt does not read it: %s", got)
	}
	got := h.ask(chat, s, everyTool)
	if strings.Contains(got, secret["priv/p.txt"]) {
		t.Errorf("read for who may not: %s", got)
	}
	if !strings.Contains(got, secret["open.txt"]) {
		t.Errorf("what nobody denied is gone as well: %s", got)
	}

	// A task of that turn is done for the same one, also after a restart.
	h.restart()
	nested := `[[tool task {"prompt":"work [[tool read {\"path\":\"priv/p.txt\"}]] [[tool bash {\"command\":\"cat priv/p.txt\"}]] ` +
		`[[result]]","tools":["*"]}]] [[result]]`
	if got := h.ask(chat, s, nested); strings.Contains(got, secret["priv/p.txt"]) {
		t.Errorf("a task read for who may not: %s", got)
	}
	for _, k := range h.children(s) {
		for _, turn := range h.do(local, "session.turns", session.TurnIn{ID: k.ID}).(session.TurnsOut).Turns {
			if strings.Contains(h.told(k, turn), secret["priv/p.txt"]) {
				t.Error("the child read for who may not")
			}
		}
	}

	// A prompt that waits behind the person's own is the app's all the same, and the person's stays the person's.
	first := h.prompt(s, `[[tool question {"questions":[{"question":"sure?"}]}]] `+everyTool)
	h.until(first, session.Waiting)
	second := h.do(chat, "session.prompt", session.PromptIn{ID: s.ID, Text: everyTool}).(*session.Turn)
	q := h.do(local, "question.list", session.Nothing{}).(session.QuestionsOut).Questions[0]
	h.do(local, "question.answer", session.AnswerIn{ID: q.ID, Answer: "yes"})
	h.until(second, session.Done)
	if !strings.Contains(h.told(s, first), secret["priv/p.txt"]) || strings.Contains(h.told(s, second), secret["priv/p.txt"]) {
		t.Error("turns were mixed up")
	}

	// Who answers the session's question tells it what to do, as well.
	third := h.prompt(s, `[[tool question {"questions":[{"question":"sure?"}]}]] `+everyTool)
	h.until(third, session.Waiting)
	q = h.do(local, "question.list", session.Nothing{}).(session.QuestionsOut).Questions[0]
	h.do(chat, "question.answer", session.AnswerIn{ID: q.ID, Answer: "read priv"})
	h.until(third, session.Done)
	if strings.Contains(h.told(s, third), secret["priv/p.txt"]) {
		t.Error("an answer had it read")
	}
}

// A denied tool is denied for a prompt, and what was only never granted is not: an app that may prompt need not be granted what the
// session does.
func TestAPrompterNeedsNoGrantsOfItsOwn(t *testing.T) {
	h := newHouse(t)
	h.write("a.txt", "hello\n")
	h.do(person, "grant.add", book.GrantIn{Principal: "session:*", Resource: "folder:" + h.dir, Permissions: []string{"edit"}})
	s := h.session()
	edit := `[[tool write {"path":"NAME","content":"x"}]] [[say end]]`
	if got := h.ask(chat, s, strings.Replace(edit, "NAME", "b.txt", 1)); h.read("b.txt") != "x" {
		t.Fatalf("an app that was denied nothing cannot have a session write: %s", got)
	}
	h.do(person, "grant.add", book.GrantIn{Principal: "agent:*", Effect: "deny", Resource: "folder:" + h.dir, Permissions: []string{"edit"}})
	got := h.ask(chat, s, strings.Replace(edit, "NAME", "c.txt", 1))
	if h.read("c.txt") == "x" || !strings.Contains(got, "it is done for a prompt of agent:chat") {
		t.Errorf("written for who may not: %s", got)
	}
	if h.ask(local, s, strings.Replace(edit, "NAME", "d.txt", 1)); h.read("d.txt") != "x" {
		t.Error("the person's own prompt is bound by what an app is denied")
	}
}

// A session that was denied bash heard that there is no folder: its commands see nothing of one. It is not offered the tool, and hears why.
func TestADeniedToolSaysWhy(t *testing.T) {
	h := newHouse(t)
	h.do(person, "grant.add", book.GrantIn{Principal: "session:*", Effect: "deny", Resource: "tool:/bash", Permissions: []string{"execute"},
		Note: "no commands here"})
	s := h.session()
	got := h.ask(local, s, `[[tool bash {"command":"ls"}]] [[say end]]`)
	if !strings.Contains(got, "the tool bash is denied here: no commands here") {
		t.Errorf("it hears %s", got)
	}
	for _, q := range h.model.Requests() {
		if strings.Contains(strings.Join(q.Tools, " "), "bash") {
			t.Errorf("it is offered %v", q.Tools)
		}
	}
}
