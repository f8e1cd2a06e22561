package loop

import (
	"net/url"
	"strings"
	"testing"

	"tandem/internal/policy/book"
	"tandem/internal/session"
)

// Commands have no network. Granting commands does not grant it: it is a right of its own.
func TestNetworkIsARightOfItsOwn(t *testing.T) {
	h := newHouse(t)
	s := h.session()
	u, err := url.Parse(h.model.URL())
	if err != nil {
		t.Fatal(err)
	}
	call := func(network string) string {
		return `[[tool bash {"command":"curl -s -m 5 -o /dev/null http://127.0.0.1:` + u.Port() + `/"` + network + `}]] [[result]]`
	}
	grant := func(resource string) {
		h.do(person, "grant.add", book.GrantIn{Principal: "session:*", Resource: resource, Permissions: []string{"execute"}})
	}
	grant("tool:/bash")
	h.until(h.prompt(s, call("")), session.Done)
	if got := h.said(s); !strings.Contains(got, "exit code 7") { // it could not connect
		t.Errorf("a command reached the network: %q", got)
	}
	turn := h.prompt(s, call(`,"network":true`))
	h.until(turn, session.Waiting)
	h.do(local, "session.cancel", session.TurnIn{ID: s.ID})
	grant("tool:/network")
	h.until(h.prompt(s, call(`,"network":true`)), session.Done)
	if got := h.said(s); strings.Contains(got, "exit code") {
		t.Errorf("%q", got)
	}
	// A denial of the command is one of the command with the network too.
	h.do(person, "grant.add", book.GrantIn{Principal: "session:*", Effect: "deny", Resource: "tool:/bash", Permissions: []string{"execute"},
		Tools: []string{"bash(command: curl)"}})
	h.until(h.prompt(s, call(`,"network":true`)), session.Done)
	if got := h.said(s); !strings.Contains(got, "may not") {
		t.Errorf("%q", got)
	}
}
