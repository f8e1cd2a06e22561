package panel

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// A person makes a knowledge space, adds an item, reads and promotes it, asks, and takes it back. What needs a person asks for one.
func TestAKnowledgeSpaceIsMadeAskedAndRemoved(t *testing.T) {
	h := startHouse(t)
	b := h.browser(t)
	b.signIn(t)
	b.shows(t, "/panel/knowledge", "No knowledge spaces")
	made := url.Values{"name": {"handbook"}, "purpose": {"How we release"}, "days": {"90"}}
	if _, body, _ := b.ask(t, "POST", "/panel/knowledge", made); !strings.Contains(body, "this needs you") {
		t.Errorf("made without a PIN: %s", refusedWords(body))
	}
	made.Set("pin", testPIN)
	b.does(t, "/panel/knowledge", made)
	b.does(t, "/panel/knowledge/handbook/add", url.Values{"title": {"Release day"}, "summary": {"Releases are cut on Tuesdays."},
		"covers": {"release/day"}, "source": {"file:docs/release.md"}})
	body := b.page(t, "/panel/knowledge/handbook")
	for _, want := range []string{"Release day", "working", "90 days after a person looked at it", "whoever policy lets"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q: %s", want, refusedWords(body))
		}
	}
	item := regexp.MustCompile(`/panel/knowledge-items/kno_[0-9a-z]{26}`).FindString(body)
	b.shows(t, "/panel/knowledge?q=when+are+releases+cut", "Not known here")
	b.does(t, item+"/promote", url.Values{"version": {"1"}, "default": {"yes"}, "pin": {testPIN}})
	body = b.page(t, "/panel/knowledge?q=when+are+releases+cut")
	for _, want := range []string{"Releases are cut on Tuesdays.", "default", "[kno_"} {
		if !strings.Contains(body, want) {
			t.Errorf("the answer lacks %q: %s", want, refusedWords(body))
		}
	}
	if _, body, _ := b.ask(t, "POST", item+"/promote", url.Values{"version": {"1"}, "pin": {testPIN}}); !strings.Contains(body,
		"is at version 2") {
		t.Errorf("promoting what was not read: %s", refusedWords(body))
	}
	b.does(t, item+"/deprecate", url.Values{"reason": {"they moved"}})
	b.shows(t, "/panel/knowledge?q=when+are+releases+cut", "Not known here")
	b.shows(t, item, "they moved")
	b.does(t, "/panel/knowledge/handbook/remove", url.Values{"pin": {testPIN}})
	b.shows(t, "/panel/knowledge", "No knowledge spaces")
}
