package loop

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"tandem/internal/approval"
	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/session"
	"tandem/internal/testenv"
)

func TestTextTurn(t *testing.T) {
	h := newHouse(t)
	s := h.session()
	end := h.until(h.prompt(s, "[[say hello there]]"), session.Done)
	if h.said(s) != "hello there" || end.Steps != 1 || end.Usage.Output == 0 {
		t.Errorf("%q %+v", h.said(s), end)
	}
	// The default model needs nobody.
	e := h.do(local, "session.create", session.CreateIn{}).(*session.Session)
	h.until(h.prompt(e, "Summarize README.md"), session.Done)
	if h.said(e) != "echo: Summarize README.md" {
		t.Errorf("%q", h.said(e))
	}
}

func TestReadingNeedsNobody(t *testing.T) {
	h := newHouse(t)
	h.write("a.txt", "what it says\n")
	s := h.session()
	end := h.until(h.prompt(s, `[[think hm ;; tool read {"path":"a.txt"} ;; tool grep {"pattern":"says"}]] [[result]]`), session.Done)
	if got := h.said(s); !strings.Contains(got, "what it says") || !strings.Contains(got, "a.txt:1:") || end.Calls != 2 {
		t.Errorf("%q %+v", got, end)
	}
	last := h.model.Requests()[len(h.model.Requests())-1]
	if !regexp.MustCompile(`<data-[0-9a-f]{8} from="read">`).MatchString(last.Results[0]) {
		t.Errorf("the result is not marked as data: %q", last.Results[0])
	}
}

// The seed's use case: the agent proposes, a person sends it back, the agent changes it, the approved text and only that
// is written, once.
func TestApprovalReworkAndApproval(t *testing.T) {
	h := newHouse(t)
	s := h.session()
	turn := h.prompt(s, `[[tool write {"path":"mail.txt","content":"Dear all"}]] [[tool write {"path":"mail.txt","content":"Dear `+
		`friends"}]] [[say sent]]`)
	h.decide(turn, approval.SendBack, "say friends")
	h.decide(turn, approval.Approve, "")
	h.until(turn, session.Done)
	if h.read("mail.txt") != "Dear friends" || h.said(s) != "sent" {
		t.Errorf("%q %q", h.read("mail.txt"), h.said(s))
	}
	heard := false
	for _, q := range h.model.Requests() {
		heard = heard || strings.Contains(strings.Join(q.Results, ""), "say friends")
	}
	if !heard {
		t.Error("the feedback did not reach the model")
	}
	// The record: one ask sent back, one approved, one write with intent and outcome.
	es, err := h.jn.Read(context.Background(), "local", 0, 1000, journal.Filter{Type: "tool.write"})
	var phases []string
	for _, e := range es {
		phases = append(phases, e.Phase)
	}
	if err != nil || strings.Join(phases, " ") != "asked asked intent outcome" {
		t.Errorf("%v %v", phases, err)
	}
	rep, err := h.jn.Verify(context.Background(), nil)
	if err != nil || !rep.OK {
		t.Errorf("the journal does not verify: %+v %v", rep, err)
	}
}

// An ask outlives the server, and so does the turn that waits for it.
func TestAskSurvivesRestart(t *testing.T) {
	h := newHouse(t)
	s := h.session()
	turn := h.prompt(s, `[[tool bash {"command":"echo made > x.txt"}]] [[say done]]`)
	h.until(turn, session.Waiting)
	h.restart()
	h.decide(turn, approval.Approve, "")
	h.until(turn, session.Done)
	if h.read("x.txt") != "made\n" {
		t.Errorf("%q", h.read("x.txt"))
	}
}

func TestQuestionIsAnsweredIntoTheTurn(t *testing.T) {
	h := newHouse(t)
	s := h.session()
	turn := h.prompt(s, `[[tool question {"questions":[{"question":"Which colour?","options":[{"label":"Blue"}]}]}]] [[result]]`)
	q := h.until(turn, session.Waiting).Ask
	h.restart()
	if _, err := h.try(s.Caller(), "question.answer", session.AnswerIn{ID: q, Answer: "Red"}); err == nil {
		t.Error("an agent answered its own question")
	}
	h.do(local, "question.answer", session.AnswerIn{ID: q, Answer: "Blue"})
	h.until(turn, session.Done)
	if !strings.Contains(h.said(s), "Blue") {
		t.Errorf("%q", h.said(s))
	}
	if _, err := h.try(local, "question.answer", session.AnswerIn{ID: q, Answer: "Green"}); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second answer: %v", err)
	}
}

