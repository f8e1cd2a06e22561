package terminal_test

import (
	"strings"
	"testing"

	inbox "tandem/internal/inbox/wire"
	"tandem/internal/session"
)

// A person sits at the terminal and chooses in the program's own dialog, while tandem has the question open for phones and other
// terminals: the program goes on with what was chosen there, the question is gone from every list, and an answer that comes later is told
// that it is late.
func TestAQuestionAnsweredInItsOwnDialog(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.open("a")
	out := h.begin("a", `ask [[tool AskUserQuestion {"questions":[{"question":"Which `+
		`colour?","header":"Colour","multiSelect":false,`+
		`"options":[{"label":"Red","description":"r"},{"label":"Blue","description":"b"}]}]}]] [[result]]`)
	var qs session.QuestionsOut
	h.eventually("a question waits", func() bool { h.call("question.list", nil, &qs); return len(qs.Questions) == 1 })
	h.eventually("its dialog is up", func() bool { return strings.Contains(h.shown("a"), "2. Blue") })
	h.press("a", "2", "2. Blue")
	if out = h.ended("a", out.Cursor); !strings.Contains(out.Report, "Blue") || strings.Contains(out.Report, "Red") {
		t.Errorf("%+v\n%s", out, h.shown("a"))
	}
	late := qs.Questions[0].ID
	h.eventually("the question is gone", func() bool { h.call("question.list", nil, &qs); return len(qs.Questions) == 0 })
	var list inbox.Out
	h.call("inbox.list", inbox.In{}, &list)
	if len(list.Rows) > 0 {
		t.Errorf("it still needs a person: %+v", list.Rows)
	}
	if err := h.c.Call(t.Context(), "question.answer", session.AnswerIn{ID: late, Answer: "Red"}, nil); err == nil {
		t.Error("an answer that came too late was taken")
	}
	if out = h.send("a", "after [[say going on]]"); out.Report != "going on" {
		t.Errorf("%+v\n%s", out, h.shown("a"))
	}
}
