package identity

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
)

const back, verifier = "http://127.0.0.1:1/back", "a-verifier-that-nobody-guesses-0123456789"

// connected is a program that a person consented to, with its first tokens.
func connected(t *testing.T, h *house) (context.Context, string, string, ExchangeOut) {
	t.Helper()
	newcomer := op.WithCaller(t.Context(), op.Caller{Tenant: LocalTenant, Actor: WellKnown(Newcomer), Name: Newcomer, Kind: op.Service})
	program, err := do(t, h, newcomer, h.register, RegisterIn{Name: "Chat", Redirects: []string{back}})
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(verifier))
	consent, err := do(t, h, owner("pin"), h.consent,
		ConnectIn{Client: program.ID, Redirect: back, Challenge: base64.RawURLEncoding.EncodeToString(sum[:])})
	if err != nil {
		t.Fatal(err)
	}
	out, err := do(t, h, newcomer, h.exchange, ExchangeIn{Grant: "authorization_code", Client: program.ID, Code: consent.Code, Redirect: back,
		Verifier: verifier})
	if err != nil {
		t.Fatal(err)
	}
	return newcomer, program.ID, consent.Code, out
}

// A program renews its tokens every hour for as long as it is connected: what
// has ended does not pile up.
func TestARenewedProgramLeavesNothingBehind(t *testing.T) {
	eachDatabase(t, func(t *testing.T, h *house) {
		ctx, program, _, tokens := connected(t, h)
		for range 60 {
			h.now = h.now.Add(24 * time.Hour)
			next, err := do(t, h, ctx, h.exchange, ExchangeIn{Grant: "refresh_token", Client: program, Refresh: tokens.Refresh})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.Bearer(t.Context(), tokens.Access, op.DoorMCP); !fault.Is(err, fault.Unauthenticated) {
				t.Fatalf("a token of yesterday: %v", err)
			}
			tokens = next
		}
		if _, err := h.Bearer(t.Context(), tokens.Access, op.DoorMCP); err != nil {
			t.Errorf("the newest token: %v", err)
		}
		var grants, rows int
		if err := h.db.QueryRow(t.Context(), "SELECT count(*) FROM oauth_grant").Scan(&grants); err != nil {
			t.Fatal(err)
		}
		if err := h.db.QueryRow(t.Context(), "SELECT count(*) FROM token WHERE label = 'oauth'").Scan(&rows); err != nil {
			t.Fatal(err)
		}
		if grants > 31 || rows != 1 { // used refresh tokens are known for their thirty days
			t.Errorf("%d grants and %d tokens are left", grants, rows)
		}
	})
}

// A code or refresh token that comes twice has two holders: everything of the
// program ends with the exchange that finds it out.
func TestAReusedGrantEndsTheProgram(t *testing.T) {
	eachDatabase(t, func(t *testing.T, h *house) {
		ctx, program, code, tokens := connected(t, h)
		out, err := do(t, h, ctx, h.exchange, ExchangeIn{Grant: "authorization_code", Client: program, Code: code, Redirect: back,
			Verifier: verifier})
		if err != nil || !out.Reused || out.Access != "" || out.Refresh != "" {
			t.Fatalf("%+v, %v", out, err)
		}
		if _, err := h.Bearer(t.Context(), tokens.Access, op.DoorMCP); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("its token afterwards: %v", err)
		}
		if _, err := do(t, h, ctx, h.exchange, ExchangeIn{Grant: "refresh_token", Client: program, Refresh: tokens.Refresh}); !fault.Is(err,
			fault.Denied) {
			t.Errorf("its refresh token afterwards: %v", err)
		}
	})
}

// A person revoked the token of a program that had connected by OAuth. It was refused, refreshed, and was in again: only the
// one token had ended. Taking back a program's token takes back the program.
func TestARevokedProgramDoesNotComeBack(t *testing.T) {
	eachDatabase(t, func(t *testing.T, h *house) {
		ctx, program, _, tokens := connected(t, h)
		c, err := h.Bearer(t.Context(), tokens.Access, op.DoorMCP)
		if err != nil {
			t.Fatal(err)
		}
		other, err := do(t, h, owner("pin"), h.mint, MintIn{Actor: API})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := do(t, h, owner("pin"), h.revoke, TokenIn{ID: c.Token}); err != nil {
			t.Fatal(err)
		}
		if _, err := do(t, h, ctx, h.exchange, ExchangeIn{Grant: "refresh_token", Client: program, Refresh: tokens.Refresh}); !fault.Is(err,
			fault.Denied) {
			t.Errorf("its refresh token afterwards: %v", err)
		}
		if _, err := h.Bearer(t.Context(), other.Secret, op.DoorHTTP); err != nil {
			t.Errorf("somebody else's token: %v", err)
		}
	})
}

// Where a name or an id may be given, no name is somebody else's id.
func TestNoNameIsAnId(t *testing.T) {
	eachDatabase(t, func(t *testing.T, h *house) {
		for _, name := range []string{"act_owner", WellKnown(API)} {
			if _, err := do(t, h, owner("pin"), h.add, AddIn{Name: name, Kind: op.Agent}); !fault.Is(err, fault.Invalid) {
				t.Errorf("an actor called %s: %v", name, err)
			}
		}
	})
}
