package panel

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"tandem/internal/memory/wire"
)

// An agent proposes what it learnt; a person reads it with where it comes from and makes exactly that version live, finds it, mends it,
// and forgets it. The cookie alone does none of it.
func TestMemoryIsReadAndMadeLive(t *testing.T) {
	h := startHouse(t)
	b := h.browser(t)
	b.signIn(t)
	if body := b.page(t, "/panel/memory"); !strings.Contains(body, "Nothing is remembered yet") || !strings.Contains(body,
		"tandem memory add") {
		t.Errorf("the empty page: %s", refusedWords(body))
	}
	stated := b.does(t, "/panel/memory", url.Values{"text": {"releases are made on Tuesdays"}, "kind": {"decision"}, "tier": {"team"},
		"labels": {"release"}, "pin": {testPIN}})
	for why, form := range map[string]url.Values{
		"this needs you":   {"text": {"x"}},
		"That was refused": {"text": {""}, "pin": {testPIN}},
	} {
		if code, body, _ := b.ask(t, "POST", "/panel/memory", form); code != http.StatusOK || !strings.Contains(body, why) {
			t.Errorf("%s: %d %s", why, code, refusedWords(body))
		}
	}
	proposed := "/panel/memory/" + h.proposes(t, map[string]any{"text": "releases are made on Wednesdays", "kind": "lesson", "tier": "team",
		"replaces": strings.TrimPrefix(stated, "/panel/memory/"), "sources": []map[string]any{{"kind": "file",
			"ref": "docs/release.md", "place": "line 3"}}})
	list := b.page(t, "/panel/memory?state=proposed")
	if !strings.Contains(list, proposed) || !strings.Contains(list, "untrusted") || !strings.Contains(list, "release.md") {
		t.Errorf("what waits: %s", refusedWords(list))
	}
	body := b.page(t, proposed)
	for _, want := range []string{"Nobody is told this yet", "release.md", "line 3", "Tuesdays", "Make it live", "builder"} {
		if !strings.Contains(body, want) {
			t.Errorf("the proposal's page lacks %q: %s", want, refusedWords(body))
		}
	}
	if found := b.page(t, "/panel/memory?q=Wednesdays"); strings.Contains(found, proposed) {
		t.Error("what nobody read is found")
	}
	if asks := b.page(t, proposed+"/promote?version=1"); !strings.Contains(asks, "on Wednesdays") {
		t.Errorf("the question: %s", refusedWords(asks))
	}
	for why, form := range map[string]url.Values{
		"this needs you":            {"version": {"1"}},
		"which version you read is": {"pin": {testPIN}},
		"That was refused":          {"version": {"7"}, "pin": {testPIN}},
	} {
		if code, body, _ := b.ask(t, "POST", proposed+"/promote", form); code != http.StatusOK || !strings.Contains(body, why) {
			t.Errorf("%s: %d %s", why, code, refusedWords(body))
		}
	}
	b.does(t, proposed+"/promote", url.Values{"version": {"1"}, "pin": {testPIN}})
	if found := b.page(t, "/panel/memory?q=Wednesdays"); !strings.Contains(found, proposed) || !strings.Contains(found, "approved") ||
		!strings.Contains(found, "by words") {
		t.Errorf("searched for: %s", refusedWords(found))
	}
	if found := b.page(t, "/panel/find?q=Wednesdays"); !strings.Contains(found, proposed) {
		t.Errorf("the finder does not know it: %s", found)
	}
	if old := b.page(t, stated); !strings.Contains(old, "A newer record stands for this one") {
		t.Errorf("the older record: %s", refusedWords(old))
	}
	b.does(t, proposed+"/edit", url.Values{"text": {"releases are made on Thursdays"}, "version": {"2"}, "pin": {testPIN}})
	if page := b.page(t, proposed); !strings.Contains(page, "Thursdays") || !strings.Contains(page, "Wednesdays") {
		t.Errorf("its history: %s", refusedWords(page))
	}
	if old := b.page(t, proposed+"?version=1"); !strings.Contains(old, "It is at another version by now") ||
		strings.Contains(old, "/demote?") {
		t.Errorf("a page that was opened before: %s", refusedWords(old))
	}
	if asks := b.page(t, proposed+"/demote?version=1"); !strings.Contains(asks, "you read another one") ||
		strings.Contains(asks, "Take it back with PIN") {
		t.Errorf("the question about what it said: %s", refusedWords(asks))
	}
	for _, tab := range []string{"proposed", "superseded"} {
		if found := b.page(t, "/panel/memory?state="+tab+"&q=nowhere"); !strings.Contains(found, "Only what is live is searched") {
			t.Errorf("a search among what is %s: %s", tab, refusedWords(found))
		}
	}
	code, refused, _ := b.ask(t, "POST", proposed+"/edit", url.Values{"text": {"releases are made on Fridays"}, "version": {"2"},
		"kind": {"note"}, "pin": {testPIN}})
	if code != http.StatusOK || !strings.Contains(refused, "That was refused") || !strings.Contains(refused, "Fridays</textarea>") ||
		!strings.Contains(refused, `name="version" value="2"`) || strings.Contains(refused, `name="version" value="3"`) ||
		!strings.Contains(refused, "This was written about version 2") {
		t.Errorf("an edit of what it was: %d %s", code, refusedWords(refused))
	}
	b.does(t, proposed+"/demote", url.Values{"version": {"3"}, "pin": {testPIN}})
	b.shows(t, proposed, "Nobody is told this yet")
	b.page(t, proposed+"/forget")
	code, gone, _ := b.ask(t, "POST", proposed+"/forget", url.Values{"pin": {testPIN}})
	if code != http.StatusOK || !strings.Contains(gone, "It is forgotten") || strings.Contains(gone, "Thursdays") {
		t.Errorf("forgetting: %d %s", code, refusedWords(gone))
	}
	if page := b.page(t, proposed); !strings.Contains(page, "<title>Forgotten") || strings.Contains(page, "It names no source") {
		t.Errorf("the page of what is forgotten: %s", refusedWords(page))
	}
}

// A task is known in its space alone: a record that names one does not lead to the task of that number in another.
func TestATaskAsASourceLeadsNowhere(t *testing.T) {
	if row := sourceRow(wire.Source{Kind: "task", Ref: "T1"}); row.Href != "" || row.Ref != "T1" {
		t.Errorf("%+v", row)
	}
}

// proposes has the agent propose something, and answers with its id.
func (h *house) proposes(t *testing.T, in map[string]any) string {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest("POST", h.near+"/op/memory.propose", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+h.agent)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var out struct{ ID string }
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil || out.ID == "" {
		t.Fatalf("memory.propose answered %d, %v", res.StatusCode, err)
	}
	return out.ID
}
