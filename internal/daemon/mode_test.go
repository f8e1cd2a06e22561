package daemon

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tandem/internal/client"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/identity/assertion"
	"tandem/internal/op"
	"tandem/internal/settings"
	"tandem/internal/testenv"
)

// plane is a control plane in front of a server: it signs whom requests are for.
type plane struct {
	t   *testing.T
	key ed25519.PrivateKey
	n   int
}

func newPlane(t *testing.T) *plane {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &plane{t: t, key: key}
}

func (p *plane) public() string {
	return base64.StdEncoding.EncodeToString(p.key.Public().(ed25519.PublicKey))
}

// ring is a key ring for the settings.
func (p *plane) ring(kid string) string {
	return fmt.Sprintf(`{%q:{"publicKey":%q,"purpose":"context_assertion","organizationId":"acme"}}`, kid, p.public())
}

// sign is an assertion for a person, with changes to its claims.
func (p *plane) sign(kid, who string, changes map[string]any) string {
	p.n++
	now := time.Now().UnixMilli()
	claims := map[string]any{"version": "v1", "issuer": "tandem-web", "audience": "tandem-runtime", "issued_at_ms": now - 1000,
		"expires_at_ms": now + 300_000, "assertion_id": fmt.Sprint("a-", p.n),
		"tenant_context": map[string]any{"org_id": "acme", "workspace_id": "main", "actor_id": who, "source": "explicit"},
		"human_actor":    map[string]any{"actor_id": who},
		"authority_chain": map[string]any{"initiated_by": map[string]any{"actor_id": who, "source": "web"},
			"executed_as": map[string]any{"kind": "request"}}}
	maps.Copy(claims, changes)
	part := func(v any) string { return base64.RawURLEncoding.EncodeToString(encode(p.t, v)) }
	text := part(map[string]any{"alg": "EdDSA", "typ": "tandem-tenant-context+jws", "kid": kid}) + "." + part(claims)
	return text + "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(p.key, []byte(text)))
}

// reasonOf is why an answer was no.
func reasonOf(body string) string {
	_, rest, _ := strings.Cut(body, `"reason":"`)
	reason, _, _ := strings.Cut(rest, `"`)
	return reason
}

