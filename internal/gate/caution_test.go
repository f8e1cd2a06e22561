package gate

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/op"
)

// What policy allows and somebody asked to be left alone is asked for; one
// approval lets one call pass; a caution that fails refuses.
func TestACautionIsAsked(t *testing.T) {
	h := openAskHouse(t, filepath.Join(t.TempDir(), "a.db"))
	h.rules("") // nothing needs an approval
	h.Caution = func(_ context.Context, c op.Caller, _ *op.Op, in any) (string, error) {
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
	if cautioned, err := h.Cautioned(h.builder(), "thing.write", in); err != nil || !cautioned {
		t.Fatalf("%v %v", cautioned, err)
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
