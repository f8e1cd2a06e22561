package terminal_test

import (
	"strings"
	"testing"

	"tandem/internal/session"
)

// Two questions at once: each gets its own answer, by the session's name, and one answer for both is refused. (Real Claude Code.)
func TestEachQuestionGetsItsOwnAnswer(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.open("a")
	out := h.begin("a", `ask [[tool AskUserQuestion {"questions":[{"question":"Which `+
		`database?","header":"Database","multiSelect":false,"options":[{"label":"postgres","description":"the large `+
		`one"},{"label":"sqlite","description":"the small one"}]},{"question":"Which `+
		`language?","header":"Language","multiSelect":false,`+
		`"options":[{"label":"go","description":"one"},{"label":"rust","description":"other"}]}]}]] [[result]]`)
	var open session.QuestionsOut
	h.eventually("it asks", func() bool { h.call("question.list", session.Nothing{}, &open); return len(open.Questions) == 1 })
	list := h.tandem(h.project, "session", "answer")
	for _, part := range []string{open.Questions[0].ID, "Which database?", "postgres: the large one", "Which language?", "rust"} {
		if !strings.Contains(list, part) {
			t.Errorf("%q is missing in\n%s", part, list)
		}
	}
	if said, err := h.fails(h.project, "session", "answer", "a", "postgres"); err == nil ||
		!strings.Contains(said, "each wants an answer of its own") {
		t.Errorf("%v %s", err, said)
	}
	h.tandem(h.project, "session", "answer", "a", "postgres", "rust")
	out = h.ended("a", out.Cursor)
	for _, part := range []string{"Which database?", "postgres", "Which language?", "rust"} {
		if !strings.Contains(out.Report, part) {
			t.Errorf("%q is missing in %s", part, out.Report)
		}
	}
}
