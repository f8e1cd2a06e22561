package journal

import (
	"fmt"
	"slices"
	"testing"
)

// Approvals that were spent are forgotten by the half, the oldest first. What lasts is not, and a kind is found without the others.
func TestWhatPassesIsForgottenAndWhatLastsIsNot(t *testing.T) {
	w := words{}
	yes := Digest("yes")
	w.put(place{"a", "denial:1"}, stood{1, yes})
	w.put(place{"a", "denial:2"}, stood{2, nothing})
	w.put(place{"b", "denial:3"}, stood{3, yes})
	for i := range maxPassing - 1 {
		w.put(place{"a", fmt.Sprint(passing[0], ":", i)}, stood{int64(10 + i), yes})
	}
	w.forget()
	if n := len(w.stand("a", passing[0])); n != maxPassing-1 {
		t.Errorf("%d are left below the bound", n)
	}
	w.put(place{"a", passing[0] + ":last"}, stood{1 << 40, yes})
	w.forget()
	if n := len(w.stand("a", passing[0])); n != maxPassing/2 {
		t.Errorf("%d are left of %d", n, maxPassing)
	}
	if _, ok := w.at(place{"a", passing[0] + ":0"}); ok {
		t.Error("the oldest is there")
	}
	if _, ok := w.at(place{"a", passing[0] + ":last"}); !ok {
		t.Error("the newest is gone")
	}
	if got := w.stand("a", "denial"); !slices.Equal(got, []string{"denial:1"}) {
		t.Errorf("of a there stand %q", got)
	}
}
