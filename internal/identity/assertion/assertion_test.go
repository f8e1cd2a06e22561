package assertion

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"
)

var now = time.UnixMilli(1_800_000_000_000)

// claims are those of an assertion that is taken, with changes by path.
func claims(changes map[string]any) map[string]any {
	at := now.UnixMilli()
	c := map[string]any{"version": "v1", "issuer": "tandem-web", "audience": "tandem-runtime", "issued_at_ms": at - 1000,
		"expires_at_ms": at + 60_000, "assertion_id": "a-1",
		"tenant_context": map[string]any{"org_id": "acme", "workspace_id": "main", "actor_id": "anna", "source": "explicit"},
		"human_actor":    map[string]any{"actor_id": "anna", "email": "anna@example.org"},
		"authority_chain": map[string]any{"initiated_by": map[string]any{"actor_id": "anna", "source": "web"},
			"executed_as": map[string]any{"kind": "request"}},
		"roles": []string{"admin"}, "org_units": []string{}, "capabilities": []string{}, "grants": []any{}}
	for path, v := range changes {
		at := c
		parts := strings.Split(path, ".")
		for _, p := range parts[:len(parts)-1] {
			at = at[p].(map[string]any)
		}
		at[parts[len(parts)-1]] = v
	}
	return c
}

func part(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

func sign(key ed25519.PrivateKey, head, body any) string {
	text := part(head) + "." + part(body)
	return text + "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(key, []byte(text)))
}

// Every reason to reject an assertion that this package knows has a case.
func TestEveryReasonToReject(t *testing.T) {
	public, private, _ := ed25519.GenerateKey(nil)
	_, other, _ := ed25519.GenerateKey(nil)
	head := map[string]any{"alg": "EdDSA", "typ": "tandem-tenant-context+jws", "kid": "web-1"}
	headWith := func(key string, v any) map[string]any { h := maps.Clone(head); h[key] = v; return h }
	with := func(changes map[string]any) string { return sign(private, head, claims(changes)) }
	at := now.UnixMilli()
	good := Key{ID: "web-1", Tenant: "local", Public: public, Purpose: ForAssertions, Status: Active}
	key := func(change func(*Key)) *Key { k := good; change(&k); return &k }
	rules := Rules{Issuer: "tandem-web", Audience: "tandem-runtime", Skew: 10 * time.Second, Lifetime: 15 * time.Minute,
		Narrow: func(c *Claims) (text, by string, why *Rejected) { // what is read of them is the table of internal/policy/vocabulary
			switch {
			case string(c.ResourceScope) == `"kept"`:
				return "text", "assertion:1", nil
			case said(c.ResourceScope):
				return "", "", Reject(Scope, "unread")
			case string(c.Grants) != "[]":
				return "", "", Reject(Grants, "unread")
			case strings.Contains(string(c.DataBoundary), "credential"):
				return "", "", Reject(Boundary, "unread")
			}
			return "", "", nil
		},
		Right: func(s string) error {
			if !strings.Contains(s, ".") {
				return errors.New("no right")
			}
			return nil
		}}
	organized := rules
	organized.Organized = true
	for _, c := range []struct {
		name  string
		token string
		key   *Key
		rules *Rules
		want  Reason // "" for taken
	}{
		{name: "as it should be", token: with(nil)},
		{name: "for some rights", token: with(map[string]any{"capabilities": []string{"session.read"}})},
		{name: "an empty boundary", token: with(map[string]any{"data_boundary": map[string]any{"allowed_data_classes": []string{}}})},
		{name: "a principal", token: with(map[string]any{"principal": map[string]any{"kind": "human_user", "id": "anna"}})},
		{name: "approved elsewhere", token: with(map[string]any{"authority_chain.approved_by": map[string]any{"actor_id": "ben"}})},
		{name: "just within the skew", token: with(map[string]any{"issued_at_ms": at + 10_000})},
		{name: "large", token: with(map[string]any{"human_actor.email": strings.Repeat("x", maxSize)}), want: TooLarge},
		{name: "two parts", token: "a.b", want: Malformed},
		{name: "no JSON", token: "e30.e30x.e30", want: Algorithm},
		{name: "padded", token: strings.Replace(with(nil), ".", "=.", 1), want: Malformed},
		{name: "a header that must be understood", token: sign(private, headWith("crit", []string{"b64"}), claims(nil)), want: Malformed},
		{name: "claims of another version", token: with(map[string]any{"sudo": true}), want: Malformed},
		{name: "claims that are a list", token: sign(private, head, []int{1}), want: Malformed},
		{name: "too many capabilities",
			token: with(map[string]any{"capabilities": strings.Fields(strings.Repeat("a.b ", 65))}), want: Malformed},
		{name: "alg none", token: sign(private, headWith("alg", "none"), claims(nil)), want: Algorithm},
		{name: "HMAC with the public key", token: sign(private, headWith("alg", "HS256"), claims(nil)), want: Algorithm},
		{name: "an approval's receipt", token: sign(private, headWith("typ", "tandem-approval-receipt+jws"), claims(nil)), want: Type},
		{name: "no kid", token: sign(private, headWith("kid", ""), claims(nil)), want: KeyUnknown},
		{name: "a kid that is a path", token: sign(private, headWith("kid", "../web-1"), claims(nil)), want: KeyUnknown},
		{name: "another kid", token: sign(private, headWith("kid", "web-2"), claims(nil)), want: KeyUnknown},
		{name: "another key", token: sign(other, head, claims(nil)), want: Signature},
		{name: "no signature", token: with(nil)[:strings.LastIndexByte(with(nil), '.')+1], want: Signature},
		{name: "changed",
			token: part(head) + "." + part(claims(map[string]any{"human_actor.actor_id": "ben"})) +
				with(nil)[strings.LastIndexByte(with(nil), '.'):],
			want: Signature},
		{name: "v2", token: with(map[string]any{"version": "v2"}), want: Version},
		{name: "another issuer", token: with(map[string]any{"issuer": "evil"}), want: Issuer},
		{name: "another audience", token: with(map[string]any{"audience": "other"}), want: Audience},
		{name: "ended now", token: with(map[string]any{"expires_at_ms": at}), want: Expired},
		{name: "issued tomorrow", token: with(map[string]any{"issued_at_ms": at + 10_001, "expires_at_ms": at + 20_000}), want: NotYet},
		{name: "for an hour", token: with(map[string]any{"expires_at_ms": at + 3_600_000}), want: Lifetime},
		{name: "for less than nothing", token: with(map[string]any{"expires_at_ms": at - 2000}), want: Lifetime},
		{name: "for longer than a number is", token: with(map[string]any{"expires_at_ms": int64(1) << 62}), want: Lifetime},
		{name: "issued never", token: with(map[string]any{"issued_at_ms": 0}), want: Lifetime},
		{name: "no id", token: with(map[string]any{"assertion_id": ""}), want: NoID},
		{name: "an id of two words", token: with(map[string]any{"assertion_id": "a b"}), want: NoID},
		{name: "no organization", token: with(map[string]any{"tenant_context.org_id": ""}), want: NoTenant},
		{name: "no workspace", token: with(map[string]any{"tenant_context.workspace_id": ""}), want: NoTenant},
		{name: "implicit", token: with(map[string]any{"tenant_context.source": "local_implicit"}), want: NoTenant},
		{name: "nobody", token: with(map[string]any{"human_actor.actor_id": ""}), want: NoActor},
		{name: "another in the tenant", token: with(map[string]any{"tenant_context.actor_id": "ben"}), want: Actors},
		{name: "another in the chain",
			token: with(map[string]any{"authority_chain.initiated_by": map[string]any{"actor_id": "ben"}}), want: Actors},
		{name: "executed as another",
			token: with(map[string]any{"authority_chain.executed_as": map[string]any{"kind": "request", "actor_id": "ben"}}),
			want:  Actors},
		{name: "another principal",
			token: with(map[string]any{"principal": map[string]any{"kind": "human_user", "id": "ben"}}), want: Actors},
		{name: "an agent's principal",
			token: with(map[string]any{"principal": map[string]any{"kind": "agent_worker", "id": "anna"}}), want: Actors},
		{name: "an automation",
			token: with(map[string]any{"authority_chain.executed_as": map[string]any{"kind": "automation"}}), want: ExecutedAs},
		{name: "executed as nothing", token: with(map[string]any{"authority_chain.executed_as": nil}), want: ExecutedAs},
		{name: "a capability of somewhere else", token: with(map[string]any{"capabilities": []string{"everything"}}), want: Capability},
		{name: "a scope that is kept", token: with(map[string]any{"resource_scope": "kept"})},
		{name: "a scope", token: with(map[string]any{"resource_scope": map[string]any{"root": "x"}}), want: Scope},
		{name: "grants", token: with(map[string]any{"grants": []any{map[string]any{"effect": "deny"}}}), want: Grants},
		{name: "a boundary",
			token: with(map[string]any{"data_boundary": map[string]any{"denied_data_classes": []string{"credential"}}}), want: Boundary},
		{name: "a key for receipts", token: with(nil), key: key(func(k *Key) { k.Purpose = "approval_receipt" }), want: KeyPurpose},
		{name: "a revoked key", token: with(nil), key: key(func(k *Key) { k.Status = Revoked }), want: KeyRevoked},
		{name: "a retired key", token: with(nil), key: key(func(k *Key) { k.Status = Retired }), want: KeyRetired},
		{name: "a key of tomorrow", token: with(nil), key: key(func(k *Key) { k.NotBefore = now.Add(1) }), want: KeyNotYet},
		{name: "a key of yesterday", token: with(nil), key: key(func(k *Key) { k.NotAfter = now }), want: KeyOver},
		{name: "a key for another audience",
			token: with(nil), key: key(func(k *Key) { k.Audiences = []string{"other"} }), want: KeyAudience},
		{name: "a key for this audience", token: with(nil), key: key(func(k *Key) { k.Audiences = []string{"other", "tandem-runtime"} })},
		{name: "a key of another organization", token: with(nil), key: key(func(k *Key) { k.Organization = "other" }), want: KeyOrg},
		{name: "a key that names none", token: with(nil), rules: &organized, want: KeyOrg},
		{name: "a key that names its own", token: with(nil), rules: &organized, key: key(func(k *Key) { k.Organization = "acme" })},
		{name: "a key of another deployment", token: with(nil), key: key(func(k *Key) { k.Deployment = "eu" }), want: KeyDeploy},
	} {
		use, k := rules, &good
		if c.rules != nil {
			use = *c.rules
		}
		if c.key != nil {
			k = c.key
		}
		v, err := use.Verify(c.token, func(id string) (*Key, error) {
			if id != k.ID {
				return nil, nil
			}
			return k, nil
		}, now)
		var why *Rejected
		switch {
		case c.name == "a scope that is kept" && (err != nil || v.Narrow != "text" || v.By != "assertion:1"):
			t.Errorf("%s: %+v %v", c.name, v, err)
		case c.want == "" && (err != nil || v.Claims.Human.Actor != "anna"):
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (!errors.As(err, &why) || why.Reason != c.want || why.Text == ""):
			t.Errorf("%s: %+v, want %s", c.name, err, c.want)
		}
	}
}

func TestAKeyRingIsReadWholeOrNotAtAll(t *testing.T) {
	public, _, _ := ed25519.GenerateKey(nil)
	text := base64.StdEncoding.EncodeToString(public)
	ring, err := ParseRing(`{"web-1":{"publicKey":"`+text+`","purpose":"context_assertion","organizationId":"acme","notAfterMs":1}}`, "local")
	if err != nil || ring["web-1"].Organization != "acme" || ring["web-1"].Status != Active || ring["web-1"].NotAfter.UnixMilli() != 1 {
		t.Errorf("%+v %v", ring, err)
	}
	for _, bad := range []string{`[]`, `{"k":{}}`, `{"k":{"publicKey":"AAAA","purpose":"context_assertion"}}`,
		`{"k":{"publicKey":"` + text + `"}}`,
		`{"k":{"publicKey":"` + text + `","purpose":"context_assertion","status":"odd"}}`,
		`{"k":{"publicKey":"` + text + `","purpose":"context_assertion","allowedResourceScopePrefixes":["/fin"]}}`,
		`{"k":{"publicKey":"` + text + `","purpose":"context_assertion","unknown":1}}`,
		`{"a/b":{"publicKey":"` + text + `","purpose":"context_assertion"}}`, `{} {}`} {
		if _, err := ParseRing(bad, "local"); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}
