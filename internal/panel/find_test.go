package panel

import (
	"net/http"
	"strings"
	"testing"
)

// The finder finds things by their names, and strangers find nothing.
func TestTheFinderFindsThings(t *testing.T) {
	h := startHouse(t)
	h.do(t, "session.create", "", map[string]any{"title": "Mend <b>the</b> invoices"})
	h.do(t, "actor.add", testPIN, map[string]any{"name": "invoice-bot", "kind": "agent"})
	b := h.browser(t)
	code, body, _ := b.ask(t, "GET", "/panel/find?q=invoice", nil)
	if code != http.StatusUnauthorized || strings.Contains(body, "invoice-bot") {
		t.Errorf("a stranger got %d %s", code, body)
	}
	b.signIn(t)
	for query, want := range map[string][]string{
		"invoice":        {"Mend &lt;b&gt;the&lt;/b&gt; invoices", `data-href="/panel/sessions/ses_`, "invoice-bot", `data-href="/panel/actors/`},
		"INVOICES+mend":  {"Mend &lt;b&gt;the"},
		"actor+invoice":  {"invoice-bot"},
		"setting+listen": {`data-href="/panel/system#setting-listen"`},
	} {
		code, body, _ := b.ask(t, "GET", "/panel/find?q="+query, nil)
		for _, w := range want {
			if code != http.StatusOK || !strings.Contains(body, w) {
				t.Errorf("%s: %d, no %s in %s", query, code, w, body)
			}
		}
	}
	for _, query := range []string{"", "i", "invoice+nobody", strings.Repeat("i", 201)} {
		if _, body, _ := b.ask(t, "GET", "/panel/find?q="+query, nil); strings.Contains(body, "<li") {
			t.Errorf("%.20q finds %s", query, body)
		}
	}
}
