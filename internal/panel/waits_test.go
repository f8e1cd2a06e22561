package panel

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"tandem/internal/identity"
	"tandem/internal/panel/ui"
)

// What a rule has wait for an answer was not refused: the page says so, leads to the question, and keeps what was typed, so that the same
// can be sent again once it is approved.
func TestWhatWaitsIsNotCalledRefused(t *testing.T) {
	h := startHouse(t)
	h.do(t, "grant.add", testPIN, map[string]any{"principal": "person:owner", "effect": "ask", "resource": "job:/",
		"permissions": []string{"edit"}, "data_classes": []string{"*"}})
	b := h.browser(t)
	b.signIn(t)
	task := url.Values{"task": {"mend the login"}, "folder": {"/nowhere"}}
	code, body, _ := b.ask(t, "POST", "/panel/jobs", task)
	if code != http.StatusOK || !strings.Contains(body, "It waits for an answer") || strings.Contains(body, "That was refused") ||
		!strings.Contains(body, `href="/panel/approvals/ask_`) || !strings.Contains(body, "mend the login</textarea>") {
		t.Errorf("a job that a rule asks about: %d %s", code, refusedWords(body))
	}
}

// A page of which one part cannot be read has the others.
func TestAPageStandsWithoutAPart(t *testing.T) {
	h := startHouse(t)
	h.do(t, "grant.add", testPIN, map[string]any{"principal": "person:owner", "effect": "ask", "resource": "provider:/",
		"permissions": []string{"view"}, "data_classes": []string{"*"}})
	b := h.browser(t)
	b.signIn(t)
	for page, want := range map[string]string{"/panel/jobs": "No jobs yet", "/panel/setup": "It is set."} {
		if body := b.page(t, page); !strings.Contains(body, "A part of this page could not be read") || !strings.Contains(body, want) {
			t.Errorf("%s without the models: %s", page, refusedWords(body))
		}
	}
}

// Who comes from elsewhere is not told that there is no PIN: it is taken on the server's own machine.
func TestWhoIsFarIsToldWhereToDecide(t *testing.T) {
	for near, want := range map[bool]string{true: "Neither a passkey nor a PIN is set", false: "on the server&#39;s own machine only"} {
		var page strings.Builder
		ctx := identity.WithSite(t.Context(), identity.Site{Near: near})
		if err := presenceFields("x", false, 0).Render(ctx, &page); err != nil || !strings.Contains(page.String(), want) {
			t.Errorf("near %v: %v %s", near, err, page.String())
		}
	}
}

// A model that is not known is not called chosen.
func TestAModelThatIsNotKnownIsLeft(t *testing.T) {
	var page strings.Builder
	err := setupPage(ui.Shell{}, SetupView{}).Render(t.Context(), &page)
	if err != nil || strings.Contains(page.String(), "New sessions use") {
		t.Errorf("%v %s", err, refusedWords("<main>"+page.String()+"</main>"))
	}
}

// After a machine was revoked one is on the page of the person whose it was.
func TestAMachineIsRevokedFromItsPerson(t *testing.T) {
	var page strings.Builder
	v := PersonView{PersonRow: PersonRow{Name: "anna"}, Revoke: true, Machines: []MachineRow{{ID: "dev_1", Machine: "laptop"}}}
	if err := personPage(ui.Shell{}, v).Render(t.Context(), &page); err != nil ||
		!strings.Contains(page.String(), "/panel/devices/dev_1/revoke?back=%2Fpanel%2Fpeople%2Fanna") {
		t.Errorf("%v %s", err, refusedWords("<main>"+page.String()+"</main>"))
	}
}
