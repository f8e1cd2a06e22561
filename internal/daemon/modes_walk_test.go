package daemon

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"tandem/internal/client"
	"tandem/internal/identity"
	"tandem/internal/op"
)

// namedModes walks a server where every request names somebody. On SQLite each of the two modes takes every second operation, so that the
// walks stay quick; the first mode takes all of them (TestNoAgentDecides), and strangers are walked with all of them in each
// (TestNoDoorIsExemptWhereRequestsAreNamed).
func namedModes(t *testing.T, walk func(t *testing.T, d *Daemon, base string, p *plane, mine func(i int) bool)) {
	pin, err := identity.HashPIN("246813579")
	if err != nil {
		t.Fatal(err)
	}
	onDatabases(t, func(t *testing.T, at func() map[string]string, mine func(i int) bool) {
		for half, mode := range []authMode{hostedSingleTenant, enterpriseRequired} {
			t.Run(string(mode), func(t *testing.T) {
				p := newPlane(t)
				key := `{"publicKey":"` + p.public() + `","purpose":"context_assertion","organizationId":%q}`
				d, base := walkedWith(t, with(at(), map[string]string{"auth_mode": string(mode), "pin_hash": pin, "secret_keeper": "file",
					"assertion.public_keys": fmt.Sprintf(`{"house":`+key+`,"second":`+key+`}`, "local", "second")}))
				walk(t, d, base, p, func(i int) bool { return mine(i) && (d.db.Name() != "sqlite" || i%2 == half) })
			})
		}
	})
}

// of is an assertion for somebody of a tenant, by the key that speaks for it.
func (p *plane) of(kid, org, who string) map[string]string {
	return map[string]string{"X-Tandem-Context-Assertion": p.sign(kid, who, map[string]any{
		"tenant_context": map[string]any{"org_id": org, "workspace_id": "main", "actor_id": who, "source": "explicit"}})}
}

// Nobody but a present person decides, grants, mints or exports in the other modes either: no token of an actor, on the network, over MCP
// or on the control socket, and no assertion, though it names the owner.
func TestNoAgentDecidesWhereRequestsAreNamed(t *testing.T) {
	namedModes(t, func(t *testing.T, d *Daemon, base string, p *plane, mine func(i int) bool) {
		tokens := map[string]string{"an agent": mint(t, d, op.Agent, "walker"), "a service": mint(t, d, op.Service, "cron"),
			"a person without presence": mint(t, d, op.Person, "ann")}
		if status, body := send(t, "GET", base+"/whoami", nil, p.of("house", "local", identity.Owner)); status != http.StatusOK ||
			!strings.Contains(body, `"name":"owner"`) {
			t.Fatalf("an assertion for the owner is not taken, so this would show nothing: %d %s", status, body)
		}
		socket, n := client.Socket(SocketPath(d.data, "")), 0
		for i, o := range d.gate.Table().All() {
			if !authority(t, o) || !mine(i) {
				continue
			}
			n++
			in := filled(o, "x1")
			for _, r := range routes(o) {
				comes := map[string]map[string]string{"an assertion for the owner": p.of("house", "local", identity.Owner)}
				for who, token := range tokens {
					comes[who] = map[string]string{"Authorization": "Bearer " + token}
				}
				for who, header := range comes {
					status, body := send(t, r[0], base+r[1], encode(t, in), header)
					numbered := status == http.StatusBadRequest && strings.Contains(r[1], "x1") // the path wants a number
					if status != http.StatusForbidden && status != http.StatusNotFound && !numbered {
						t.Errorf("%s with %s: %s %s answers %d %s", o.Name, who, r[0], r[1], status, body)
					}
				}
			}
			for who, token := range tokens {
				if err := socket.WithToken(token).Call(t.Context(), o.Name, in, nil); err == nil {
					t.Errorf("%s is done on the control socket with the token of %s", o.Name, who)
				}
			}
		}
		if n == 0 {
			t.Fatal("no operation needs a person: this shows nothing")
		}
		mcpWalk(t, d, base, "an agent", tokens["an agent"], mine)
		t.Logf("%d operations need a person", n)
	})
}