// An assertion says whom a request is for. Each that is not taken has its reason, in the answer and in the journal, on both databases.
// What is wrong with an assertion by itself is the table of its own package.
func TestAssertionsSayWhomARequestIsFor(t *testing.T) {
	wards(t, func(w *ward) {
		p, ctx := newPlane(t), t.Context()
		w.present("actor.add", map[string]any{"name": "anna", "kind": "person"}, nil)
		w.present("actor.add", map[string]any{"name": "robot", "kind": "agent"}, nil)
		var robot, own identity.MintOut
		w.present("token.new", map[string]any{"actor": "robot"}, &robot)
		w.present("token.new", map[string]any{"actor": "anna"}, &own)
		w.present("assertion.key_add", map[string]any{"id": "web-1", "public_key": p.public(), "organization": "acme"}, nil)
		w.present("assertion.key_add", map[string]any{"id": "web-2", "public_key": p.public()}, nil)
		door := func() string {
			srv := httptest.NewServer(w.web.Handler(w.named(networkAuth(w.identity, false), true), nil))
			t.Cleanup(srv.Close)
			return srv.URL
		}
		const header = "X-Tandem-Context-Assertion"
		at := door()
		if status, body := send(t, "GET", at+"/whoami", nil, map[string]string{header: p.sign("web-1", "anna", nil)}); status != 403 ||
			reasonOf(body) != "not_taken" {
			t.Errorf("in the first mode: %d %s", status, body)
		}
		if status, _ := send(t, "GET", at+"/health", nil, map[string]string{"X-Tandem-Context-Jws": "x"}); status != 403 {
			t.Errorf("passed over where nobody is asked for: %d", status)
		}
		data := filepath.Join(w.home, ".tandem")
		w.must(settings.Change(data, "auth_mode", "hosted_single_tenant"))
		w.again()
		at = door()
		same := p.sign("web-1", "anna", nil)
		reused := p.sign("web-1", "anna", map[string]any{"assertion_id": "twice"})
		for _, c := range []struct {
			name   string
			header map[string]string
			want   string // the reason, "" for taken
		}{
			{"taken", map[string]string{header: same}, ""},
			{"the same bytes again", map[string]string{"X-Tandem-Tenant-Context-Jws": same}, ""},
			{"with the house's own token", map[string]string{header: p.sign("web-1", "anna", nil), "Authorization": "Bearer " + apiToken(w)}, ""},
			{"with that person's token", map[string]string{header: p.sign("web-1", "anna", nil), "Authorization": "Bearer " + own.Secret}, ""},
			{"with somebody else's token", map[string]string{header: p.sign("web-1", "anna", nil), "Authorization": "Bearer " + robot.Secret},
				"credential"},
			{"two of them", map[string]string{header: same, "X-Tandem-Context-Jws": same}, "several"},
			{"a raw header", map[string]string{header: same, "X-Tandem-Actor-Id": "owner"}, "raw_tenant"},
			{"a raw header with a token", map[string]string{"Authorization": "Bearer " + own.Secret, "X-User-Id": "owner"}, "raw_tenant"},
			{"nobody of this house", map[string]string{header: p.sign("web-1", "carla", nil)}, "actor_unknown"},
			{"an agent", map[string]string{header: p.sign("web-1", "robot", nil)}, "actor_unknown"},
			{"the first of one id", map[string]string{header: reused}, ""},
			{"another of one id", map[string]string{header: p.sign("web-1", "anna", map[string]any{"assertion_id": "twice",
				"roles": []string{"x"}})},
				"id_reused"},
			{"no key of that name", map[string]string{header: p.sign("web-9", "anna", nil)}, "key_unknown"},
		} {
			status, body := send(t, "GET", at+"/whoami", nil, c.header)
			if c.want == "" && (status != 200 || !strings.Contains(body, `"name":"anna"`) || strings.Contains(body, `"present"`)) ||
				c.want != "" && (status != 403 || reasonOf(body) != c.want) {
				t.Errorf("%s: %d %s", c.name, status, body)
			}
		}
		as := func(changes map[string]any) map[string]string {
			return map[string]string{header: p.sign("web-1", "anna", changes)}
		}
		// It is never presence, and a capability narrows.
		if status, body := send(t, "POST", at+"/op/token.new", []byte(`{"actor":"anna"}`), as(nil)); status != 403 {
			t.Errorf("minted by an assertion: %d %s", status, body)
		}
		narrow := map[string]any{"capabilities": []string{"server.view"}}
		if status, body := send(t, "GET", at+"/resource", nil, as(narrow)); status == 200 && strings.Contains(body, `"key"`) || status == 500 {
			t.Errorf("more than its capabilities: %d %s", status, body)
		}
		if status, body := send(t, "PUT", at+"/resource/x", []byte(`{"value":1}`), as(narrow)); status != 403 && status != 404 {
			t.Errorf("written beyond its capabilities: %d %s", status, body)
		}
		if status, body := send(t, "PUT", at+"/resource/x", []byte(`{"value":1}`), as(nil)); status != 200 {
			t.Errorf("an everyday call: %d %s", status, body)
		}
		w.identity.Takes.Ledger = 1
		if status, body := send(t, "GET", at+"/whoami", nil, as(nil)); status != 403 || reasonOf(body) != "ledger_full" {
			t.Errorf("more than can be remembered: %d %s", status, body)
		}
		w.identity.Takes.Ledger = 0
		// A row that somebody changed or brought lets nobody in.
		w.sql("UPDATE assertion_key SET organization = '' WHERE id = 'web-1'")
		if status, body := send(t, "GET", at+"/whoami", nil, as(nil)); status != 403 || reasonOf(body) != "key_forged" {
			t.Errorf("with an edited row: %d %s", status, body)
		}
		w.told("web-1")
		w.sql("UPDATE assertion_key SET organization = 'acme' WHERE id = 'web-1'")
		// A stream ends with the assertion or its key.
		c, err := w.identity.Assert(ctx, p.sign("web-1", "anna", nil), op.Caller{}, op.DoorHTTP)
		w.must(err)
		w.must(w.identity.Still(ctx, c))
		late := c
		late.Until = time.Now().Add(-time.Second)
		if err := w.identity.Still(ctx, late); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("after its end: %v", err)
		}
		w.present("assertion.key_revoke", map[string]any{"id": "web-1"}, nil)
		if err := w.identity.Still(ctx, c); err == nil {
			t.Error("still let in by a key that was revoked")
		}
		if status, body := send(t, "GET", at+"/whoami", nil, as(nil)); status != 403 || reasonOf(body) != "key_revoked" {
			t.Errorf("with a revoked key: %d %s", status, body)
		}
		w.sql("UPDATE assertion_key SET revoked_at = 0 WHERE id = 'web-1'")
		if status, body := send(t, "GET", at+"/whoami", nil, as(nil)); status != 403 || reasonOf(body) != "key_forged" {
			t.Errorf("with a key that somebody brought back: %d %s", status, body)
		}
		w.identity.Takes.Replay = identity.OneShot
		once := p.sign("web-2", "anna", nil)
		for i, want := range []int{200, 403} {
			if status, body := send(t, "GET", at+"/whoami", nil, map[string]string{header: once}); status != want {
				t.Errorf("one_shot, time %d: %d %s", i+1, status, body)
			}
		}
		// Each is told with its reason.
		w.tellRejected(ctx)
		var log struct {
			Entries []struct{ Payload struct{ Reason string } }
		}
		w.must(w.WithPIN("246813").Call(ctx, "audit.log", map[string]any{"type": "assertion.rejected", "limit": 100}, &log))
		told := map[string]bool{}
		for _, e := range log.Entries {
			told[e.Payload.Reason] = true
		}
		for _, why := range []assertion.Reason{assertion.NotTaken, assertion.Credential, assertion.Several, assertion.RawTenant,
			assertion.ActorUnknown, assertion.IDReused, assertion.KeyUnknown, assertion.KeyForged, assertion.KeyRevoked, assertion.Replayed,
			assertion.LedgerFull} {
			if !told[string(why)] {
				t.Errorf("the journal does not tell of %s: %v", why, told)
			}
		}
	})
}

