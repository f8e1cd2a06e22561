package panel

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"tandem/internal/provider/scripted"
)

// Two things that are asked at once stand on the Overview, each with its options and a field of its own, and are answered there: both
// answers reach the agent, and one for both is refused.
func TestSeveralQuestionsAreAnsweredInPlace(t *testing.T) {
	h := startHouse(t)
	model := &scripted.Server{}
	if err := model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	h.do(t, "provider.add", testPIN, map[string]any{"id": "fake", "base": model.URL(), "wire": "anthropic", "keyless": true})
	session := h.do(t, "session.create", "", map[string]any{"title": "asker", "model": "fake/scripted-1"})["id"].(string)
	h.do(t, "session.prompt", "", map[string]any{"id": session, "text": `go [[tool question {"questions":[` +
		`{"question":"Which database?","options":[{"label":"postgres"},{"label":"sqlite"}]},` +
		`{"question":"Which language?","options":[{"label":"go"},{"label":"rust"}]}]}]] [[result]]`})
	b := h.browser(t)
	b.signIn(t)
	b.shows(t, "/panel/", "Which language?")
	page := b.page(t, "/panel/")
	for _, want := range []string{"asker", "Which database?", `<option value="sqlite">`, `<option value="rust">`} {
		if !strings.Contains(page, want) {
			t.Errorf("the Overview lacks %q", want)
		}
	}
	if n := strings.Count(page, `name="answer"`); n != 2 {
		t.Fatalf("there are %d fields for two answers", n)
	}
	form := url.Values{"from": {"overview"},
		"question": {regexp.MustCompile(`name="question" value="(que_[0-9a-z]+)"`).FindStringSubmatch(page)[1]}}
	form["answer"] = []string{"sqlite"}
	if code, _, _ := b.ask(t, "POST", "/panel/sessions/"+session+"/answer", form); code == http.StatusSeeOther {
		t.Error("one answer was taken for two questions")
	}
	form["answer"] = []string{"sqlite", "rust"}
	b.does(t, "/panel/sessions/"+session+"/answer", form)
	b.shows(t, "/panel/sessions/"+session, "Which database? sqlite")
	if page := b.page(t, "/panel/"); strings.Contains(page, "Which language?") {
		t.Error("what was answered is still there")
	}
}
