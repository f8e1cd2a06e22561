package panel

import (
	"net/url"
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
	_, body, _ = b.ask(t, "GET", "/panel/spaces/messages", nil)
	live := `hx-get="/panel/spaces/messages?space=` + billing + `"`
	for _, want := range []string{"Switch space", live, "live-space from:body", "Search the messages"} {
		if !strings.Contains(body, want) {
			t.Errorf("the messages lack %q", want)
		}
	}
	// A page that was open when another space was chosen acts where it is, and goes on to show that one.
	_, old, _ := b.ask(t, "GET", "/panel/board", nil)
	h.do(t, "space.create", "", map[string]any{"name": "third"})
	third := h.do(t, "space.list", "", nil)["seats"].([]any)[2].(map[string]any)["space"].(string)
	b.ask(t, "GET", "/panel/spaces/in?space="+third+"&to=board", nil)
	field := `name="space" value="` + billing + `"`
	if !strings.Contains(old, field) || !strings.Contains(old, "/panel/board?space="+billing) {
		t.Errorf("the forms and the live part of the board do not name their space %s", billing)
	}
	b.ask(t, "POST", "/panel/board", url.Values{"title": {"Sent from an old page"}, "space": {billing}})
	board("after the act", []string{"Round the cents", "Sent from an old page"}, []string{"Cut the branch"})
	_, body, _ = b.ask(t, "POST", "/panel/board", url.Values{"title": {"Lost"}, "space": {"spc_none"}})
	if !strings.Contains(body, "you are not in that space any more") {
		t.Errorf("an act in a space that one is not in: %s", body)
	}
	if code, _, _ := b.ask(t, "GET", "/panel/spaces/in?space=spc_none&to=board", nil); code != 404 {
		t.Errorf("a space that is none answered %d", code)
	}
}