// A page sends several requests with one assertion at once: all of them are taken where it may come again, one where it may not.
func TestOneAssertionComesSeveralTimesAtOnce(t *testing.T) {
	wards(t, func(w *ward) {
		p := newPlane(t)
		w.present("actor.add", map[string]any{"name": "anna", "kind": "person"}, nil)
		w.present("assertion.key_add", map[string]any{"id": "web-1", "public_key": p.public()}, nil)
		w.must(settings.Change(filepath.Join(w.home, ".tandem"), "auth_mode", "hosted_single_tenant"))
		w.again()
		for _, mode := range []identity.Replay{identity.Bound, identity.OneShot} {
			w.identity.Takes.Replay = mode
			for range 5 {
				one, taken, all := p.sign("web-1", "anna", nil), new(atomic.Int32), new(sync.WaitGroup)
				for range 8 {
					all.Go(func() {
						_, err := w.identity.Assert(t.Context(), one, op.Caller{}, op.DoorHTTP)
						why := (*assertion.Rejected)(nil)
						switch {
						case err == nil:
							taken.Add(1)
						case !errors.As(err, &why) || why.Reason != assertion.Replayed:
							t.Errorf("%s: %v", mode, err)
						}
					})
				}
				all.Wait()
				if n := taken.Load(); mode == identity.Bound && n != 8 || mode == identity.OneShot && n != 1 {
					t.Errorf("%s: %d of 8 were taken", mode, n)
				}
			}
		}
		// They are remembered for some minutes beyond their end: another server's clock may be behind.
		for _, c := range []struct {
			ended time.Duration
			left  int
		}{{time.Minute, 11}, {6 * time.Minute, 1}} {
			w.must(w.db.Write(t.Context(), func(tx *db.Tx) error {
				_, err := tx.Exec("UPDATE assertion_seen SET expires_at = ?", tx.Now().Add(-c.ended))
				return err
			}))
			_, err := w.identity.Assert(t.Context(), p.sign("web-1", "anna", nil), op.Caller{}, op.DoorHTTP)
			w.must(err)
			var n int
			w.must(w.db.QueryRow(t.Context(), "SELECT count(*) FROM assertion_seen").Scan(&n))
			if n != c.left {
				t.Errorf("%s after the end of all: %d are remembered, not %d", c.ended, n, c.left)
			}
		}
	})
}

