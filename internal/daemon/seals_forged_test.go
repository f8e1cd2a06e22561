package daemon

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
)

// Whoever writes to the database can put a key of their own device beside the person's: it is asked nothing, and verify names it.
func TestAForgedPasskeyIsNoKey(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		owner, err := w.identity.Caller(ctx, identity.LocalTenant, identity.Owner, op.DoorPanel)
		w.must(err)
		w.sql(`INSERT INTO passkey (tenant, id, actor, name, host, credential_id, credential, created_at, used_at)
			SELECT tenant, 'pky_forged', id, 'laptop', 'tandem.localhost', token.hash, '{"id":"AAECAw==","publicKey":"AAECAw=="}', 1, 0
			FROM actor CROSS JOIN (SELECT hash FROM token LIMIT 1) AS token WHERE name = 'owner'`)
		site := identity.Site{Host: "tandem.localhost", Origin: "http://tandem.localhost:39731"}
		if _, err := w.identity.AskPasskey(ctx, site, owner, "decide"); !fault.Is(err, fault.Denied) ||
			!strings.Contains(err.Error(), "no passkey is registered") {
			t.Errorf("a forged passkey is asked: %v", err)
		}
		w.told("the passkey pky_forged")
	})
}

// A program that a person consented to stays what they consented to: a row that makes it act for somebody else, and a program or a
// refresh token that nobody consented to, get no tokens.
func TestAForgedProgramGetsNoToken(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		const back, verifier = "http://127.0.0.1:1/back", "a-verifier-that-nobody-guesses-0123456789"
		caller := func(name, present string) op.Caller {
			c, err := w.identity.Caller(ctx, identity.LocalTenant, name, op.DoorPanel)
			w.must(err)
			c.Present = present
			return c
		}
		invoke := func(c op.Caller, name string, in any) (any, error) {
			return w.gate.Invoke(op.WithCaller(ctx, c), name, in)
		}
		newcomer := caller(identity.Newcomer, "")
		registered, err := invoke(newcomer, "oauth.register", identity.RegisterIn{Name: "Chat", Redirects: []string{back}})
		w.must(err)
		program := registered.(identity.RegisterOut).ID
		sum := sha256.Sum256([]byte(verifier))
		consent, err := invoke(caller(identity.Owner, "pin"), "oauth.consent",
			identity.ConnectIn{Client: program, Redirect: back, Challenge: base64.RawURLEncoding.EncodeToString(sum[:])})
		w.must(err)
		first, err := invoke(newcomer, "oauth.exchange", identity.ExchangeIn{Grant: "authorization_code", Client: program,
			Code: consent.(identity.ConsentOut).Code, Redirect: back, Verifier: verifier})
		w.must(err)
		renew := func(program, secret string) (identity.ExchangeOut, error) {
			out, err := invoke(newcomer, "oauth.exchange", identity.ExchangeIn{Grant: "refresh_token", Client: program, Refresh: secret})
			if err != nil {
				return identity.ExchangeOut{}, err
			}
			return out.(identity.ExchangeOut), nil
		}
		refresh := first.(identity.ExchangeOut).Refresh

		w.sql(fmt.Sprintf("UPDATE oauth_client SET actor = 'act_owner', source = actor WHERE id = '%s'", program))
		if _, err := renew(program, refresh); !fault.Is(err, fault.Denied) {
			t.Errorf("a program that was made the owner's: %v", err)
		}
		w.told("(" + program + ")")
		w.sql(fmt.Sprintf("UPDATE oauth_client SET actor = source WHERE id = '%s'", program))

		w.sql(`INSERT INTO oauth_client (tenant, id, name, redirects, actor, created_at)
			VALUES ('local', 'forged', 'Forged', '[]', 'act_owner', 1)`,
			fmt.Sprintf("UPDATE oauth_grant SET client = 'forged' WHERE kind = 'refresh' AND client = '%s'", program))
		if _, err := renew("forged", refresh); !fault.Is(err, fault.Denied) {
			t.Errorf("a program that nobody consented to: %v", err)
		}
		w.told("the program Forged")
		w.sql(fmt.Sprintf("UPDATE oauth_grant SET client = '%s' WHERE client = 'forged'", program),
			"DELETE FROM oauth_client WHERE id = 'forged'")
		if out, err := renew(program, refresh); err != nil || out.Access == "" {
			t.Errorf("the program as it was consented to: %v", err)
		}
	})
}
