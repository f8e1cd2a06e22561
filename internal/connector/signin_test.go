package connector

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"tandem/internal/connector/connectortest"
	"tandem/internal/connector/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
)

// agree is the person who agrees in the browser.
func agree(t *testing.T, address string) CallbackIn {
	t.Helper()
	back, err := connectortest.Agree(address)
	if err != nil {
		t.Fatalf("%s: %v", address, err)
	}
	return CallbackIn{Code: back.Query().Get("code"), State: back.Query().Get("state")}
}

// A connector that wants a sign-in says so, a person signs in, and the sign-in is renewed until it cannot be.
func TestSignIn(t *testing.T) {
	r, d, secrets := room(t)
	r.keys.Drop = func(_ *db.Tx, _, name string) error { secrets.drop(name); return nil }
	g, stop := connectortest.Start()
	defer stop()
	if err := add(t, r, d, wire.AddIn{Name: "mail", URL: g.URL}); err != nil {
		t.Fatal(err)
	}
	c, err := r.sync(as(t), wire.NameIn{Name: "mail"})
	if dataOf(err, "auth") != "required" || c.State != wire.AuthRequired {
		t.Fatalf("%+v %v", c, err)
	}
	if _, err := r.login(as(t), wire.NameIn{Name: "mail"}); !fault.Is(err, fault.Conflict) {
		t.Errorf("without a way back: %v", err)
	}
	r.Callback = func() string { return "http://127.0.0.1:39731/connectors/callback" }
	out, err := r.login(as(t), wire.NameIn{Name: "mail"})
	if err != nil || out.URL == "" {
		t.Fatalf("%+v %v", out, err)
	}
	if err := r.Finish(CallbackIn{Code: "code-1", State: "guessed"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("a guessed state: %v", err)
	}
	back := agree(t, out.URL)
	if err := r.Finish(back); err != nil {
		t.Fatal(err)
	}
	if err := r.Finish(back); !fault.Is(err, fault.NotFound) {
		t.Errorf("the same answer twice: %v", err)
	}
	if c, _ = r.Load(as(t), "local", "mail"); c.State != wire.Quarantined || len(c.Tools) != 1 {
		t.Fatalf("after the sign-in: %+v", c)
	}
	if c, err = r.accept(as(t), wire.AcceptIn{Name: "mail"}); err != nil || c.State != wire.Ready {
		t.Fatalf("%+v %v", c, err)
	}
	call := func() error {
		_, err := r.call(as(t), wire.CallIn{Connector: "mail", Tool: "say", Args: []byte(`{"text":"hi"}`)})
		return err
	}
	if err := call(); err != nil {
		t.Fatal(err)
	}
	renewals := func() int { n, _ := g.Renewals(); return n }
	if _, asked := g.Renewals(); len(asked) != 1 || asked[0] != g.URL {
		t.Errorf("the token is for %v", asked)
	}
	// The server no longer takes the token: it is renewed once, and the call is made.
	g.Forget(false)
	if err := call(); err != nil || renewals() != 1 {
		t.Errorf("%v after %d renewals", err, renewals())
	}
	// It ran out: renewed before the call. Many at once renew once.
	g.Forget(true)
	if err := call(); err != nil {
		t.Error(err)
	}
	g.Forget(false)
	before := renewals()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := call(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if renewals() != before+1 {
		t.Errorf("%d renewals at once", renewals()-before)
	}
	// It cannot be renewed any more: a person has to sign in, and then it goes on.
	g.Revoke(true)
	g.Forget(false)
	if err := call(); dataOf(err, "auth") != "required" || strings.Contains(err.Error(), "access-token") {
		t.Errorf("%v", err)
	}
	if c, _ = r.Load(as(t), "local", "mail"); c.State != wire.AuthRequired {
		t.Errorf("%+v", c)
	}
	if offers, _ := r.Offers(as(t), "local"); len(offers) != 0 {
		t.Errorf("a model would see %+v", offers)
	}
	g.Revoke(false)
	if out, err = r.login(as(t), wire.NameIn{Name: "mail"}); err != nil {
		t.Fatal(err)
	}
	if err := r.Finish(agree(t, out.URL)); err != nil {
		t.Fatal(err)
	}
	if err := call(); err != nil {
		t.Errorf("after the second sign-in: %v", err)
	}
	// Refused in the browser, and signed out.
	if err := d.Write(as(t), func(tx *db.Tx) error {
		_, err := r.logout(as(t), tx, wire.NameIn{Name: "mail"})
		return err
	}); err != nil || len(secrets.of) != 0 {
		t.Errorf("%v %v", err, secrets.of)
	}
	if out, err = r.login(as(t), wire.NameIn{Name: "mail"}); err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse(out.URL)
	if err := r.Finish(CallbackIn{Error: "access_denied", State: u.Query().Get("state")}); !fault.Is(err, fault.Denied) {
		t.Errorf("%v", err)
	}
}

// An authorization server inside the network is not asked, whatever the connector says of it.
func TestSignInStaysOutside(t *testing.T) {
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		t.Error("it was asked")
		w.WriteHeader(500)
	}))
	defer inside.Close()
	var srv *httptest.Server
	srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource") {
			w.Header().Set("Content-Type", "application/json")
			json.NewEncoder(w).Encode(map[string]any{"resource": srv.URL + "/mcp", "authorization_servers": []string{inside.URL}})
			return
		}
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+srv.URL+`/.well-known/oauth-protected-resource/mcp"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer srv.Close()
	r, d, _ := room(t)
	r.Callback = func() string { return "http://127.0.0.1:39731/connectors/callback" }
	if err := add(t, r, d, wire.AddIn{Name: "sly", URL: srv.URL + "/mcp"}); err != nil {
		t.Fatal(err)
	}
	if out, err := r.login(as(t), wire.NameIn{Name: "sly"}); err == nil || out.URL != "" {
		t.Errorf("%+v %v", out, err)
	}
}