func apiToken(w *ward) (secret string) {
	w.must(w.rooms.secret.Lend(w.t.Context(), identity.LocalTenant, "token/"+identity.API, func(v []byte) error {
		secret = string(v)
		return nil
	}))
	return secret
}

// Where every request says whom it is for, no door, stream, hook or socket is exempt: every route of every operation and every other
// door refuses who names nobody, but for those that are listed with what they bring.
func TestNoDoorIsExemptWhereRequestsAreNamed(t *testing.T) {
	pin, err := identity.HashPIN("246813579")
	if err != nil {
		t.Fatal(err)
	}
	onDatabases(t, func(t *testing.T, at func() map[string]string, mine func(i int) bool) {
		for _, mode := range []authMode{hostedSingleTenant, enterpriseRequired} {
			t.Run(string(mode), func(t *testing.T) {
				p := newPlane(t)
				d, base := walkedWith(t, with(at(), map[string]string{"auth_mode": string(mode), "pin_hash": pin, "secret_keeper": "file",
					"assertion.public_keys": p.ring("ring-1")}))
				nobody := map[string]map[string]string{"nothing": {}, "the API's token": {"Authorization": "Bearer " + walkAPI},
					"the connector's token": {"Authorization": "Bearer " + walkConnector}, "a wrong cookie": {"Cookie": CookieName + "=tdc_nobody"},
					"a raw header": {"X-Tandem-Org-Id": "acme", "X-Tandem-Actor-Id": "owner"}}
				refused := func(method, path, pattern string, body []byte) {
					for who, header := range nobody {
						status, text := send(t, method, base+path, body, header)
						_, open := waysIn[pattern]
						open = open && who != "a raw header" && !(mode == enterpriseRequired && pattern == "POST "+registers)
						if !open && status != http.StatusUnauthorized && status != http.StatusForbidden {
							t.Errorf("%s %s answers who comes with %s: %d %s", method, path, who, status, text)
						}
					}
				}
				for i, o := range d.gate.Table().All() {
					if !mine(i) {
						continue
					}
					for _, r := range routes(o) {
						refused(r[0], r[1], strings.Join(r[:], " "), encode(t, filled(o, "x1")))
					}
				}
				for pattern := range d.web.Mounts {
					method, path, ok := strings.Cut(pattern, " ")
					if !ok {
						method, path = "GET", pattern
					}
					refused(method, strings.ReplaceAll(wildcardForm.ReplaceAllString(path, "x1"), "{$}", ""), pattern, []byte("{}"))
				}
				for _, path := range []string{"/event", "/openapi.json", "/metrics", "/nothing/here", "/mcp?token=" + walkConnector} {
					refused("GET", path, "GET "+path, nil)
				}
				join := []byte(`{"name":"x","nonce":"00000000000000000000000000000000"}`)
				if status, body := send(t, "POST", base+"/join", join, nil); status != 401 {
					t.Errorf("a request to join without an invitation: %d %s", status, body)
				}
				socket := client.Socket(SocketPath(d.data, ""))
				for i, o := range d.gate.Table().All() {
					if !mine(i) {
						continue
					}
					if err := socket.Call(t.Context(), o.Name, filled(o, "x1"), nil); !o.Public && !fault.Is(err, fault.Unauthenticated) {
						t.Errorf("%s for whoever speaks on the control socket: %v", o.Name, err)
					}
				}
				// A token of the house names nobody either when it asks to act as an agent.
				for _, secret := range []string{walkAPI, walkConnector} {
					as := socket.WithToken(secret).WithClient(client.About{As: "agent"})
					if err := as.Call(t.Context(), "actor.whoami", nil, nil); !fault.Is(err, fault.Unauthenticated) {
						t.Errorf("an agent by a token of the house on the control socket: %v", err)
					}
				}
				// Where nobody has to be known, who is refused is nobody.
				r := httptest.NewRequest("GET", "/ready", nil)
				r.Header.Set("Authorization", "Bearer "+walkAPI)
				if c, err := d.named(networkAuth(d.identity, false), true)(r); err == nil || c.Known() {
					t.Errorf("refused, and known as %s: %v", c.Name, err)
				}
				// Whoever names somebody is let in: a token of an actor, a person with the PIN, an assertion.
				agent := mint(t, d, op.Agent, "walker")
				if status, body := send(t, "GET", base+"/whoami", nil, map[string]string{"Authorization": "Bearer " + agent}); status != 200 {
					t.Errorf("an agent's token: %d %s", status, body)
				}
				anna := map[string]any{"name": "anna", "kind": "person"}
				if err := socket.WithPIN("246813579").Call(t.Context(), "actor.add", anna, nil); err != nil {
					t.Errorf("with the PIN: %v", err)
				}
				if err := socket.WithToken(agent).Call(t.Context(), "actor.whoami", nil, nil); err != nil {
					t.Errorf("a token on the control socket: %v", err)
				}
				signed := map[string]string{"X-Tandem-Context-Assertion": p.sign("ring-1", "anna", nil)}
				if status, body := send(t, "GET", base+"/whoami", nil, signed); status != 200 || !strings.Contains(body, `"name":"anna"`) {
					t.Errorf("an assertion: %d %s", status, body)
				}
				if status, body := send(t, "GET", base+"/event", nil, signed); status != 200 {
					t.Errorf("a stream: %d %s", status, body)
				}
				// What guards this machine wants the person here, whoever is named.
				for _, v := range d.Settings.All() {
					if k := settings.Known(v.Key); k == nil || !k.Guard {
						continue
					}
					owner := map[string]string{"X-Tandem-Context-Assertion": p.sign("ring-1", identity.Owner, nil)}
					status, body := send(t, "PUT", base+"/settings/"+v.Key, []byte(`{"value":""}`), owner)
					if status != 403 || !strings.Contains(body, `"presence":"required"`) {
						t.Errorf("%s set by an assertion of the owner: %d %s", v.Key, status, body)
					}
				}
				if err := socket.WithPIN("246813579").Call(t.Context(), "assertion.key_revoke", map[string]any{"id": "ring-1"}, nil); err != nil {
					t.Errorf("revoke a key of the settings: %v", err)
				}
				if status, body := send(t, "GET", base+"/whoami", nil, signed); status != 403 || reasonOf(body) != "key_revoked" {
					t.Errorf("after that: %d %s", status, body)
				}
			})
		}
	})
}

