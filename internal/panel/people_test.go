package panel

import (
	"context"
	"html"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"tandem/internal/testenv"
)

var loginLine = regexp.MustCompile(`data-copy="tandem login ([^"]+)"`)

// The owner invites somebody in the panel, who logs in with the line that it shows once; sees who came, revokes an invitation that
// nobody used, and removes the person, whose machine is a stranger from then on.
func TestAPersonIsInvitedAndRemoved(t *testing.T) {
	h := startHouse(t)
	b := h.browser(t)
	b.signIn(t)
	if body := b.page(t, "/panel/people"); !strings.Contains(body, "Nobody was invited yet") || !strings.Contains(body,
		"tandem up --replace --listen") {
		t.Errorf("the empty page: %s", refusedWords(body))
	}
	for why, form := range map[string]url.Values{
		"this needs you": {"person": {"anna"}},
		`value="anna"`:   {"person": {"anna"}},
		"whom it is for": {"pin": {testPIN}},
	} {
		if code, body, _ := b.ask(t, "POST", "/panel/people", form); code != http.StatusOK || !strings.Contains(body, why) {
			t.Errorf("%s: %d %s", why, code, refusedWords(body))
		}
	}
	invite := func(name string) string {
		code, body, _ := b.ask(t, "POST", "/panel/people", url.Values{"person": {name}, "hours": {"1"}, "pin": {testPIN}})
		m := loginLine.FindStringSubmatch(body)
		if code != http.StatusOK || m == nil {
			t.Fatalf("the invitation of %s: %d %s", name, code, refusedWords(body))
		}
		return html.UnescapeString(m[1])
	}
	link := invite("anna")
	home := testenv.Dir(t)
	run := func(args ...string) (string, error) {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, testenv.Tandem(t), args...)
		cmd.Dir, cmd.Env = home, testenv.Env(t, "HOME="+home, "TANDEM_IDLE_EXIT=2m")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	t.Cleanup(func() { run("down") })
	if out, err := run("login", link, "--no-pin"); err != nil {
		t.Fatalf("login: %v\n%s", err, out)
	}
	body := b.page(t, "/panel/people")
	if !strings.Contains(body, `href="/panel/people/anna"`) || !strings.Contains(body, "came by it") || strings.Contains(body, link) {
		t.Errorf("after the login: %s", refusedWords(body))
	}
	if page := b.page(t, "/panel/people/anna"); !strings.Contains(page, "What they may") || !strings.Contains(page, "/panel/actors/") {
		t.Errorf("anna's page: %s", refusedWords(page))
	}
	if found := b.page(t, "/panel/find?q=anna"); !strings.Contains(found, "/panel/people/anna") {
		t.Errorf("the finder does not know her: %s", found)
	}
	for back, want := range map[string]bool{"/panel/people/anna": true, "//evil.example/panel/people/anna": false, "/panel/elsewhere": false} {
		asks := b.page(t, "/panel/devices/dev_1/revoke?"+url.Values{"back": {back}}.Encode())
		if strings.Contains(asks, `name="back" value="`+back+`"`) != want || strings.Contains(asks, `href="`+back+`"`) && !want {
			t.Errorf("asked from %s: %s", back, refusedWords(asks))
		}
	}
	invite("bert")
	revoke := regexp.MustCompile(`/panel/invites/inv_[0-9a-z]+/revoke`).FindString(b.page(t, "/panel/people"))
	b.page(t, revoke)
	b.does(t, revoke, url.Values{"pin": {testPIN}})
	b.shows(t, "/panel/people", "revoked")

	if out, err := run("whoami"); err != nil || !strings.Contains(out, "anna") {
		t.Errorf("whoami: %v %s", err, out)
	}
	if code, body, _ := b.ask(t, "POST", "/panel/people/anna/remove", url.Values{}); code != http.StatusOK ||
		!strings.Contains(body, "this needs you") {
		t.Errorf("nobody was there: %d %s", code, refusedWords(body))
	}
	// Ownership is shared and taken back, and who is in a group is said here, too.
	for path, form := range map[string]url.Values{"/panel/people/anna/own": nil,
		"/panel/groups": {"group": {"reviewers"}, "members": {"anna"}}} {
		if code, body, _ := b.ask(t, "POST", path, form); code != http.StatusOK || !strings.Contains(body, "this needs you") {
			t.Errorf("nobody was there for %s: %d %s", path, code, refusedWords(body))
		}
	}
	b.does(t, "/panel/people/anna/own", url.Values{"pin": {testPIN}})
	b.shows(t, "/panel/people/anna", "Take ownership back")
	b.does(t, "/panel/people/anna/disown", url.Values{"pin": {testPIN}})
	b.shows(t, "/panel/people/anna", "Make an owner")
	b.does(t, "/panel/groups", url.Values{"group": {"reviewers"}, "members": {"anna owner"}, "pin": {testPIN}})
	b.shows(t, "/panel/people", "person:anna, person:owner")
	b.does(t, "/panel/groups/out", url.Values{"group": {"reviewers"}, "members": {"owner"}, "pin": {testPIN}})
	b.does(t, "/panel/groups/reviewers/remove", url.Values{"pin": {testPIN}})

	b.does(t, "/panel/people/anna/remove", url.Values{"pin": {testPIN}})
	b.shows(t, "/panel/people", "left")
	if out, err := run("session", "list"); err == nil {
		t.Errorf("a removed person's machine is still let in: %s", out)
	}
}
