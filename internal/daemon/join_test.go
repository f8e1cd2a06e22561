package daemon

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/policy/book"
)

// Where a stranger comes from is its address, or the IPv6 network that it has all of; a caller with a credential counts as that.
func TestAStrangersSource(t *testing.T) {
	for want, c := range map[string]struct {
		remote string
		caller op.Caller
	}{
		"192.0.2.7":         {remote: "192.0.2.7:4000"},
		"2001:db8:1:2::/64": {remote: "[2001:db8:1:2:3:4:5:6]:4000"},
		"tunnel:0":          {remote: "tunnel:0"},
		"tok_1":             {remote: "192.0.2.7:4000", caller: op.Caller{Tenant: "local", Actor: "act_1", Token: "tok_1"}},
	} {
		r := httptest.NewRequest("POST", "/join", nil)
		r.RemoteAddr = c.remote
		got, err := keeping(func(*http.Request) (op.Caller, error) { return c.caller, nil })(r)
		if err != nil || got.Whence() != want {
			t.Errorf("%s: %q, %v", c.remote, got.Whence(), err)
		}
	}
}

// The person who approves a newcomer sees what waits for the name that it chose, and approves that very list.
func TestWhatANewcomersNameReceives(t *testing.T) {
	d, _ := walked(t)
	grant := func(resource string) {
		if _, err := d.gate.Invoke(owner(t, d), "grant.add", book.GrantIn{Principal: "agent:builder", Resource: resource,
			Permissions: []string{"edit"}}); err != nil {
			t.Fatal(err)
		}
	}
	grant("resource:/deploy")
	newcomer, err := d.identity.Caller(t.Context(), identity.LocalTenant, identity.Newcomer, op.DoorHTTP)
	if err != nil {
		t.Fatal(err)
	}
	ctx := op.WithCaller(t.Context(), newcomer)
	in := identity.EnterIn{Name: "builder", Nonce: "0123456789abcdef0123456789abcdef"}
	shown := func() *approval.Ask {
		t.Helper()
		_, err := d.gate.Invoke(ctx, "join.enter", in)
		if !fault.Is(err, fault.Pending) {
			t.Fatalf("it asks: %v", err)
		}
		a, err := d.gate.Invoke(owner(t, d), "approval.get", approval.IDIn{ID: fault.Public(err).Data["approval"]})
		if err != nil {
			t.Fatal(err)
		}
		return a.(*approval.Ask)
	}
	approve := func(a *approval.Ask) {
		t.Helper()
		var pages []string
		for _, p := range a.Pages() {
			pages = append(pages, p.Digest)
		}
		if _, err := d.gate.Invoke(owner(t, d), "approval.decide", approval.DecideIn{ID: a.ID, Verdict: approval.Approve, Digest: a.Digest,
			Pages: pages}); err != nil {
			t.Fatal(err)
		}
	}
	first := shown()
	if len(first.Bound) != 1 || !strings.Contains(first.Bound[0].Value, "allow edit on resource:/deploy") {
		t.Fatalf("the ask shows %+v", first.Bound)
	}
	approve(first)
	grant("resource:/keys") // more than was approved
	second := shown()
	if second.ID == first.ID || !strings.Contains(second.Bound[0].Value, "resource:/keys") {
		t.Fatalf("the ask shows %+v", second.Bound)
	}
	approve(second)
	if out, err := d.gate.Invoke(ctx, "join.enter", in); err != nil || out.(identity.MintOut).Actor != "builder" {
		t.Errorf("%+v, %v", out, err)
	}
}
