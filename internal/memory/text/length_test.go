package text

import (
	"math"
	"testing"
)

// A text twice as long as others is worth less for a word that stands in it once, by half of what its length alone would take.
func TestLengthCountsForHalf(t *testing.T) {
	c := Corpus{Texts: 10, Length: 20}
	usual, long := c.Score(1, 1, 20), c.Score(1, 1, 40)
	if want := 2.2 / (1 + 1.2*1.5); usual != 1 || math.Abs(long-want) > 1e-12 {
		t.Errorf("%v, and twice as long %v, not %v", usual, long, want)
	}
}
