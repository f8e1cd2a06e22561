package panel

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// The form for a key shows where the key goes. When the provider was moved after the page was shown, the key is not stored.
func TestAKeyGoesWhereThePageSaid(t *testing.T) {
	h := startHouse(t)
	owner := h.browser(t)
	owner.signIn(t)
	const shown = `<input type="hidden" name="base" value="https://api.openai.com/v1">`
	if code, body, _ := owner.ask(t, "GET", "/panel/models", nil); code != http.StatusOK || !strings.Contains(body, shown) ||
		!strings.Contains(body, "and nowhere else") {
		t.Fatalf("the page, %d, does not hold %s", code, shown)
	}
	store := func() (int, string) {
		code, body, _ := owner.ask(t, "POST", "/panel/models/key",
			url.Values{"id": {"openai"}, "key": {"sk-0123456789"}, "base": {"https://api.openai.com/v1"}, "pin": {testPIN}})
		return code, body
	}
	h.do(t, "provider.add", testPIN, map[string]any{"id": "openai", "base": "http://127.0.0.1:1/v1"})
	if code, body := store(); code == http.StatusSeeOther ||
		!strings.Contains(body, "openai is at http://127.0.0.1:1/v1, and this key is meant for") {
		t.Errorf("after it was moved: %d", code)
	}
	h.do(t, "provider.remove", testPIN, map[string]any{"id": "openai"})
	if code, body := store(); code != http.StatusSeeOther {
		t.Errorf("where it belongs: %d %s", code, body)
	}
}

// What needs presence is offered to somebody who can show it: the button to grant a folder was missing.
func TestWhatNeedsPresenceIsOffered(t *testing.T) {
	h := startHouse(t)
	owner := h.browser(t)
	owner.signIn(t)
	for page, want := range map[string]string{"/panel/models": `data-open="folder-new"`, "/panel/people": `data-open="person-invite"`} {
		if body := owner.page(t, page); !strings.Contains(body, want) {
			t.Errorf("%s does not hold %s: %s", page, want, refusedWords(body))
		}
	}
}
