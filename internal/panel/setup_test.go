package panel

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"tandem/internal/panel/ui"
	"tandem/internal/testenv"
)

// The first ten minutes in a browser: what is done is said, what is left has its form, and the last step is a real turn.
func TestTheFirstTenMinutes(t *testing.T) {
	h := startHouse(t)
	b := h.browser(t)
	b.signIn(t)
	if home := b.page(t, "/panel/"); !strings.Contains(home, `href="/panel/setup"`) {
		t.Error("the first page does not lead there")
	}
	body := b.page(t, "/panel/setup")
	for _, want := range []string{"It is set.", "/panel/passkeys/new", "/panel/setup/folder", "local/",
		"https://api.anthropic.com", "say hello", "inbox"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q: %s", want, refusedWords(body))
		}
	}
	folder := testenv.Dir(t)
	for why, form := range map[string]url.Values{
		"this needs you":     {"path": {folder}},
		"That was refused":   {"path": {"not a path"}, "pin": {testPIN}},
		`value="not a path"`: {"path": {"not a path"}},
	} {
		if code, body, _ := b.ask(t, "POST", "/panel/setup/folder", form); code != http.StatusOK || !strings.Contains(body, why) {
			t.Errorf("%s: %d %s", why, code, refusedWords(body))
		}
	}
	b.does(t, "/panel/setup/folder", url.Values{"path": {folder}, "pin": {testPIN}})
	if code, body, _ := b.ask(t, "POST", "/panel/setup/key", url.Values{"provider": {"anthropic"},
		"key": {"sk-1"}}); code != http.StatusOK ||
		!strings.Contains(body, "choose whose key it is") {
		t.Errorf("a key for nobody: %d %s", code, refusedWords(body))
	}
	talk := b.does(t, "/panel/setup/turn", url.Values{"text": {"say hello"}})
	if !strings.HasPrefix(talk, "/panel/sessions/ses_") {
		t.Fatalf("the turn leads to %s", talk)
	}
	b.shows(t, talk, "say hello")
	made := h.do(t, "session.get", "", map[string]any{"id": strings.TrimPrefix(talk, "/panel/sessions/")})
	if made["directory"] != folder {
		t.Errorf("the turn was made in %v, want %s", made["directory"], folder)
	}
	b.shows(t, "/panel/setup", "A session was opened.")
}

// A form that nobody can send yet is renewed with its page, so that its button comes once there is a PIN. One that can be filled in is
// left alone.
func TestAFormGetsItsButtonWithThePIN(t *testing.T) {
	for _, pin := range []bool{false, true} {
		v := SetupView{MayGrant: true, MayKey: true, KeyAsks: true, PIN: pin, Echo: true, Offered: []ui.Option{{Value: "x y", Label: "x"}}}
		var page strings.Builder
		if err := setupPage(ui.Shell{Here: "/panel/setup"}, v).Render(t.Context(), &page); err != nil {
			t.Fatal(err)
		}
		for _, action := range []string{"/panel/setup/folder", "/panel/setup/key"} {
			kept := strings.Contains(page.String(), `<form hx-morph-skip method="post" action="`+action+`"`)
			if offered := strings.Contains(page.String(), "with PIN"); kept != pin || offered != pin {
				t.Errorf("with a PIN %v: %s is kept %v, and has its button %v", pin, action, kept, offered)
			}
		}
	}
}
