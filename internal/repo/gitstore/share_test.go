package gitstore

import (
	"bytes"
	"io"
	"testing"

	"tandem/internal/fault"
)

// Several requests of one caller hold together no more than one may, and give back what they held.
func TestRequestsOfACallerShareTheirRoom(t *testing.T) {
	var share Share
	limits := Limits{Named: 100}
	first, second := &Incoming{Share: &share, limits: limits}, &Incoming{Share: &share, limits: limits}
	if err := first.room(make([]byte, 60)); err != nil {
		t.Fatal(err)
	}
	if err := second.room(make([]byte, 60)); !fault.Is(err, fault.Exhausted) {
		t.Errorf("two of them: %v", err)
	}
	second.Close()
	if err := first.room(make([]byte, 60)); !fault.Is(err, fault.Invalid) {
		t.Errorf("one that is too large by itself: %v", err)
	}
	first.Close()
	third := &Incoming{Share: &share, limits: limits}
	if err := third.room(make([]byte, 100)); err != nil {
		t.Errorf("after both ended: %v", err)
	}
	third.Close()

	share.packed = mostPacked - 10
	if _, err := io.ReadAll(arriving{bytes.NewReader(make([]byte, 20)), third}); !fault.Is(err, fault.Exhausted) {
		t.Errorf("packs: %v", err)
	}
	third.Close()
	if share.named != 0 || share.packed != mostPacked-10 {
		t.Errorf("not given back: %d, %d", share.named, share.packed)
	}
}