// A mode that cannot be kept is not served, and a mode that is not known is no other one.
func TestAModeThatCannotBeKeptIsNotServed(t *testing.T) {
	pin, err := identity.HashPIN("246813579")
	if err != nil {
		t.Fatal(err)
	}
	ring := newPlane(t).ring("ring-1")
	for _, c := range []struct {
		name  string
		flags map[string]string
		says  string
	}{
		{"hosted without a person", map[string]string{"auth_mode": "hosted_single_tenant"}, "no owner can prove"},
		{"enterprise without keys", map[string]string{"auth_mode": "enterprise_required", "pin_hash": pin}, "no key signs"},
		{"enterprise with a key for everybody", map[string]string{"auth_mode": "enterprise_required", "pin_hash": pin,
			"assertion.public_keys": strings.Replace(ring, `,"organizationId":"acme"`, "", 1)}, "no key signs"},
		{"enterprise that forgets", map[string]string{"auth_mode": "enterprise_required", "pin_hash": pin, "assertion.public_keys": ring,
			"assertion.replay_mode": "off"}, "not remembered"},
		{"enterprise with open metrics", map[string]string{"auth_mode": "enterprise_required", "pin_hash": pin, "assertion.public_keys": ring,
			"metrics": "open"}, "open to everybody"},
		{"a misspelt mode", map[string]string{"auth_mode": "enterprise"}, "auth_mode is one of"},
		{"a skew of minutes", map[string]string{"assertion.max_future_skew_ms": "600000"}, "0 to 60000"},
		{"a lifetime of days", map[string]string{"assertion.max_lifetime_ms": "86400000"}, "1000 to 3600000"},
		{"a ring that is none", map[string]string{"assertion.public_keys": "{"}, "key ring"},
	} {
		t.Run(c.name, func(t *testing.T) {
			flags := map[string]string{"data": testenv.Dir(t) + "/data", "listen": "127.0.0.1:0", "secret_keeper": "file"}
			maps.Copy(flags, c.flags)
			s, err := settings.Load(flags, nil)
			if err != nil {
				t.Fatal(err)
			}
			d := &Daemon{Settings: s, Version: "test", Ready: func(d *Daemon) { d.stop() }}
			if err := d.Run(t.Context()); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("started, or ended with: %v", err)
			}
		})
	}
}
