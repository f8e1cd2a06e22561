package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"tandem/internal/identity"
	"tandem/internal/identity/assertion"
	"tandem/internal/journal"
	"tandem/internal/testenv"
)

// What nobody signed is counted by its source, as strangers are: it fills no journal, and hides nothing in it. What a key of the house
// signed has an entry of its own, also when the client hangs up. What was counted is written at a stop, too.
func TestRejectionsOfStrangersAreCounted(t *testing.T) {
	w := newWard(t, "")
	type entry struct {
		Reason, From, Key, Assertion string
		Count                        int
	}
	read := func() (own []entry, counted map[string]int) {
		all, err := w.journal.Read(t.Context(), identity.LocalTenant, 0, 1000, journal.Filter{Type: rejectedType})
		w.must(err)
		counted = map[string]int{}
		for _, e := range all {
			var x entry
			w.must(json.Unmarshal(e.Payload, &x))
			if x.Count > 0 {
				counted[x.From+" "+x.Reason] += x.Count
			} else {
				own = append(own, x)
			}
		}
		return own, counted
	}
	came := func(ctx context.Context, from string, why *assertion.Rejected) {
		r := httptest.NewRequest("GET", "/whoami", nil).WithContext(ctx)
		r.RemoteAddr = from
		if w.reject(r, why) == nil {
			t.Error("taken")
		}
	}
	for i := range 100 {
		came(t.Context(), "192.0.2.7:1", &assertion.Rejected{Reason: assertion.KeyUnknown, Text: "no", Key: fmt.Sprint("k-", i)})
	}
	signed := &assertion.Rejected{Reason: assertion.Replayed, Text: "again", Signed: true, Key: "web-1", Claims: assertion.Claims{ID: "a-1"}}
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	came(gone, "192.0.2.8:1", signed)
	if own, _ := read(); len(own) != 1 || own[0].Key != "web-1" || own[0].Assertion != "a-1" || own[0].From != "192.0.2.8" {
		t.Errorf("entries of their own: %v", own)
	}
	w.tellRejected(t.Context())
	testenv.Eventually(t, "a hundred are counted", time.Minute, func() bool { // housekeeping may be at it
		_, counted := read()
		return len(counted) == 1 && counted["192.0.2.7 key_unknown"] == 100
	})
	for i := range rejectedSources + 200 { // a flood of addresses
		came(t.Context(), fmt.Sprintf("198.51.%d.%d:1", i/250, i%250), &assertion.Rejected{Reason: assertion.Malformed, Text: "no"})
	}
	if n := len(w.rejects.left()); n > rejectedSources+2 { // and the others, in two minutes at most
		t.Errorf("%d sources are remembered", n)
	}
	came(t.Context(), "192.0.2.9:1", &assertion.Rejected{Reason: assertion.Malformed, Text: "no"})
	w.again()
	if _, counted := read(); counted["192.0.2.9 malformed"] != 1 {
		t.Errorf("not written at a stop: %v", counted)
	}
}