func TestCancelAtEveryPlace(t *testing.T) {
	h := newHouse(t)
	s := h.session()
	slow := h.prompt(s, "[[slow 300]]")
	queued := h.prompt(s, "[[say never]]")
	h.until(slow, session.Running)
	testenv.Eventually(t, "the model is asked", 2*time.Minute, func() bool { return len(h.model.Requests()) > 0 })
	h.do(local, "session.cancel", session.TurnIn{ID: s.ID, Turn: queued.ID})
	h.until(queued, session.Cancelled)
	h.do(local, "session.cancel", session.TurnIn{ID: s.ID, Turn: slow.ID})
	h.until(slow, session.Cancelled)
	waiting := h.prompt(s, `[[tool bash {"command":"true"}]]`)
	h.until(waiting, session.Waiting)
	h.do(local, "session.cancel", session.TurnIn{ID: s.ID})
	h.until(waiting, session.Cancelled)
	// The session goes on: the conversation has no call without an answer.
	if h.until(h.prompt(s, "[[say alive]]"), session.Done); h.said(s) != "alive" {
		t.Errorf("%q", h.said(s))
	}
	ran := h.prompt(s, `[[tool bash {"command":"touch begun; sleep 600"}]]`)
	h.decide(ran, approval.Approve, "")
	h.until(ran, session.Running)
	testenv.Eventually(t, "the command begins", 2*time.Minute, func() bool { return h.read("begun") == "" })
	start := time.Now()
	h.do(local, "session.cancel", session.TurnIn{ID: s.ID})
	if h.until(ran, session.Cancelled); time.Since(start) > time.Minute {
		t.Errorf("stopping a command took %v", time.Since(start))
	}
}

func TestTurnsQueueInOrder(t *testing.T) {
	h := newHouse(t)
	s := h.session()
	var turns []*session.Turn
	for _, p := range []string{"[[slow 0.3]]", "[[say two]]", "[[say three]]"} {
		turns = append(turns, h.prompt(s, p))
	}
	for _, turn := range turns {
		h.until(turn, session.Done)
	}
	ms, _ := h.room.Messages(context.Background(), "local", s.ID)
	var got []string
	for _, m := range ms {
		got = append(got, string(m.Role)+":"+m.Blocks[0].Text)
	}
	want := "user:[[slow 0.3]] assistant:slow words user:[[say two]] assistant:two user:[[say three]] assistant:three"
	if strings.Join(got, " ") != want {
		t.Errorf("%q", got)
	}
}

func TestFailuresRetryFallBackAndEnd(t *testing.T) {
	h := newHouse(t)
	s := h.session()
	if h.until(h.prompt(s, "[[errn 1 529]]"), session.Done); h.said(s) != "recovered" {
		t.Errorf("%q", h.said(s))
	}
	if end := h.until(h.prompt(s, "[[err 401]]"), session.Failed); !strings.Contains(end.Reason, "auth") {
		t.Errorf("%+v", end)
	}
	// A cut stream is tried again; what was heard of it is marked as cut.
	n := len(h.model.Requests())
	h.run.Tries = 2
	h.until(h.prompt(s, "[[say half a ;; drop]]"), session.Failed)
	if got := len(h.model.Requests()) - n; got != 2 {
		t.Errorf("%d requests", got)
	}
	h.run.Tries = 1
	f := h.do(local, "session.create", session.CreateIn{Directory: h.dir, Model: "fake/x",
		Config: session.Config{Fallback: []string{"local/echo-1"}}}).(*session.Session)
	if h.until(h.prompt(f, "[[err 529]]"), session.Done); h.said(f) != "echo: [[err 529]]" {
		t.Errorf("%q", h.said(f))
	}
}

