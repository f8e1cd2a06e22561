package gate

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

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
