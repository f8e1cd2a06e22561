package peer

import "testing"

// Who asked for 500 messages got 20: what is beyond the bound is the bound, and not what nobody asked for.
func TestAListIsAsLongAsWasAskedFor(t *testing.T) {
	for asked, want := range map[int]int{-1: 20, 0: 20, 1: 1, 50: 50, 200: 200, 500: 200} {
		if got := atMost(asked, 20, 200); got != want {
			t.Errorf("asked for %d it shows %d, not %d", asked, got, want)
		}
	}
}
