package automation

import (
	"fmt"
	"testing"
	"time"
)

// A stranger who tries keys without end keeps out nobody who comes from elsewhere, and nobody whose key was right before.
func TestAFloodOfWrongKeysKeepsNobodyOut(t *testing.T) {
	d, now := newDoor(), time.Unix(1_700_000_000, 0)
	d.right("used")
	looked := 0
	for i := range 5000 {
		if hash := fmt.Sprint(i); d.lookFor(hash, "there", now) {
			looked++
			d.wrong(hash, "there", now)
		}
	}
	if looked != 200 {
		t.Errorf("%d keys were looked for", looked)
	}
	if !d.lookFor("used", "there", now) || !d.lookFor("new", "elsewhere", now) {
		t.Error("a sender is kept out")
	}
	if d.lookFor("new", "there", now) || !d.lookFor("new", "there", now.Add(time.Second)) {
		t.Error("keys that nobody used are looked for again in a while")
	}
}
