package panel

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"tandem/internal/panel/ui"
)

// What can be done to a task is done from its page: change it, say something, cancel it, open it again. What it waits for is named, and a
// page that is older than the task changes nothing.
func TestATaskFromItsPage(t *testing.T) {
	h := startHouse(t)
	b := h.browser(t)
	b.signIn(t)
	h.do(t, "space.create", "", map[string]any{"name": "billing"})
	b.does(t, "/panel/board", url.Values{"title": {"Count the cents"}})
	first := regexp.MustCompile(`T-[0-9a-f]+`).FindString(b.page(t, "/panel/board"))
	b.does(t, "/panel/board", url.Values{"title": {"Round the cents"}, "description": {"half up"}, "priority": {"low"}, "needs": {first}})
	var page string
	for _, at := range regexp.MustCompile(`/panel/board/T-[0-9a-f]+`).FindAllString(b.page(t, "/panel/board"), -1) {
		if at != "/panel/board/"+first {
			page = at
		}
	}
	rev := func() string {
		return regexp.MustCompile(`name="rev" value="(\d+)"`).FindStringSubmatch(b.page(t, page))[1]
	}
	shows := func(what string, words ...string) {
		t.Helper()
		body := b.page(t, page)
		for _, w := range words {
			if !strings.Contains(body, w) {
				t.Errorf("%s: the page lacks %q", what, w)
			}
		}
	}
	shows("made", "Round the cents", "half up", "/panel/board/"+first, "Count the cents")
	old := rev()
	b.does(t, page+"/edit", url.Values{"title": {"Round to even"}, "description": {"as banks do"}, "priority": {"high"}, "rev": {old}})
	b.does(t, page+"/comment", url.Values{"text": {"The tax office agrees."}})
	shows("changed", "Round to even", "as banks do", "The tax office agrees.")
	if code, body, _ := b.ask(t, "POST", page+"/edit", url.Values{"title": {"Round down"}, "rev": {old}}); code == http.StatusSeeOther ||
		!strings.Contains(body, "Nothing was changed.") {
		t.Errorf("an older page changed it: %d", code)
	}
	b.does(t, page+"/edit", url.Values{"labels": {"billing, easy"}, "rev": {rev()}})
	shows("labelled", "billing, easy")
	b.does(t, page+"/edit", url.Values{"labels": {"easy, money"}, "had": {"billing, easy"}, "rev": {rev()}})
	shows("labelled anew", "easy, money")
	if body := b.page(t, "/panel/board?label=money"); !strings.Contains(body, "Round to even") || strings.Contains(body, "Count the cents") {
		t.Error("the board is not narrowed to a label")
	}
	_, list, head := b.ask(t, "GET", "/panel/board/list/markdown?label=money", nil)
	if !strings.HasPrefix(list, "- [ ] Round to even\n") || head.Get("Content-Disposition") != "attachment; filename=board.md" {
		t.Errorf("%v: %s", head, list)
	}
	if code, _, _ := b.ask(t, "GET", "/panel/board/list/odd", nil); code != http.StatusNotFound {
		t.Errorf("a list of no known form: %d", code)
	}
	b.does(t, page+"/edit", url.Values{"parent": {first}, "rev": {rev()}})
	shows("part of another", "Part of")
	if body := b.page(t, "/panel/board/"+first); !strings.Contains(body, "Parts: 0 of 1 parts done") {
		t.Error("the larger task does not know its part")
	}
	if body := b.page(t, "/panel/board/picture"); strings.Count(body, "drawing-box") != 2 || strings.Count(body, "drawing-line") != 1 {
		t.Error("the picture has not two tasks, of which one waits for the other")
	}
	b.does(t, page+"/edit", url.Values{"part-of": {first}, "rev": {rev()}})
	if strings.Contains(b.page(t, page), "<h3>Part of") {
		t.Error("it is part of the other one for good")
	}
	b.does(t, page+"/cancel", url.Values{"reason": {"nobody pays in cents"}, "rev": {rev()}})
	shows("cancelled", "nobody pays in cents", "Reopen", "What happened", "cancelled a task", "reason: nobody pays in cents")
	b.does(t, page+"/archive", nil)
	shows("put away", "Bring it back")
	if strings.Contains(b.page(t, "/panel/board"), "Round to even") ||
		!strings.Contains(b.page(t, "/panel/board?show=archived"), "Round to even") {
		t.Error("what is put away is on the board, or nowhere")
	}
	b.does(t, page+"/archive", url.Values{"back": {"yes"}})
	b.does(t, page+"/reopen", url.Values{"rev": {rev()}})
	shows("open again", "Round to even", "Cancel the task")
}

// Only who keeps a space is offered to remove others, and sees who keeps it.
func TestRemovingIsOfferedToWhoMay(t *testing.T) {
	for _, mine := range []bool{false, true} {
		v := SpaceView{In: true, Title: "billing", Keeps: mine, Peers: []PeerRow{{ID: "m_1", Name: "ann", You: true, Keeps: mine},
			{ID: "m_2", Name: "ben", Keeps: !mine}}}
		var page strings.Builder
		if err := spacesPage(ui.Shell{Here: "/panel/spaces"}, v).Render(t.Context(), &page); err != nil {
			t.Fatal(err)
		}
		if offered := strings.Contains(page.String(), "/panel/spaces/peers/m_2/remove"); offered != mine {
			t.Errorf("who keeps the space: %v, and may remove: %v", mine, offered)
		}
		if strings.Count(page.String(), "keeps the space") != 1 {
			t.Error("the page does not say who keeps it")
		}
	}
}
