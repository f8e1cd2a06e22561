package daemon

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/models"
	"tandem/internal/op"
	"tandem/internal/settings"
)

// within is a person of a tenant, present, as their machine elsewhere proves it.
func (w *ward) within(tenant, person string) op.Caller {
	w.t.Helper()
	c, err := w.identity.Caller(w.t.Context(), tenant, person, op.DoorHTTP)
	w.must(err)
	c.Present = "passkey"
	return c
}

func (w *ward) calls(c op.Caller, name string, in any) (any, error) {
	return w.gate.Invoke(op.WithCaller(w.t.Context(), c), name, in)
}

// A second tenant could not be made. Now one is, its owner comes in by an invitation, and neither sees anything of the other.
func TestATenantIsAHouseOfItsOwn(t *testing.T) {
	wards(t, func(w *ward) {
		var made identity.TenantOut
		w.present("tenant.create", map[string]any{"name": "acme", "owner": "ana"}, &made)
		for what, in := range map[string]any{"a name that is taken": identity.TenantIn{Name: "acme", Owner: "bo"},
			"the house's own": identity.TenantIn{Name: "local", Owner: "bo"}, "no owner": identity.TenantIn{Name: "globex"},
			"the name of a service": identity.TenantIn{Name: "globex", Owner: "tandem"}} {
			w.refused(what, w.presents("tenant.create", in), fault.Conflict, fault.Invalid)
		}
		got, err := w.enter(identity.PersonIn{Invite: made.Invite.Invite, Machine: "laptop"})
		w.must(err)
		c, err := w.identity.Bearer(t.Context(), got.Secret, op.DoorHTTP)
		w.must(err)
		if c.Tenant != made.ID || c.Name != "ana-laptop" || c.For[0] != "person:ana" {
			t.Fatalf("came in as %+v", c)
		}
		_, err = w.calls(c, "resource.put", map[string]any{"key": "theirs", "value": 1})
		w.must(err)
		w.present("resource.put", map[string]any{"key": "ours", "value": 1}, nil)
		for who, keys := range map[*op.Caller][2]string{&c: {"theirs", "ours"}, nil: {"ours", "theirs"}} {
			caller := op.CallerFrom(owner(t, w.Daemon))
			if who != nil {
				caller = *who
			}
			_, err := w.calls(caller, "resource.get", map[string]any{"key": keys[0]})
			w.must(err)
			_, err = w.calls(caller, "resource.get", map[string]any{"key": keys[1]})
			w.refused(caller.Name+" reads what is the other's", err, fault.NotFound)
		}
		// Its owner is one there, and the machine is the house's.
		ana := w.within(made.ID, "ana")
		_, err = w.calls(ana, "grant.add", map[string]any{"principal": "agent:*", "resource": "folder:/", "permissions": []string{"edit"}})
		w.must(err)
		invited, err := w.calls(ana, "join.invite", map[string]any{"person": "ben"})
		w.must(err)
		_, err = w.enter(identity.PersonIn{Invite: invited.(identity.InviteOut).Invite, Machine: "desk"})
		w.must(err)
		w.kept(ana)
		w.refused("a tenant makes a tenant", func() error {
			_, err := w.calls(ana, "tenant.create", identity.TenantIn{Name: "more", Owner: "bo"})
			return err
		}(), fault.Denied, fault.NotFound)
		if said := w.finds(); said != "" {
			t.Errorf("verify says %s", said)
		}
	})
}

// Of a suspended tenant nothing passes: no credential, no caller who was let in before, no invitation, no timer. Whoever writes into
// the database opens none.
func TestASuspendedTenantIsRefused(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		var made identity.TenantOut
		w.present("tenant.create", map[string]any{"name": "acme", "owner": "ana"}, &made)
		got, err := w.enter(identity.PersonIn{Invite: made.Invite.Invite, Machine: "laptop"})
		w.must(err)
		c, err := w.identity.Bearer(ctx, got.Secret, op.DoorHTTP)
		w.must(err)
		var ben identity.InviteOut
		w.present("tenant.invite", map[string]any{"tenant": "acme", "person": "ben"}, &ben)
		w.refused("the house's own", w.presents("tenant.suspend", map[string]any{"name": "local"}), fault.Invalid)
		w.present("tenant.suspend", map[string]any{"name": "acme", "reason": "the bill is open"}, nil)
		refused := func(when string) {
			t.Helper()
			for what, try := range map[string]func() error{
				"a token":                    func() error { _, err := w.identity.Bearer(ctx, got.Secret, op.DoorHTTP); return err },
				"who was let in before":      func() error { _, err := w.calls(c, "resource.list", nil); return err },
				"a stream that is open":      func() error { return w.identity.Still(ctx, c) },
				"an invitation":              func() error { _, err := w.enter(identity.PersonIn{Invite: ben.Invite, Machine: "desk"}); return err },
				"a timer":                    func() error { _, err := w.calls(w.systemOf(made.ID), "approval.expire", nil); return err },
				"an invitation by the house": func() error { return w.presents("tenant.invite", map[string]any{"tenant": "acme", "person": "bo"}) },
			} {
				err := try()
				w.refused(when+": "+what, err, fault.Denied, fault.Unauthenticated)
				if when == "suspended" && !strings.Contains(err.Error(), "acme is suspended: the bill is open") {
					t.Errorf("%s is not told why: %v", what, err)
				}
			}
		}
		refused("suspended")
		w.refused("twice", w.presents("tenant.suspend", map[string]any{"name": "acme"}), fault.Conflict)
		w.again()
		refused("suspended")
		w.sql("UPDATE tenant SET state = 'active', reason = '' WHERE name = 'acme'")
		w.again()
		refused("opened in the database")
		w.sql("UPDATE tenant SET state = 'suspended', reason = 'the bill is open' WHERE name = 'acme'")
		w.again()
		w.present("tenant.resume", map[string]any{"name": "acme"}, nil)
		_, err = w.identity.Bearer(ctx, got.Secret, op.DoorHTTP)
		w.must(err)
		_, err = w.calls(c, "resource.list", nil)
		w.must(err)
		_, err = w.enter(identity.PersonIn{Invite: ben.Invite, Machine: "desk"})
		w.must(err)
		if said := w.finds(); said != "" {
			t.Errorf("verify says %s", said)
		}
	})
}