func TestBudgetsAndGuards(t *testing.T) {
	h := newHouse(t)
	h.write("a.txt", "x")
	s := h.do(local, "session.create", session.CreateIn{Directory: h.dir, Model: "fake/scripted-1",
		Config: session.Config{Budget: session.Budget{Calls: 2}}}).(*session.Session)
	end := h.until(h.prompt(s, `[[tool read {"path":"a.txt"}]] [[tool list {}]] [[tool glob {"pattern":"*"}]]`), session.Failed)
	if !strings.Contains(end.Reason, "budget of calls") || end.Calls != 2 {
		t.Errorf("%+v", end)
	}
	m := h.do(local, "session.create", session.CreateIn{Model: "fake/scripted-1",
		Config: session.Config{Budget: session.Budget{Cents: 5}}}).(*session.Session)
	if end := h.until(h.prompt(m, "hi"), session.Failed); !strings.Contains(end.Reason, "nobody knows what this model costs") {
		t.Errorf("%+v", end)
	}
	g := h.session()
	call := `[[tool read {"path":"a.txt"}]]`
	if end := h.until(h.prompt(g, strings.Repeat(call+" ", 10)), session.Failed); !strings.Contains(end.Reason, "same arguments") ||
		end.Calls != maxRepeat {
		t.Errorf("%+v", end)
	}
}

// A session whose budget was used up was copied, and the copy had all of it again; so did a copy of the copy, and one whose
// origin was deleted. What was used goes along.
func TestAForkHasNoNewBudget(t *testing.T) {
	h := newHouse(t)
	h.write("a.txt", "x")
	s := h.do(local, "session.create", session.CreateIn{Directory: h.dir, Model: "fake/scripted-1",
		Config: session.Config{Budget: session.Budget{Calls: 2}}}).(*session.Session)
	h.until(h.prompt(s, `[[tool read {"path":"a.txt"}]] [[say done]]`), session.Done)
	for range 2 {
		fork := h.do(local, "session.fork", session.ForkIn{ID: s.ID}).(*session.Session)
		h.do(local, "session.delete", session.IDIn{ID: s.ID})
		if end := h.until(h.prompt(fork, `[[tool list {}]] [[say done]]`), session.Failed); !strings.Contains(end.Reason, "budget of calls") {
			t.Errorf("%+v", end)
		}
		s = fork
	}
}

// What a session may not use it does not see, and asking for it anyway runs nothing.
func TestMasking(t *testing.T) {
	h := newHouse(t)
	tools := func(s *session.Session, o session.Options) []string {
		h.until(h.do(local, "session.prompt", session.PromptIn{ID: s.ID, Text: "hi", Options: o}).(*session.Turn), session.Done)
		return h.model.Requests()[len(h.model.Requests())-1].Tools
	}
	s := h.session()
	if got := strings.Join(tools(s, session.Options{}),
		" "); got != "apply_patch bash edit glob grep list question read tandem task todo webfetch write" {
		t.Errorf("all: %s", got)
	}
	if got := strings.Join(tools(s, session.Options{Mode: session.PlanMode}), " "); got != "glob grep list question read tandem todo" {
		t.Errorf("plan mode: %s", got)
	}
	if got := strings.Join(tools(s, session.Options{Tools: []string{"re*"}}), " "); got != "read" {
		t.Errorf("allowlist: %s", got)
	}
	nowhere := h.do(local, "session.create", session.CreateIn{Directory: filepath.Dir(h.dir), Model: "fake/scripted-1"}).(*session.Session)
	if got := strings.Join(tools(nowhere, session.Options{}), " "); got != "question tandem task todo webfetch" {
		t.Errorf("outside the granted folders: %s", got)
	}
	end := h.until(h.prompt(nowhere, `[[tool read {"path":"t.db"}]] [[result]]`), session.Done)
	if !strings.Contains(h.said(nowhere), "there is no tool") || end.Calls != 1 {
		t.Errorf("%q", h.said(nowhere))
	}
}

