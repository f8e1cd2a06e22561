package panel

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

const paged = `
name = "paged"
[inputs.page]
type = "string"
[[node]]
id = "put"
inputs = { page = "input.page" }
[node.operation]
name = "resource.put"
input = { key = "page", value = "{{page}}" }
[node.output.value]
artifact = "html"
`

// What an automation made is looked at, compared and downloaded. A page that it made runs no script and asks for nothing.
func TestWhatAnAutomationMade(t *testing.T) {
	h := startHouse(t)
	b := h.browser(t)
	b.signIn(t)
	if body := b.page(t, "/panel/artifacts"); !strings.Contains(body, "No artifacts yet") {
		t.Errorf("empty: %s", refusedWords(body))
	}
	page := b.does(t, "/panel/automations", url.Values{"text": {paged}})
	digest := digestToSwitch.FindStringSubmatch(b.page(t, page))[1]
	b.does(t, page+"/on", url.Values{"digest": {digest}, "pin": {testPIN}})
	for _, text := range []string{"<h1>One</h1><script>alert(1)</script>", "<h1>Two</h1><script>alert(1)</script>"} {
		run := b.does(t, page+"/run", url.Values{"input": {"page=" + text}})
		b.shows(t, run, "What it made")
		b.shows(t, run, "completed")
	}
	if list := b.page(t, "/panel/artifacts"); !strings.Contains(list, "paged.put.value") || !strings.Contains(list, "version 2") {
		t.Errorf("the list: %s", refusedWords(list))
	}
	one := b.page(t, "/panel/artifacts/paged.put.value")
	for _, want := range []string{"What changed since version 1", "&lt;h1&gt;Two&lt;/h1&gt;", "automation.paged", "Download"} {
		if !strings.Contains(one, want) {
			t.Errorf("its page lacks %q: %s", want, refusedWords(one))
		}
	}
	code, body, head := b.ask(t, "GET", "/panel/artifacts/paged.put.value/file?version=1", nil)
	if code != http.StatusOK || body != "<h1>One</h1><script>alert(1)</script>" || head.Get("Content-Type") != "application/octet-stream" ||
		head.Get("Content-Disposition") != "attachment; filename=paged.put.value-1.html" {
		t.Errorf("the download: %d %q %v", code, body, head)
	}
	code, _, head = b.ask(t, "GET", "/panel/artifacts/paged.put.value/look", nil)
	if policy := head.Get("Content-Security-Policy"); code != http.StatusOK || !strings.HasPrefix(policy, "sandbox; default-src 'none'") ||
		strings.Contains(policy, "script") {
		t.Errorf("the page: %d %v", code, head)
	}
	if code, _, _ := b.ask(t, "GET", "/panel/artifacts/nothing.at.all", nil); code != http.StatusNotFound {
		t.Errorf("one that is not there: %d", code)
	}
}