// A signed assertion is for the tenant that its organization is here.
func TestAnAssertionFindsItsTenant(t *testing.T) {
	wards(t, func(w *ward) {
		p := newPlane(t)
		w.present("actor.add", map[string]any{"name": "ana", "kind": "person"}, nil)
		w.present("tenant.create", map[string]any{"name": "acme", "owner": "ana"}, nil)
		w.present("assertion.key_add", map[string]any{"id": "web-1", "public_key": p.public(), "organization": "acme"}, nil)
		w.present("assertion.key_add", map[string]any{"id": "web-2", "public_key": p.public(), "organization": "globex"}, nil)
		w.present("assertion.key_add", map[string]any{"id": "web-3", "public_key": p.public()}, nil)
		w.must(settings.Change(filepath.Join(w.home, ".tandem"), "auth_mode", "hosted_single_tenant"))
		w.again()
		srv := httptest.NewServer(w.web.Handler(w.named(networkAuth(w.identity, false), true), nil))
		t.Cleanup(srv.Close)
		who := func(kid, org string) (int, string) {
			return send(t, "GET", srv.URL+"/whoami", nil, map[string]string{"X-Tandem-Context-Assertion": p.sign(kid, "ana", map[string]any{
				"tenant_context": map[string]any{"org_id": org, "workspace_id": "main", "actor_id": "ana", "source": "explicit"}})})
		}
		for kid, c := range map[string][2]string{"web-1": {"acme", `"tenant_name":"acme"`}, "web-3": {"local", `"tenant_name":"local"`}} {
			if status, body := who(kid, c[0]); status != 200 || !strings.Contains(body, c[1]) {
				t.Errorf("%s for %s: %d %s", kid, c[0], status, body)
			}
		}
		if status, body := who("web-2", "acme"); status != 403 || reasonOf(body) != "key_org" {
			t.Errorf("a key of another organization: %d %s", status, body)
		}
		// It was somebody of the house: the name was mistyped, or nobody made that tenant.
		for kid, org := range map[string]string{"web-2": "globex", "web-3": "Acme"} {
			if status, body := who(kid, org); status != 403 || reasonOf(body) != "org_unknown" {
				t.Errorf("%s for %s, which is no tenant: %d %s", kid, org, status, body)
			}
		}
	})
}

// A tenant's models are paid by its own keys and lie outside: the house's environment and this machine's ports are not its own.
func TestATenantsModelsAreItsOwn(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-of-the-house")
	var asked atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		fmt.Fprint(w, `{"object":"list","data":[{"id":"m"}]}`)
	}))
	defer inside.Close()
	wards(t, func(w *ward) {
		var made identity.TenantOut
		w.present("tenant.create", map[string]any{"name": "acme", "owner": "ana"}, &made)
		_, err := w.enter(identity.PersonIn{Invite: made.Invite.Invite, Machine: "laptop"})
		w.must(err)
		ana := w.within(made.ID, "ana")
		for caller, source := range map[*op.Caller]string{&ana: "", nil: "environment"} {
			c := op.CallerFrom(owner(t, w.Daemon))
			if caller != nil {
				c = *caller
			}
			out, err := w.calls(c, "provider.list", map[string]any{})
			w.must(err)
			for _, p := range out.(models.ProvidersOut).Providers {
				if p.ID == "openai" && p.Source != source {
					t.Errorf("%s has a key for openai from %q, and not %q", c.Name, p.Source, source)
				}
			}
			_, err = w.calls(c, "provider.add", map[string]any{"id": "near", "base": inside.URL, "keyless": true})
			w.must(err)
			before := asked.Load()
			_, err = w.calls(c, "provider.models", map[string]any{"id": "near"})
			if reached := asked.Load() > before; reached != (caller == nil) {
				t.Errorf("%s reaches a port of this machine: %v, %v", c.Name, reached, err)
			}
		}
	})
}
