package daemon

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	remotewire "tandem/internal/remote/wire"
	"tandem/internal/settings"
	"tandem/internal/testenv"
)

// What let the house's machine in at another server was used for a space of any tenant. Now a tenant is refused, and not told which
// servers the house has joined.
func TestATenantUsesNoTokenOfTheHouse(t *testing.T) {
	wards(t, func(w *ward) {
		_, ana := w.acme()
		_, err := w.calls(op.CallerFrom(owner(t, w.Daemon)), "workspace.trust",
			remotewire.TrustIn{Server: "far.example:443", Token: "tdm_of_the_house"})
		w.must(err)
		var said []string
		for _, host := range []string{"far.example:443", "other.example:443"} {
			_, err := w.calls(ana, "space.create", map[string]any{"name": "theirs", "host": host})
			w.refused(host, err, fault.Denied)
			said = append(said, err.Error())
		}
		if said[0] != said[1] {
			t.Errorf("which servers the house has joined is told: %q", said)
		}
	})
}

// An ask of a tenant was told with its text on every way of the house. Now the house's own are told, and nothing of a tenant.
func TestATenantsNoticesAreNotTheHouses(t *testing.T) {
	wards(t, func(w *ward) {
		made, ana := w.acme()
		for tenant, key := range map[string]string{made.ID: "of-acme", identity.LocalTenant: "of-the-house"} {
			c := ana
			if tenant == identity.LocalTenant {
				c = op.CallerFrom(owner(t, w.Daemon))
				c.Present = "pin"
			}
			_, err := w.calls(c, "actor.add", map[string]any{"name": "builder", "kind": "agent"})
			w.must(err)
			_, err = w.calls(c, "policy.edit", map[string]any{
				"rules": `@id("asked") @ask forbid (principal is Agent, action == Action::"edit", resource is Resource);`})
			w.must(err)
			builder, err := w.identity.Caller(t.Context(), tenant, "builder", op.DoorHTTP)
			w.must(err)
			_, err = w.calls(builder, "resource.put", map[string]any{"key": key, "value": 1})
			w.refused(key, err, fault.Pending)
		}
		log := func() string {
			text, _ := os.ReadFile(filepath.Join(w.home, ".tandem", "events.log"))
			return string(text)
		}
		testenv.Eventually(t, "the house is told of its own", time.Minute, func() bool { return strings.Contains(log(), "of-the-house") })
		var n int
		w.must(w.db.QueryRow(t.Context(), "SELECT count(*) FROM notice_way WHERE tenant <> ?", identity.LocalTenant).Scan(&n))
		if n > 0 || strings.Contains(log(), "acme") {
			t.Errorf("the house is told of a tenant: %d wait, %s", n, log())
		}
	})
}

// One tenant's assertions filled the memory of all, and then none of anybody was taken.
func TestATenantFillsItsOwnLedgerAlone(t *testing.T) {
	wards(t, func(w *ward) {
		p := newPlane(t)
		_, ana := w.acme()
		_, err := w.calls(ana, "assertion.key_add", map[string]any{"id": "theirs", "public_key": p.public()})
		w.must(err)
		w.present("actor.add", map[string]any{"name": "anna", "kind": "person"}, nil)
		w.present("assertion.key_add", map[string]any{"id": "ours", "public_key": p.public()}, nil)
		w.must(settings.Change(filepath.Join(w.home, ".tandem"), "auth_mode", "hosted_single_tenant"))
		w.again()
		w.identity.Takes.Ledger = 2
		srv := httptest.NewServer(w.web.Handler(w.named(networkAuth(w.identity, false), true), nil))
		t.Cleanup(srv.Close)
		who := func(kid, name, org string) string {
			_, body := send(t, "GET", srv.URL+"/whoami", nil, map[string]string{"X-Tandem-Context-Assertion": p.sign(kid, name, map[string]any{
				"tenant_context": map[string]any{"org_id": org, "workspace_id": "main", "actor_id": name, "source": "explicit"}})})
			return reasonOf(body)
		}
		for i, want := range []string{"", "", "ledger_full"} {
			if got := who("theirs", "ana", "acme"); got != want {
				t.Errorf("number %d of the tenant: %q, and not %q", i, got, want)
			}
		}
		for org, want := range map[string]string{"local": "", "Acme": "org_unknown"} {
			if got := who("ours", "anna", org); got != want {
				t.Errorf("of the house, for %s: %q, and not %q", org, got, want)
			}
		}
	})
}
