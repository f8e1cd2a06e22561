package panel

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

const morning = `name = "morning"
title = "A report that somebody looks at"

[[node]]
id = "draft"
[node.operation]
name = "resource.put"
input = { key = "report/draft", value = "dear all" }
[node.output.rev.schema]
type = "integer"

[[node]]
id = "look"
[node.gate]
text = "Is it right?"
shows = ["draft.rev"]
rework = "draft"
expires = "8h"

[[node]]
id = "keep"
after = ["look"]
on_failure = "pause"
[node.operation]
name = "resource.put"
input = { key = "report/sent", value = true, if_absent = true }
`

var (
	digestToSwitch = regexp.MustCompile(`/on\?digest=([0-9a-f]+)`)
	askToAnswer    = regexp.MustCompile(`/panel/approvals/(ask_[0-9a-z]+)\?back=`)
	askDigest      = regexp.MustCompile(`name="digest" value="([^"]+)"`)
	repairDigest   = regexp.MustCompile(`name="digest" value="([0-9a-f]{64})"`)
	askPageDigest  = regexp.MustCompile(`name="pages" value="([^"]+)"`)
)

// A person stores a definition, looks at what it may do and switches exactly that version on, begins a run, answers its gate, and mends
// the step that failed.
func TestAnAutomationFromTheTextToTheEndOfARun(t *testing.T) {
	h := startHouse(t)
	h.do(t, "resource.put", "", map[string]any{"key": "report/sent", "value": false})
	b := h.browser(t)
	b.signIn(t)
	if body := b.page(t, "/panel/automations"); !strings.Contains(body, "No automations yet") || !strings.Contains(body,
		"tandem automation add") {
		t.Errorf("the empty list: %s", refusedWords(body))
	}
	if code, body, _ := b.ask(t, "POST", "/panel/automations", url.Values{"text": {"name = 7\n# again"}}); code != http.StatusOK ||
		!strings.Contains(body, "That was refused") || !strings.Contains(body, "name = 7\n# again</textarea>") {
		t.Errorf("a definition that is none: %d %s", code, refusedWords(body))
	}
	page := b.does(t, "/panel/automations", url.Values{"text": {morning}})
	body := b.page(t, page)
	for _, want := range []string{"What it may do", "resource.put", "report/draft", "Switch this version on"} {
		if !strings.Contains(body, want) {
			t.Errorf("its page lacks %q: %s", want, refusedWords(body))
		}
	}
	digest := digestToSwitch.FindStringSubmatch(body)[1]
	if !strings.Contains(body, `hx-get="`+page+"?digest="+digest+`"`) {
		t.Error("the page that renews itself may show another version")
	}
	if asks := b.page(t, page+"/on?digest="+digest); !strings.Contains(asks, digest) || !strings.Contains(asks, "report/draft") {
		t.Errorf("the question: %s", refusedWords(asks))
	}
	for why, form := range map[string]url.Values{
		"this needs you": {"digest": {digest}},
		"refused":        {"digest": {strings.Repeat("0", len(digest))}, "pin": {testPIN}},
	} {
		if code, body, _ := b.ask(t, "POST", page+"/on", form); code != http.StatusOK || !strings.Contains(body, why) {
			t.Errorf("%s: %d %s", why, code, refusedWords(body))
		}
	}
	b.does(t, page+"/on", url.Values{"digest": {digest}, "pin": {testPIN}})
	if code, body, _ := b.ask(t, "POST", page+"/run", url.Values{"input": {"no input"}}); code != http.StatusOK ||
		!strings.Contains(body, "is no input") || !strings.Contains(body, "no input</textarea>") {
		t.Errorf("an input that is none: %d %s", code, refusedWords(body))
	}
	run := b.does(t, page+"/run", url.Values{})
	answered := b.shows(t, run, "Look and answer")
	ask := "/panel/approvals/" + askToAnswer.FindStringSubmatch(answered)[1]
	b.approve(t, ask)

	b.shows(t, run, "Run it again")
	b.shows(t, run, "paused") // a moment after the step failed
	if inbox := b.page(t, "/panel/"); !strings.Contains(inbox, run) {
		t.Error("the inbox does not lead to it")
	}
	h.do(t, "resource.delete", "", map[string]any{"key": "report/sent"})
	if asks := b.page(t, run+"/skip?node=keep"); !strings.Contains(asks, `maxlength="1000" required`) {
		t.Errorf("skipping does not ask why: %s", refusedWords(asks))
	}
	if asks := b.page(t, run+"/retry?node=keep"); !strings.Contains(asks, "Let this step run again?") {
		t.Errorf("the question: %s", refusedWords(asks))
	}
	if code, body, _ := b.ask(t, "POST", run+"/retry", url.Values{"node": {"keep"}}); code != http.StatusOK ||
		!strings.Contains(body, "this needs you") {
		t.Errorf("nobody was there: %d %s", code, refusedWords(body))
	}
	if to := b.leads(t, run+"/retry", url.Values{"node": {"keep"}, "pin": {testPIN}}); to != run+"?said=run-still-paused" {
		t.Errorf("mending a paused run leads to %s", to)
	}
	b.does(t, run+"/resume", url.Values{})
	b.shows(t, run, "completed")

	second := b.does(t, page+"/run", url.Values{})
	b.does(t, second+"/pause", url.Values{})
	b.shows(t, second, "Go on")
	b.does(t, second+"/cancel", url.Values{"reason": {"not today"}})
	b.shows(t, second, "not today")
	b.does(t, "/panel/automations", url.Values{"text": {strings.Replace(morning, "dear all", "dear nobody", 1)}})
	if old := b.page(t, page+"?digest="+digest); !strings.Contains(old, "A newer version is stored") || strings.Contains(old, "dear nobody") {
		t.Errorf("the version that was opened: %s", refusedWords(old))
	}
	newest := digestToSwitch.FindStringSubmatch(b.page(t, page))[1]
	if asks := b.page(t, page+"/on?digest="+newest); !strings.Contains(asks, "dear nobody") {
		t.Errorf("the question does not say what changes: %s", refusedWords(asks))
	}
	b.does(t, "/panel/automations", url.Values{"text": {strings.Replace(morning, "resource.put", "resource.nothing", 1)}})
	if body := b.page(t, page); !strings.Contains(body, "It cannot be switched on") || !strings.Contains(body, "Switch it off") ||
		digestToSwitch.MatchString(body) {
		t.Errorf("a newest version that cannot be switched on: %s", refusedWords(body))
	}
	b.does(t, page+"/off", url.Values{})
	b.shows(t, page, "Remove")
	if found := b.page(t, "/panel/find?q=morning"); !strings.Contains(found, page) {
		t.Errorf("the finder does not know it: %s", found)
	}
	b.does(t, page+"/remove", url.Values{})
	if list := b.page(t, "/panel/automations"); !strings.Contains(list, "No automations yet") {
		t.Errorf("it is still there: %s", refusedWords(list))
	}
}

