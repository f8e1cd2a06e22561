package daemon

import (
	"sync/atomic"
	"testing"
	"time"
)

// A sign-in link that nobody used ran out, and audit verify said that its row had been taken away. What is past its end is not
// missing, whether its row waits to be swept or was.
func TestWhatRanOutIsNotMissing(t *testing.T) {
	var by atomic.Int64
	moved = func() time.Time { return time.Now().Add(time.Duration(by.Load())) }
	t.Cleanup(func() { moved = nil })
	w := newWard(t, "")
	sound := func(when string) {
		w.t.Helper()
		if said := w.finds(); said != "" {
			w.t.Errorf("%s: %s", when, said)
		}
	}
	signins := func(want int) {
		w.t.Helper()
		var n int
		w.must(w.db.QueryRow(w.t.Context(), "SELECT count(*) FROM signin").Scan(&n))
		if n != want {
			w.t.Errorf("%d rows of sign-ins, not %d", n, want)
		}
	}
	w.must(w.Call(w.t.Context(), "signin.link", nil, nil))
	w.must(w.Call(w.t.Context(), "signin.link", nil, nil))
	w.present("token.new", map[string]any{"actor": "api", "expires_in_secs": 60}, nil)
	sound("before their end")
	by.Store(int64(48 * time.Hour))
	w.again()
	signins(2)
	sound("after their end")
	w.must(w.Call(w.t.Context(), "signin.link", nil, nil))
	signins(1)
	sound("after the sweep")
	w.again()
	sound("at the next start")

	by.Add(int64(48 * time.Hour))
	w.again()
	w.sql("UPDATE signin SET actor = 'act_local'")
	w.told("says something else")
}
