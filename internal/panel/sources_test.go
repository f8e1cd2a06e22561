package panel

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/testenv"
)

// A person looks at what an import of a folder would bring, binds it, holds it back and revokes it. The cookie alone does none of what
// needs a person.
func TestASourceIsLookedAtBoundAndRevoked(t *testing.T) {
	h := startHouse(t)
	b := h.browser(t)
	b.signIn(t)
	b.shows(t, "/panel/sources", "No sources")
	folder := filepath.Join(testenv.Dir(t), "docs")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"release.md": "# Release day\n\nWe ship on Tuesdays.\n", "id_ed25519": "a key"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, body, _ := b.ask(t, "POST", "/panel/sources/preview", url.Values{"where": {folder}}); !strings.Contains(body, "this needs you") {
		t.Errorf("looking without a PIN: %s", refusedWords(body))
	}
	_, body, _ := b.ask(t, "POST", "/panel/sources/preview", url.Values{"where": {folder}, "pin": {testPIN}})
	for _, want := range []string{"What an import would bring", "1 file", "release.md", "Bind it"} {
		if !strings.Contains(body, want) {
			t.Errorf("the preview lacks %q: %s", want, refusedWords(body))
		}
	}
	if strings.Contains(body, "id_ed25519") {
		t.Error("a key is among what would be read")
	}
	_, body, _ = b.ask(t, "POST", "/panel/sources", url.Values{"where": {folder}, "name": {"hand book"}, "pin": {testPIN}})
	if !strings.Contains(body, "is no name for a source") {
		t.Errorf("a name that is none: %s", refusedWords(body))
	}
	b.does(t, "/panel/sources", url.Values{"where": {folder}, "name": {"handbook"}, "every": {"60"}, "pin": {testPIN}})
	body = b.page(t, "/panel/sources")
	for _, want := range []string{"handbook", "paused", folder, "every 60 minutes", "not yet", "/panel/sources/handbook/resume"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q: %s", want, refusedWords(body))
		}
	}
	b.does(t, "/panel/sources/handbook/quarantine", url.Values{})
	b.shows(t, "/panel/sources", "Nobody finds what came from it")
	b.shows(t, "/panel/sources/handbook/revoke", "out of every search at once")
	b.does(t, "/panel/sources/handbook/revoke", url.Values{})
	if !testenv.Within(30*time.Second, func() bool { return strings.Contains(b.page(t, "/panel/sources"), "No sources") }) {
		t.Error("what was revoked is still shown")
	}
}
