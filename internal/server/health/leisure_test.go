package health

import "testing"

// After two loads of five minutes a server held four times the memory that it has after a start on the same data. It gives back what it
// does not need at the first quiet look, and does not collect over and over afterwards.
func TestMemoryIsGivenBackAfterALoad(t *testing.T) {
	var l leisure
	if l.due(10, 0) {
		t.Error("without a load")
	}
	if l.due(10_000, 1<<30) {
		t.Error("during a load")
	}
	if !l.due(10_010, 0) {
		t.Error("not after it")
	}
	if l.due(10_020, 0) {
		t.Error("again")
	}
	if !l.due(10_021, 1<<30) {
		t.Error("not though much is held, as after a copy")
	}
}
