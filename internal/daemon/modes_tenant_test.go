package daemon

import (
	"net/http"
	"strings"
	"testing"

	"tandem/internal/identity"
	"tandem/internal/op"
)

// Another tenant's ids are not found in the other modes either: by a token of the second tenant's owner, and by an assertion for her, on
// the doors as they are.
func TestAnotherTenantsIdsAreNotFoundWhereRequestsAreNamed(t *testing.T) {
	namedModes(t, func(t *testing.T, d *Daemon, base string, p *plane, mine func(i int) bool) {
		first, second := twoTenants(t, d)
		g := d.gate
		for _, o := range g.Table().All() {
			if o.Class == op.ClassState {
				call(g, first, o, acceptable(filled(o, named)))
			}
		}
		minted, err := g.Invoke(op.WithCaller(t.Context(), second), "token.new", identity.MintIn{Actor: "zoe"})
		if err != nil {
			t.Fatal(err)
		}
		token := map[string]string{"Authorization": "Bearer " + minted.(identity.MintOut).Secret}
		for who, header := range map[string]map[string]string{"a token": token, "an assertion": p.of("second", "second", "zoe")} {
			status, body := send(t, "PUT", base+"/resource/seconds-own", []byte(`{"value":1}`), header)
			if status != http.StatusOK || leaks(body) {
				t.Fatalf("the second tenant's owner may do nothing by %s, so this would show nothing: %d %s", who, status, body)
			}
		}
		// A key that speaks for one tenant is taken for no other.
		if status, body := send(t, "GET", base+"/whoami", nil, p.of("second", "local", identity.Owner)); status != http.StatusForbidden {
			t.Errorf("the second tenant's key names the owner of the house: %d %s", status, body)
		}
		ids, before := harvest(t, d), housed(t, d)
		ids = ids[:min(len(ids), 3)]
		n := 0
		for i, o := range g.Table().All() {
			if o.Class == op.ClassStream || o.Public || !mine(i) {
				continue
			}
			for _, id := range append(ids, named) {
				for who, header := range map[string]map[string]string{"a token": token, "an assertion": p.of("second", "second", "zoe")} {
					status, body := send(t, "POST", base+"/op/"+o.Name, encode(t, filled(o, id)), header)
					if n++; leaks(body) {
						t.Errorf("%s with %s, by %s, shows the second tenant what the first has: %d %s", o.Name, id, who, status, body)
					}
				}
			}
		}
		after := housed(t, d)
		if came, went := difference(before, after), difference(after, before); came+went != "" {
			t.Errorf("the second tenant changed the first one's rows:\n%sand these were there:\n%s", came, went)
		}
		t.Logf("%d calls with %d ids of the first tenant", n, len(ids)+1)
	})
}

// housed are the rows of the house but for what it does by itself meanwhile: it remembers assertions that its keys signed, counts who was
// refused, and tells in which mode it is.
func housed(t *testing.T, d *Daemon) string {
	t.Helper()
	var kept strings.Builder
	for line := range strings.Lines(dump(t, d, identity.LocalTenant)) {
		if !strings.HasPrefix(line, "assertion") && !strings.HasPrefix(line, "notice_way ") && !strings.Contains(line, " type=gate.stranger ") &&
			!strings.Contains(line, " type=assertion.rejected ") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}
