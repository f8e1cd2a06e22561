package daemon

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
)

// Every credential ends twice: with the actor that it speaks for, and by itself. One that is made for the table shows that it works,
// is ended, and shows that it does not.
func TestNoCredentialOutlivesItsActor(t *testing.T) {
	d, base := walked(t)
	b, made := &badges{t, d, base}, 0
	for name, row := range map[string]struct {
		good  int // what the probe answers while the credential works
		make  func(actor string) (probe func() int, revoke func())
		actor string // whose it is; "": of an actor of its own
		only  string // the one way in which it ends
	}{
		"a token over HTTP":      {good: 200, make: b.token(b.whoami)},
		"a token over MCP":       {good: 200, make: b.token(b.mcp)},
		"a token that git shows": {good: 404, make: b.token(b.git)}, // let in, and there is no such repository
		"a token by a tunnel":    {good: 200, make: b.token(b.tunnel)},
		"a program's access":     {good: 200, make: b.program(false)},
		"a program's refreshing": {good: 200, make: b.program(true)},
		"a seat at the socket":   {good: 200, make: b.seat, only: "disabled"},    // it is an actor's name
		"a browser of the panel": {good: 200, make: b.browser, only: "revoked"},  // the owner's, who is never disabled
		"the token of settings":  {good: 200, make: b.settings, only: "revoked"}, // it sets a machine up unattended
		"the connector's URL":    {good: 200, make: b.connector, only: "disabled", actor: identity.Connector},
	} {
		t.Run(name, func(t *testing.T) {
			for _, how := range []string{"disabled", "revoked"} {
				if row.only != "" && row.only != how {
					continue
				}
				actor := row.actor
				if made++; actor == "" {
					actor = fmt.Sprintf("badge-%d", made)
				}
				probe, revoke := row.make(actor)
				if got := probe(); got != row.good {
					t.Fatalf("before it is %s: %d", how, got)
				}
				if how == "revoked" {
					revoke()
				} else if _, err := d.gate.Invoke(owner(t, d), "actor.disable", identity.NameIn{Name: actor}); err != nil {
					t.Fatal(err)
				}
				if err := d.keepTokens(t.Context()); err != nil { // as at the next start
					t.Fatal(err)
				}
				if got := probe(); got < 400 || got == row.good || got >= 500 {
					t.Errorf("%s: %d", how, got)
				}
				if how == "disabled" {
					if _, err := d.gate.Invoke(owner(t, d), "token.new", identity.MintIn{Actor: actor}); !fault.Is(err, fault.Conflict) {
						t.Errorf("a new token for it: %v", err)
					}
				}
			}
		})
	}
	if _, err := d.gate.Invoke(owner(t, d), "actor.disable", identity.NameIn{Name: identity.Owner}); !fault.Is(err, fault.Invalid) {
		t.Errorf("the owner is disabled: %v", err)
	}
}

// badges makes credentials and tries them.
type badges struct {
	t    *testing.T
	d    *Daemon
	base string
}

func (b *badges) token(try func(secret string) int) func(string) (func() int, func()) {
	return func(actor string) (func() int, func()) {
		secret := mint(b.t, b.d, op.Agent, actor)
		c, err := b.d.identity.Bearer(b.t.Context(), secret, op.DoorHTTP)
		if err != nil {
			b.t.Fatal(err)
		}
		return func() int { return try(secret) }, func() { b.revoke(c.Token) }
	}
}

func (b *badges) revoke(tokenID string) {
	if _, err := b.d.gate.Invoke(owner(b.t, b.d), "token.revoke", identity.TokenIn{ID: tokenID}); err != nil {
		b.t.Fatal(err)
	}
}

