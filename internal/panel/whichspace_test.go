package panel

import (
	"strings"
	"testing"
)

// What the command line opened is the panel's, too; of several spaces one is looked at, and the others are a switch away.
func TestSeveralSpacesInThePanel(t *testing.T) {
	h := startHouse(t)
	b := h.browser(t)
	b.signIn(t)
	billing := h.do(t, "space.create", "", map[string]any{"name": "billing"})["space"].(string)
	h.do(t, "board.add", "", map[string]any{"title": "Round the cents"})
	board := func(what string, want, not []string) {
		t.Helper()
		_, body, _ := b.ask(t, "GET", "/panel/board", nil)
		for _, w := range want {
			if !strings.Contains(body, w) {
				t.Errorf("%s: the board lacks %q", what, w)
			}
		}
		for _, w := range not {
			if strings.Contains(body, w) {
				t.Errorf("%s: the board has %q", what, w)
			}
		}
	}
	board("one space", []string{"Round the cents"}, []string{"Switch space", "You are in no space"})
	h.do(t, "space.create", "", map[string]any{"name": "release"})
	h.do(t, "board.add", "", map[string]any{"title": "Cut the branch"})
	board("the last one", []string{"Cut the branch", "Switch space"}, []string{"Round the cents"})
	if code, _, _ := b.ask(t, "GET", "/panel/spaces/in?space="+billing+"&to=board", nil); code != 303 {
		t.Errorf("the switch answered %d", code)
	}
	board("switched", []string{"Round the cents"}, []string{"Cut the branch"})
	_, body, _ := b.ask(t, "GET", "/panel/spaces", nil)
	_, head, _ := strings.Cut(body, "<h1>")
	if head, _, _ = strings.Cut(head, "</h1>"); !strings.Contains(head, "billing") {
		t.Errorf("the space that is shown is %s", head)
	}
	if _, body, _ = b.ask(t, "GET", "/panel/spaces/messages", nil); !strings.Contains(body, "Switch space") {
		t.Error("the messages have no switch")
	}
	if code, _, _ := b.ask(t, "GET", "/panel/spaces/in?space=spc_none&to=board", nil); code != 404 {
		t.Errorf("a space that is none answered %d", code)
	}
}