// An agent that tries to decide its own ask, by the operations it can name.
func TestAgentCannotDecide(t *testing.T) {
	h := newHouse(t)
	s := h.session()
	turn := h.prompt(s, `[[tool write {"path":"x","content":"y"}]] [[say end]]`)
	ask := h.until(turn, session.Waiting).Ask
	for name, in := range map[string]any{
		"approval.decide":    approval.DecideIn{ID: ask, Verdict: approval.Approve},
		"folder.grant":       session.FolderIn{Path: filepath.Dir(h.dir)},
		"session.model_call": ModelIn{Session: s.ID, Turn: turn.ID},
	} {
		if _, err := h.try(s.Caller(), name, in); err == nil {
			t.Errorf("%s passed", name)
		}
	}
	// Somebody who names the session does not borrow its authority.
	if _, err := h.try(local, "tool.write", session.CallIn{Session: s.ID, Args: []byte(`{"path":"x","content":"stolen"}`)}); err == nil {
		t.Error("the session's tool was called from outside")
	}
	if strings.Contains(h.read("x"), "stolen") {
		t.Error("the file was written")
	}
	// An approval is for the exact call: the same session with other arguments asks anew.
	h.do(person, "approval.decide", h.yes(ask))
	h.until(turn, session.Done)
	if h.read("x") != "y" {
		t.Errorf("%q", h.read("x"))
	}
	again := h.prompt(s, `[[tool write {"path":"x","content":"z"}]] [[say end]]`)
	if w := h.until(again, session.Waiting); w.Ask == ask {
		t.Error("the old approval was taken for another call")
	}
}

func TestStreamReplaysFromAnyPlace(t *testing.T) {
	h := newHouse(t)
	s := h.session()
	turn := h.prompt(s, "[[slow 0.4 ;; say bye]]")
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	whole, places := follow(t, ctx, h, s, session.Place{}, turn.ID)
	if !strings.HasPrefix(whole, "slow words") || !strings.HasSuffix(whole, "bye") {
		t.Fatalf("%q", whole)
	}
	// From every place a reader can have, the rest makes the text whole: nothing twice, nothing missing.
	for i, p := range places {
		rest, _ := follow(t, ctx, h, s, p.at, turn.ID)
		if p.heard+rest != whole {
			t.Fatalf("from place %d (%s): %q + %q", i, p.at, p.heard, rest)
		}
	}
	if len(places) < 6 {
		t.Errorf("%d places", len(places))
	}
}

type heardAt struct {
	at    session.Place
	heard string
}

func follow(t *testing.T, ctx context.Context, h *house, s *session.Session, from session.Place, turn string) (string, []heardAt) {
	t.Helper()
	var text strings.Builder
	var places []heardAt
	over := errors.New("over")
	err := h.room.Follow(ctx, "local", s.ID, from, func(e session.Event) error {
		text.WriteString(e.Delta)
		if e.Type == session.EventTurn && strings.Contains(string(e.Body), `"state":"done"`) {
			return over
		}
		places = append(places, heardAt{e.Place(), text.String()})
		return nil
	})
	if !errors.Is(err, over) {
		t.Fatalf("follow: %v", err)
	}
	return text.String(), places
}

func TestRevertTakesFilesAndMessagesBack(t *testing.T) {
	h := newHouse(t)
	h.write("a.txt", "old")
	s := h.session()
	first := h.prompt(s, "[[say first]]")
	h.until(first, session.Done)
	turn := h.prompt(s, `[[tool write {"path":"a.txt","content":"new"} ;; tool write {"path":"b.txt","content":"b"}]] [[say changed]]`)
	h.decide(turn, approval.Approve, "")
	h.decide(turn, approval.Approve, "")
	h.until(turn, session.Done)
	if h.read("a.txt") != "new" || h.read("b.txt") != "b" {
		t.Fatalf("%q %q", h.read("a.txt"), h.read("b.txt"))
	}
	out := h.do(local, "session.revert", session.RevertIn{ID: s.ID}).(session.RevertOut)
	if _, err := os.Stat(filepath.Join(h.dir, "b.txt")); h.read("a.txt") != "old" || err == nil || len(out.Files) != 2 ||
		h.said(s) != "first" {
		t.Errorf("%q %v %+v %q", h.read("a.txt"), err, out, h.said(s))
	}
	back := h.do(local, "session.unrevert", session.IDIn{ID: s.ID}).(session.RevertOut)
	if h.said(s) != "changed" || h.read("a.txt") != "new" || h.read("b.txt") != "b" || len(back.Files) != 2 || back.Left != nil {
		t.Errorf("%q %q %q %+v", h.said(s), h.read("a.txt"), h.read("b.txt"), back)
	}
	h.do(local, "session.revert", session.RevertIn{ID: s.ID})
	h.until(h.prompt(s, "[[say another way]]"), session.Done)
	if _, err := h.try(local, "session.unrevert", session.IDIn{ID: s.ID}); err == nil || h.said(s) != "another way" ||
		h.read("a.txt") != "old" {
		t.Errorf("%v %q %q", err, h.said(s), h.read("a.txt"))
	}
}

