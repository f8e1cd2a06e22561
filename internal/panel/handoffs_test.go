package panel

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"tandem/internal/provider/scripted"
)

const handed = `name = "handed"
[[node]]
id = "given"
[node.wait]
handoff = "brief"
[node.output.pages.schema]
type = "integer"
[node.output.text]
artifact = "markdown"
[[node]]
id = "keep"
inputs = { pages = "given.pages" }
[node.operation]
name = "resource.put"
input = { key = "handed", value = "{{pages}}" }
`

// A run that waits for something to be handed over has a form for it on its page, with the names of what is wanted. What does not fit is
// refused, changes nothing, and stands in the form again; once it was handed over the form is gone.
func TestSomethingIsHandedOverOnARunsPage(t *testing.T) {
	h := startHouse(t)
	b := h.browser(t)
	b.signIn(t)
	page := b.does(t, "/panel/automations", url.Values{"text": {handed}})
	b.does(t, page+"/on", url.Values{"digest": {digestToSwitch.FindStringSubmatch(b.page(t, page))[1]}, "pin": {testPIN}})
	run := b.does(t, page+"/run", url.Values{})
	body := b.shows(t, run, "Hand it over")
	at := run + "/hand?handoff=brief&name=handed"
	for _, want := range []string{"Hand over brief", `action="` + strings.ReplaceAll(at, "&", "&amp;") + `"`, "&#34;pages&#34;",
		"&#34;text&#34;"} {
		if !strings.Contains(body, want) {
			t.Errorf("the form lacks %q: %s", want, refusedWords(body))
		}
	}
	for typed, why := range map[string]string{"no object": "should be a JSON object", `{"pages": "three", "text": "# Brief"}`: "pages",
		`{"pages": 3}`: "text", `{"pages": 3, "text": "# Brief", "more": 1}`: "more"} {
		code, body, _ := b.ask(t, "POST", at, url.Values{"output": {typed}})
		if code != http.StatusOK || !strings.Contains(body, "That was refused") || !strings.Contains(body, why) {
			t.Errorf("%s: %d %s", typed, code, refusedWords(body))
		}
		if !strings.Contains(body, strings.ReplaceAll(typed, `"`, "&#34;")+"</textarea>") {
			t.Errorf("%s is not in the form again: %s", typed, refusedWords(body))
		}
	}
	if to := b.leads(t, at, url.Values{"output": {`{"pages": 3, "text": "# Brief"}`}}); to != run+"?said=run-handed" {
		t.Errorf("handed over it leads to %s", to)
	}
	if body := b.shows(t, run, "completed"); strings.Contains(body, "Hand it over") {
		t.Error("the form is still there")
	}
	if code, body, _ := b.ask(t, "POST", at, url.Values{"output": {`{"pages": 4, "text": "# Again"}`}}); code != http.StatusOK ||
		!strings.Contains(body, "That was refused") {
		t.Errorf("a second time: %d %s", code, refusedWords(body))
	}
}

const counts = "```toml\nname = \"counts\"\n[[trigger]]\nid = \"mondays\"\nschedule = \"every monday at 9:00\"\n[[node]]\nid = \"keep\"\n" +
	"[node.operation]\nname = \"resource.put\"\ninput = { key = \"counts\", value = 1 }\n```\n"

// A person has a model write a definition in the dialog of the list: it is stored switched off, and its page says what it may do. What is
// no definition is refused, and the sentence stands in the dialog again.
func TestADraftIsAskedForInADialog(t *testing.T) {
	h := startHouse(t)
	model := &scripted.Server{Script: scripted.Script{Rules: []scripted.Rule{
		{Prompt: "every Monday", Turns: []scripted.Turn{{{Say: counts}}}}, {Turns: []scripted.Turn{{{Say: "I would rather not."}}}}}}}
	if err := model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	h.do(t, "provider.add", testPIN, map[string]any{"id": "fake", "base": model.URL(), "wire": "anthropic", "keyless": true})
	b := h.browser(t)
	b.signIn(t)
	if body := b.page(t, "/panel/automations"); !strings.Contains(body, `id="automation-draft"`) || !strings.Contains(body,
		`data-open="automation-draft"`) {
		t.Fatalf("there is no dialog: %s", refusedWords(body))
	}
	refused := func(typed, why string) {
		t.Helper()
		code, body, _ := b.ask(t, "POST", "/panel/automations/draft", url.Values{"text": {typed}})
		if code != http.StatusOK || !strings.Contains(body, why) || !strings.Contains(body, typed+"</textarea>") {
			t.Errorf("%q: %d %s", typed, code, refusedWords(body))
		}
	}
	refused("every Monday with nobody to write it", "model")
	h.do(t, "provider.default", testPIN, map[string]any{"model": "fake/scripted-1"})
	refused("something else", "no definition")
	page, query, _ := strings.Cut(b.leads(t, "/panel/automations/draft", url.Values{"text": {"every Monday at 9 keep a number"}}), "?")
	if page != "/panel/automations/counts" || !strings.Contains(query, "said=automation-drafted") {
		t.Errorf("drafted it leads to %s?%s", page, query)
	}
	body := b.page(t, page)
	for _, want := range []string{"resource.put", "every monday at 9:00", "Switch this version on"} {
		if !strings.Contains(body, want) {
			t.Errorf("its page lacks %q: %s", want, refusedWords(body))
		}
	}
}
