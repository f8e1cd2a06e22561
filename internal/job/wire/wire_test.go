package wire

import "testing"

// A check that has not run yet is something else than none.
func TestWhatIsKnownByACheck(t *testing.T) {
	for want, j := range map[string]Job{"unchecked": {Verdict: Unchecked}, "not checked yet": {Check: "true", Verdict: Unchecked},
		"green": {Check: "true", Verdict: Green}, "red": {Check: "true", Verdict: Red}} {
		if got := j.Known(); got != want {
			t.Errorf("%+v: %s", j, got)
		}
	}
}