// approve answers an ask with the fields that its page holds.
func (b *browser) approve(t *testing.T, ask string) {
	t.Helper()
	body := b.page(t, ask)
	form := url.Values{"verdict": {"approve"}, "pin": {testPIN}}
	if m := askDigest.FindStringSubmatch(body); m != nil {
		form.Set("digest", m[1])
	}
	for _, m := range askPageDigest.FindAllStringSubmatch(body, -1) {
		if !strings.Contains(strings.Join(form["pages"], " "), m[1]) {
			form.Add("pages", m[1])
		}
	}
	b.does(t, ask+"/decide", form)
}

const drafting = `name = "drafting"

[[node]]
id = "draft"
[node.turn]
prompt = "Write the mail."
model = "nobody/nothing"
`

// A person has the node of a run that failed told something else: they see what changes, prove that they are there, and the run's page
// tells of it.
func TestARunIsRepaired(t *testing.T) {
	h := startHouse(t)
	b := h.browser(t)
	b.signIn(t)
	page := b.does(t, "/panel/automations", url.Values{"text": {drafting}})
	b.does(t, page+"/on", url.Values{"digest": {digestToSwitch.FindStringSubmatch(b.page(t, page))[1]}, "pin": {testPIN}})
	run := b.does(t, page+"/run", url.Values{})
	b.shows(t, run, "failed")
	if body := b.page(t, run); !strings.Contains(body, run+"/repair?node=draft") {
		t.Errorf("the run does not lead to a repair: %s", refusedWords(body))
	}
	if same := b.page(t, run+"/rehearse"); !strings.Contains(same, "Nothing would differ") {
		t.Errorf("with its own version: %s", refusedWords(same))
	}
	b.does(t, "/panel/automations", url.Values{"text": {strings.Replace(drafting, "Write the mail", "Write the letter", 1)}})
	if other := b.page(t, run+"/rehearse"); !strings.Contains(other, "is told and given otherwise") ||
		strings.Contains(other, "Nothing would differ") {
		t.Errorf("with the newest version: %s", refusedWords(other))
	}
	if form := b.page(t, run+"/repair?node=draft"); !strings.Contains(form, "Write the mail.</textarea>") ||
		!strings.Contains(form, `value="nobody/nothing"`) {
		t.Errorf("the form: %s", refusedWords(form))
	}
	fields := url.Values{"node": {"draft"}, "prompt": {"Write {{week}}."}, "model": {"nobody/nothing"}}
	if code, body, _ := b.ask(t, "POST", run+"/review", fields); code != http.StatusOK || !strings.Contains(body, "is none of its inputs") ||
		!strings.Contains(body, "Write {{week}}.</textarea>") {
		t.Errorf("words that are wrong: %d %s", code, refusedWords(body))
	}
	fields.Set("prompt", "Write a short mail.")
	fields.Set("reason", "it was too long")
	code, body, _ := b.ask(t, "POST", run+"/review", fields)
	digest := repairDigest.FindStringSubmatch(body)
	if code != http.StatusOK || len(digest) == 0 || !strings.Contains(body, "What changes") {
		t.Fatalf("what changes: %d %s", code, refusedWords(body))
	}
	fields.Set("digest", digest[1])
	if code, body, _ := b.ask(t, "POST", run+"/repair", fields); code != http.StatusOK || !strings.Contains(body, "this needs you") {
		t.Errorf("nobody was there: %d %s", code, refusedWords(body))
	}
	fields.Set("pin", testPIN)
	b.does(t, run+"/repair", fields)
	told := b.shows(t, run, "it was too long")
	if !strings.Contains(told, "Repaired: ") || !strings.Contains(refusedWords(told), "short") {
		t.Errorf("the run does not tell of it: %s", refusedWords(told))
	}
}
