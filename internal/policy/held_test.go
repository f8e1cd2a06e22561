package policy

import (
	"fmt"
	"runtime"
	"testing"
)

// Each of many grants to the same group copied the list of all before it: a start of a house with 100,000 of them moved tens of gigabytes.
// What is counted are bytes, as they are the same on every machine.
func TestGrantsToOneAreCompiledOneAfterTheOther(t *testing.T) {
	bytes := func(n int) uint64 {
		src := Source{Tenant: "home", Groups: []Group{{Name: "crew", Members: []PrincipalRef{{Person, "ann"}}}}}
		for i := range n {
			g := give(t, fmt.Sprint("g", i), "group:crew", Allow, "folder:/a", "read delegate")
			g.Redelegate = 1
			src.Grants = append(src.Grants, g)
		}
		for i := range n {
			src.Grants = append(src.Grants, passed(t, fmt.Sprint("p", i), fmt.Sprint("g", i), "person:ann", "agent:b", "folder:/a", "read"))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c, err := Compile(src)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		if c.Grants() != 2*n || len(c.Dead()) > 0 {
			t.Fatalf("%d grants, %d dead", c.Grants(), len(c.Dead()))
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	few := bytes(1000)
	if many := bytes(8000); many > 12*few {
		t.Errorf("eight times as many grants take %d bytes, and %d took %d", many, 1000, few)
	}
}
