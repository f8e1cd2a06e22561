package gate

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/policy"
)

// What policy allows and somebody asked to be left alone is asked for; one
// approval lets one call pass; a caution that fails refuses.
func TestACautionIsAsked(t *testing.T) {
	h := openAskHouse(t, filepath.Join(t.TempDir(), "a.db"))
	h.rules("") // nothing needs an approval
	h.guards.Caution = func(_ context.Context, c op.Caller, _ *op.Op, in any) (string, error) {
		thing, _ := in.(thingIn)
		switch thing.Name {
		case "held":
			return "held is somebody else's", nil
		case "broken":
			return "", errors.New("nobody knows")
		}
		return "", nil
	}
	if _, err := h.Invoke(h.builder(), "thing.write", thingIn{Name: "free"}); err != nil {
		t.Fatal(err)
	}
	in := thingIn{Name: "held"}
	if d, err := h.Weigh(h.builder(), "thing.write", in); err != nil || d.Effect != policy.Ask || d.House() {
		t.Fatalf("%+v %v", d, err)
	}
	h.approve(h.pending(h.builder(), "thing.write", in))
	if _, err := h.Invoke(h.builder(), "thing.write", in); err != nil {
		t.Fatal(err)
	}
	h.pending(h.builder(), "thing.write", in)
	if _, err := h.Invoke(h.builder(), "thing.write", thingIn{Name: "broken"}); err == nil || fault.Is(err, fault.Pending) {
		t.Errorf("a caution that failed: %v", err)
	}
	if n := h.things(); n != 2 {
		t.Errorf("%d things were written", n)
	}
}

// A standing answer let calls pass that touch what somebody else had leased since; a tool's own caution kept the house's from being asked.
func TestAStandingAnswerPassesNoCaution(t *testing.T) {
	h := openAskHouse(t, filepath.Join(t.TempDir(), "a.db"))
	why := ""
	var no error
	h.guards.Caution = func(_ context.Context, _ op.Caller, o *op.Op, _ any) (string, error) {
		if o.Name != "thing.run" {
			return "", nil
		}
		return why, no
	}
	c := op.CallerFrom(h.builder())
	c.Session = "ses_1"
	ctx, in := op.WithCaller(t.Context(), c), thingIn{Name: "make"}
	look := func(ask string) *approval.Ask {
		t.Helper()
		seen, err := h.Invoke(h.as(op.Person, "ann", "pin"), "approval.get", approval.IDIn{ID: ask})
		if err != nil {
			t.Fatal(err)
		}
		return seen.(*approval.Ask)
	}
	first := look(h.pending(ctx, "thing.run", in))
	if _, err := h.Invoke(h.as(op.Person, "ann", "pin"), "approval.always", approval.AlwaysIn{ID: first.ID, Digest: first.Digest,
		Pages: first.PageDigests()}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Invoke(ctx, "thing.run", in); err != nil {
		t.Fatalf("what was answered for good asks again: %v", err)
	}
	why = "it is somebody else's"
	if a := look(h.pending(ctx, "thing.run", in)); a.Always != "" || a.AlwaysInFolder != "" || a.Reason == first.Reason {
		t.Errorf("it is asked for as %+v", a)
	}
	why = ""
	if _, err := h.Invoke(ctx, "thing.run", in); err != nil {
		t.Errorf("what nobody minds asks again: %v", err)
	}
	no = fault.New(fault.Denied, "thing.run", "not here")
	if _, err := h.Invoke(ctx, "thing.run", thingIn{Name: "exposed"}); !fault.Is(err, fault.Denied) {
		t.Errorf("a tool's caution keeps the house's from being asked: %v", err)
	}
}

// letting lets everybody pass whom the policy lets pass.
var letting = Guards{Still: func(context.Context, op.Caller) error { return nil },
	Caution: func(context.Context, op.Caller, *op.Op, any) (string, error) { return "", nil },
	Whose:   func(context.Context, string, op.Resource) []string { return nil }, Kin: policy.NoKin, Past: func(string) bool { return false }}

// A gate that was made without a guard let everything pass that the guard would have been asked about.
func TestAGuardThatWasForgottenRefuses(t *testing.T) {
	h := openAskHouse(t, filepath.Join(t.TempDir(), "a.db"))
	h.rules("")
	for name, guards := range map[string]Guards{"caution": {Still: letting.Still, Kin: letting.Kin},
		"still": {Caution: letting.Caution, Kin: letting.Kin},
		"kin":   {Still: letting.Still, Caution: letting.Caution}} {
		g := New(h.table, h.db, h.journal, h.policies, h.asks, guards, h.log)
		who := h.builder()
		if name == "still" { // asked of those whose right to be here can end
			who = as(op.Session, "ses_1", "")
		}
		if _, err := g.Invoke(who, "thing.write", thingIn{Name: "x"}); !fault.Is(err, fault.Unavailable) {
			t.Errorf("without %s: %v", name, err)
		}
	}
	if n := h.things(); n != 0 {
		t.Errorf("%d things were written", n)
	}
}
