package identity

import (
	"context"
	"testing"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// Whoever held an invitation took the name that a grant was written for before anybody had it, and received the grant unseen.
func TestANameThatGrantsWaitFor(t *testing.T) {
	eachDatabase(t, func(t *testing.T, h *house) {
		const waits = "grt_1: allow edit on folder:/code"
		h.Waits = func(_ context.Context, _ *db.Tx, _, principal string) ([]string, error) {
			if principal == "agent:builder" || principal == "agent:taken-2" || principal == "service:chat" {
				return []string{waits}, nil
			}
			return nil, nil
		}
		newcomer := op.WithCaller(t.Context(), op.Caller{Tenant: LocalTenant, Actor: WellKnown(Newcomer), Name: Newcomer, Kind: op.Service})
		invite, err := do(t, h, owner("pin"), h.inviteOp, InviteIn{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := do(t, h, newcomer, h.redeem, RedeemIn{Name: "builder", Invite: invite.Invite}); !fault.Is(err, fault.Conflict) {
			t.Errorf("by invitation: %v", err)
		}
		if out, err := do(t, h, newcomer, h.redeem, RedeemIn{Name: "taken", Invite: invite.Invite}); err != nil || out.Actor != "taken" {
			t.Errorf("the invitation is spent: %+v, %v", out, err)
		}
		nonce := "0123456789abcdef0123456789abcdef"
		if _, err := do(t, h, newcomer, h.enter, EnterIn{Name: "builder", Nonce: nonce}); !fault.Is(err, fault.Conflict) {
			t.Errorf("unseen: %v", err)
		}
		bound, err := h.receives(newcomer, EnterIn{Name: "builder", Nonce: nonce})
		if err != nil || len(bound) != 1 || bound[0].Value != waits {
			t.Fatalf("an ask shows %+v, %v", bound, err)
		}
		if _, err := do(t, h, op.WithBound(newcomer, bound), h.enter, EnterIn{Name: "taken", Nonce: nonce}); !fault.Is(err, fault.Conflict) {
			t.Errorf("a number made it another name: %v", err)
		}
		if out, err := do(t, h, op.WithBound(newcomer, bound), h.enter, EnterIn{Name: "builder", Nonce: nonce}); err != nil ||
			out.Actor != "builder" {
			t.Errorf("seen: %+v, %v", out, err)
		}
		connected(t, h)
		if a, err := h.Actor(t.Context(), LocalTenant, "program-chat"); err != nil || a.Kind != op.Service {
			t.Errorf("a program took a name that grants wait for: %v", err)
		}
	})
}
