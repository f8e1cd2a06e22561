package identity

import (
	"context"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// recovers is a caller of the control socket whom the door found to have a code, or to be root.
func recovers(by string) context.Context {
	return op.WithCaller(context.Background(), op.Caller{Tenant: LocalTenant, Actor: WellKnown(LocalUser), Name: LocalUser, Kind: op.Local,
		Recovers: by})
}

// A forgotten PIN was the end: no command and no page set another. Codes are shown with the first PIN, and each sets a new one once.
func TestACodeReplacesAForgottenPINOnce(t *testing.T) {
	eachDatabase(t, func(t *testing.T, h *house) {
		var told []string
		h.Recovered = func(_ *db.Tx, r Recovered) error { told = append(told, r.What); return nil }
		first, err := do(t, h, owner(""), h.setPIN, PINIn{"482913"})
		if err != nil || len(first.Codes) != codeCount {
			t.Fatalf("set the first PIN: %+v, %v", first, err)
		}
		if again, err := do(t, h, owner("pin"), h.setPIN, PINIn{"482914"}); err != nil || len(again.Codes) != 0 || again.Left != codeCount {
			t.Fatalf("changing the PIN makes no new codes: %+v, %v", again, err)
		}
		prove := func(code string) (string, error) {
			return h.ProveCode(t.Context(), LocalTenant, WellKnown(Owner), code, "a terminal")
		}
		if _, err := do(t, h, recovers(""), h.recoverPIN, PINIn{"777888"}); !fault.Is(err, fault.Denied) {
			t.Errorf("without a code: %v", err)
		}
		by, err := prove(" " + strings.ToUpper(strings.ReplaceAll(first.Codes[0], "-", " ")))
		if err != nil {
			t.Fatal(err)
		}
		out, err := do(t, h, recovers(by), h.recoverPIN, PINIn{"777888"})
		if err != nil || out.Left != codeCount-1 || len(out.Codes) != 0 {
			t.Fatalf("use a code: %+v, %v", out, err)
		}
		if err := h.ProvePIN(t.Context(), LocalTenant, WellKnown(Owner), "777888", "a terminal"); err != nil {
			t.Errorf("the new PIN: %v", err)
		}
		if _, err := do(t, h, recovers(by), h.recoverPIN, PINIn{"999111"}); !fault.Is(err, fault.Denied) {
			t.Errorf("the same code again: %v", err)
		}
		if _, err := prove(first.Codes[0]); !fault.Is(err, fault.Denied) {
			t.Errorf("a used code is found: %v", err)
		}
		made, err := do(t, h, owner("pin"), func(ctx context.Context, tx *db.Tx, _ Nothing) ([]string, error) {
			return h.makeCodes(ctx, tx, LocalTenant, WellKnown(Owner))
		}, Nothing{})
		if err != nil || len(made) != codeCount {
			t.Fatalf("new codes: %v, %v", made, err)
		}
		if _, err := prove(first.Codes[1]); !fault.Is(err, fault.Denied) {
			t.Errorf("new codes leave the old ones working: %v", err)
		}
		if r, err := h.Recovery(t.Context(), LocalTenant); err != nil || r.Codes != codeCount {
			t.Errorf("%+v, %v", r, err)
		}
		if strings.Join(told, " ") != "used" {
			t.Errorf("people were told %v", told)
		}
	})
}

func TestWrongCodesAreBoundedAndTold(t *testing.T) {
	eachDatabase(t, func(t *testing.T, h *house) {
		var wrong []WrongPIN
		h.Wrong = func(_ *db.Tx, w WrongPIN) error { wrong = append(wrong, w); return nil }
		set, err := do(t, h, owner(""), h.setPIN, PINIn{"482913"})
		if err != nil {
			t.Fatal(err)
		}
		for range freeTries {
			if _, err := h.ProveCode(t.Context(), LocalTenant, WellKnown(Owner), newCode(), "a terminal"); !fault.Is(err, fault.Denied) {
				t.Fatal(err)
			}
		}
		if _, err := h.ProveCode(t.Context(), LocalTenant, WellKnown(Owner), set.Codes[0], "another terminal"); !fault.Is(err, fault.Exhausted) {
			t.Errorf("after %d wrong codes there is no pause: %v", freeTries, err)
		}
		if len(wrong) != freeTries || !wrong[0].Code {
			t.Errorf("told of %+v", wrong)
		}
		h.now = h.now.Add(time.Minute)
		if _, err := h.ProveCode(t.Context(), LocalTenant, WellKnown(Owner), set.Codes[0], "another terminal"); err != nil {
			t.Errorf("after the pause: %v", err)
		}
	})
}

// Root of the machine is no person either: everybody is told, a day passes, and whoever knows the PIN stops it.
func TestRootRecoversAfterADayUnlessStopped(t *testing.T) {
	eachDatabase(t, func(t *testing.T, h *house) {
		var told []string
		h.Recovered = func(_ *db.Tx, r Recovered) error { told = append(told, r.What); return nil }
		if _, err := do(t, h, recovers(ByRoot), h.beginRecovery, Nothing{}); !fault.Is(err, fault.Conflict) {
			t.Errorf("before there is a PIN: %v", err)
		}
		if _, err := do(t, h, owner(""), h.setPIN, PINIn{"482913"}); err != nil {
			t.Fatal(err)
		}
		if _, err := do(t, h, recovers(""), h.beginRecovery, Nothing{}); !fault.Is(err, fault.Denied) {
			t.Errorf("somebody else began it: %v", err)
		}
		if _, err := do(t, h, recovers(ByRoot), h.recoverPIN, PINIn{"777888"}); !fault.Is(err, fault.NotFound) {
			t.Errorf("without beginning: %v", err)
		}
		begin := func() *PendingOut {
			x, err := do(t, h, recovers(ByRoot), h.beginRecovery, Nothing{})
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		x := begin()
		if again := begin(); again.ID != x.ID || !again.DueAt.Equal(x.DueAt) {
			t.Errorf("beginning again moves it: %+v, %+v", x, again)
		}
		h.now = h.now.Add(rootWait - time.Second)
		if _, err := do(t, h, recovers(ByRoot), h.recoverPIN, PINIn{"777888"}); !fault.Is(err, fault.Denied) {
			t.Errorf("a second early: %v", err)
		}
		if _, err := do(t, h, owner("pin"), h.stopRecovery, StopIn{ID: x.ID}); err != nil {
			t.Fatal(err)
		}
		h.now = h.now.Add(time.Hour)
		if _, err := do(t, h, recovers(ByRoot), h.recoverPIN, PINIn{"777888"}); !fault.Is(err, fault.NotFound) {
			t.Errorf("after it was stopped: %v", err)
		}
		begin()
		h.now = h.now.Add(rootWait)
		if _, err := do(t, h, recovers(ByRoot), h.recoverPIN, PINIn{"777888"}); err != nil {
			t.Fatal(err)
		}
		if err := h.ProvePIN(t.Context(), LocalTenant, WellKnown(Owner), "777888", "a terminal"); err != nil {
			t.Errorf("the new PIN: %v", err)
		}
		if got := strings.Join(told, " "); got != "begun stopped begun finished" {
			t.Errorf("people were told %s", got)
		}
	})
}
