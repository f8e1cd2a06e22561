package host

import "testing"

// A shared lease holds up whoever has none on the file; one who shares in it works on. A lease of one's own elsewhere helps nothing.
func TestWhoASharedLeaseHoldsUp(t *testing.T) {
	shared := func(path string) Lease { return Lease{Path: path, Shared: true} }
	for _, c := range []struct {
		own, other Lease
		held       bool
	}{
		{Lease{Path: "x"}, shared("src"), true}, {shared("src"), shared("src"), false}, {shared("src/a.go"), shared("src"), false},
		{shared("src"), shared("src/a.go"), false}, {shared("src/b.go"), shared("src"), true}, {shared("src"), Lease{Path: "src/a.go"}, true},
	} {
		g := ground{own: []Lease{c.own}, others: []Lease{c.other}}
		if got := g.Match("src/a.go"); got != c.held {
			t.Errorf("mine %+v, theirs %+v: held up %v", c.own, c.other, got)
		}
	}
}
