package daemon

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// A server lost its key, and its owner made an invitation, which says the new one. The line was refused on every machine that knew the old
// key. Whoever types it accepts the key; what an agent was told to type does not.
func TestAnInvitationSaysWhichKeyCounts(t *testing.T) {
	k := keptAt(t, "")
	far := httptest.NewUnstartedServer(http.NotFoundHandler())
	far.TLS = &tls.Config{MinVersion: tls.VersionTLS13}
	far.StartTLS()
	defer far.Close()
	m, host, shown := k.d.rooms.remotes, strings.TrimPrefix(far.URL, "https://"), client.Fingerprint(far.Certificate())
	if err := m.pins().Pin(host, "SHA256:the-one-before"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kind op.Kind
		in   ReachIn
		ok   bool
	}{
		{op.Local, ReachIn{Server: host, Key: shown}, false},
		{op.Agent, ReachIn{Server: host, Key: shown, Invited: true}, false},
		{op.Session, ReachIn{Server: host, Key: shown, Invited: true}, false},
		{op.Local, ReachIn{Server: host, Key: "SHA256:one-that-it-does-not-show", Invited: true}, false},
		{op.Local, ReachIn{Server: host, Key: shown, Invited: true}, true},
	} {
		_, err := m.reach(op.WithCaller(t.Context(), op.Caller{Kind: c.kind}), c.in)
		known, lost := m.pins().Known(host)
		if lost != nil || (err == nil) != c.ok || !c.ok && !fault.Is(err, fault.Denied) || (known == shown) != c.ok {
			t.Errorf("%s, %+v: %v; known by %s, %v", c.kind, c.in, err, known, lost)
		}
	}
}