// A file that changed twice is named once. Two takings back are brought back at once, and what somebody wrote in between stays.
func TestUnrevertBringsFilesBack(t *testing.T) {
	h := newHouse(t)
	h.write("a.txt", "0")
	h.write("mine.txt", "0")
	s := h.session()
	for _, script := range []string{
		`[[tool write {"path":"a.txt","content":"1"}]] [[tool write {"path":"a.txt","content":"2"}]] [[say one]]`,
		`[[tool write {"path":"a.txt","content":"3"} ;; tool write {"path":"mine.txt","content":"3"}]] [[say two]]`,
	} {
		turn := h.prompt(s, script)
		h.decide(turn, approval.Approve, "")
		h.decide(turn, approval.Approve, "")
		h.until(turn, session.Done)
	}
	h.do(local, "session.revert", session.RevertIn{ID: s.ID})
	out := h.do(local, "session.revert", session.RevertIn{ID: s.ID}).(session.RevertOut)
	if h.read("a.txt") != "0" || len(out.Files) != 2 {
		t.Errorf("%q %+v", h.read("a.txt"), out)
	}
	h.write("mine.txt", "a person's")
	back := h.do(local, "session.unrevert", session.IDIn{ID: s.ID}).(session.RevertOut)
	if h.read("a.txt") != "3" || h.read("mine.txt") != "a person's" || len(back.Left) != 1 || len(back.Files) != 1 || h.said(s) != "two" {
		t.Errorf("%q %q %+v %q", h.read("a.txt"), h.read("mine.txt"), back, h.said(s))
	}
}

// The same stories on PostgreSQL.
func TestOnPostgres(t *testing.T) {
	if testing.Short() {
		t.Skip("PostgreSQL is not part of the short run")
	}
	h := newHouseOn(t, testenv.Postgres(t))
	h.write("a.txt", "old")
	s := h.session()
	turn := h.prompt(s, `[[tool write {"path":"a.txt","content":"new"}]] [[tool question {"questions":[{"question":"Sure?"}]}]] [[result]]`)
	h.decide(turn, approval.Approve, "")
	testenv.Eventually(t, "the question is put", time.Minute, func() bool {
		return strings.HasPrefix(h.until(turn, session.Waiting, session.Running).Ask, "que_")
	})
	h.restart()
	list := h.do(local, "question.list", session.Nothing{}).(session.QuestionsOut)
	h.do(local, "question.answer", session.AnswerIn{ID: list.Questions[0].ID, Answer: "yes"})
	h.until(turn, session.Done)
	if h.read("a.txt") != "new" || !strings.Contains(h.said(s), "yes") {
		t.Errorf("%q %q", h.read("a.txt"), h.said(s))
	}
	found := h.do(local, "session.list", session.ListIn{Query: "sure?"}).(session.ListOut)
	if len(found.Sessions) != 1 {
		t.Errorf("%d sessions were found", len(found.Sessions))
	}
	h.do(local, "session.revert", session.RevertIn{ID: s.ID})
	if h.read("a.txt") != "old" {
		t.Errorf("%q", h.read("a.txt"))
	}
	fork := h.do(local, "session.fork", session.ForkIn{ID: s.ID}).(*session.Session)
	slow := h.prompt(fork, "[[slow 30]]")
	h.until(slow, session.Running)
	h.do(local, "session.cancel", session.TurnIn{ID: fork.ID})
	h.until(slow, session.Cancelled)
	h.do(local, "session.delete", session.IDIn{ID: fork.ID})
}