func (b *badges) whoami(secret string) int {
	status, _ := send(b.t, "POST", b.base+"/op/actor.whoami", []byte("{}"), map[string]string{"Authorization": "Bearer " + secret})
	return status
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
	`"clientInfo":{"name":"badge","version":"1"}}}`

func (b *badges) mcp(secret string) int { return b.sayHello("/mcp", "Bearer "+secret) }

func (b *badges) sayHello(path, authorization string) int {
	header := map[string]string{"Accept": "application/json, text/event-stream"}
	if authorization != "" {
		header["Authorization"] = authorization
	}
	status, _ := send(b.t, "POST", b.base+path, []byte(hello), header)
	return status
}

func (b *badges) git(secret string) int {
	status, _ := send(b.t, "GET", b.base+"/repo/none/git/info/refs?service=git-upload-pack", nil,
		map[string]string{"Authorization": "Bearer " + secret})
	return status
}

// tunnel asks as the listener does that a tunnel leads to.
func (b *badges) tunnel(secret string) int {
	r := httptest.NewRequest("POST", "/mcp", nil)
	r.Header.Set("Authorization", "Bearer "+secret)
	if c, err := keeping(networkAuth(b.d.identity, false))(r); err != nil || !c.Known() {
		return http.StatusUnauthorized
	}
	return http.StatusOK
}

// program connects by OAuth, and comes back with what it was given.
func (b *badges) program(refresh bool) func(string) (func() int, func()) {
	return func(actor string) (func() int, func()) {
		const back, verifier = "http://127.0.0.1:1/back", "a-verifier-that-nobody-guesses-0123456789"
		status, body := send(b.t, "POST", b.base+"/oauth/register", []byte(`{"client_name":"`+actor+`","redirect_uris":["`+back+`"]}`), nil)
		var program struct {
			ID string `json:"client_id"`
		}
		if err := json.Unmarshal([]byte(body), &program); err != nil || status != http.StatusCreated {
			b.t.Fatalf("register: %d %s", status, body)
		}
		sum := sha256.Sum256([]byte(verifier))
		consent, err := b.d.gate.Invoke(owner(b.t, b.d), "oauth.consent", identity.ConnectIn{Client: program.ID, Redirect: back,
			Challenge: base64.RawURLEncoding.EncodeToString(sum[:])})
		if err != nil {
			b.t.Fatal(err)
		}
		var tokens identity.ExchangeOut
		exchange := func(form url.Values) int {
			form.Set("client_id", program.ID)
			status, body := send(b.t, "POST", b.base+"/oauth/token", []byte(form.Encode()),
				map[string]string{"Content-Type": "application/x-www-form-urlencoded"})
			if status == http.StatusOK {
				if err := json.Unmarshal([]byte(body), &tokens); err != nil {
					b.t.Fatal(err)
				}
			}
			return status
		}
		if got := exchange(url.Values{"grant_type": {"authorization_code"}, "code": {consent.(identity.ConsentOut).Code},
			"redirect_uri": {back}, "code_verifier": {verifier}}); got != http.StatusOK {
			b.t.Fatalf("exchange: %d", got)
		}
		c, err := b.d.identity.Bearer(b.t.Context(), tokens.Access, op.DoorMCP)
		if err != nil {
			b.t.Fatal(err)
		}
		probe := func() int { return b.mcp(tokens.Access) }
		if refresh {
			probe = func() int {
				return exchange(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {tokens.Refresh}})
			}
		}
		return probe, func() { b.revoke(c.Token) }
	}
}

// seat is a program of this user that takes an agent's place.
func (b *badges) seat(actor string) (func() int, func()) {
	mint(b.t, b.d, op.Agent, actor)
	c := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", SocketPath(b.d.data, ""))
	}}}
	b.t.Cleanup(c.CloseIdleConnections)
	return func() int {
		r, err := http.NewRequestWithContext(b.t.Context(), "POST", "http://tandem/op/actor.whoami", bytes.NewReader([]byte("{}")))
		if err != nil {
			b.t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Tandem-As", "agent:"+actor)
		resp, err := c.Do(r)
		if err != nil {
			b.t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}, nil
}

// browser is signed in to the panel.
func (b *badges) browser(string) (func() int, func()) {
	newcomer, err := b.d.identity.Caller(b.t.Context(), identity.LocalTenant, identity.Newcomer, op.DoorHTTP)
	if err != nil {
		b.t.Fatal(err)
	}
	link, err := b.d.gate.Invoke(owner(b.t, b.d), "signin.link", nil)
	if err != nil {
		b.t.Fatal(err)
	}
	data, err := json.Marshal(link)
	if err != nil {
		b.t.Fatal(err)
	}
	var code struct{ Code string }
	if err := json.Unmarshal(data, &code); err != nil {
		b.t.Fatal(err)
	}
	out, err := b.d.gate.Invoke(op.WithCaller(b.t.Context(), newcomer), "signin.start", identity.StartIn{Code: code.Code})
	if err != nil {
		b.t.Fatal(err)
	}
	cookie := out.(identity.StartOut).Cookie
	c, err := b.d.identity.Cookie(b.t.Context(), cookie)
	if err != nil {
		b.t.Fatal(err)
	}
	return func() int {
			status, _ := send(b.t, "GET", b.base+"/openapi.json", nil, map[string]string{"Cookie": CookieName + "=" + cookie})
			return status
		}, func() {
			if _, err := b.d.gate.Invoke(owner(b.t, b.d), "signin.end", identity.BrowserIn{ID: c.Token}); err != nil {
				b.t.Fatal(err)
			}
		}
}

// settings is the API's token as settings name it, also at the next start.
func (b *badges) settings(string) (func() int, func()) {
	return func() int { return b.whoami(walkAPI) }, func() { b.revoke("tok_api") }
}

// connector is the bridge's token, which may be in a URL.
func (b *badges) connector(string) (func() int, func()) {
	return func() int { return b.sayHello("/"+walkConnector+"/mcp", "") }, nil
}
