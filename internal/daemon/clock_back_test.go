package daemon

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/server/health"
	"tandem/internal/testenv"
)

// setting is a clock that a test sets, by nanoseconds.
func setting(t *testing.T) *atomic.Int64 {
	var by atomic.Int64
	moved = func() time.Time { return time.Now().Add(time.Duration(by.Load())) }
	t.Cleanup(func() { moved = nil })
	return &by
}

// tells waits until the journal has told of the clock so often: at once, and not at the next turn of the housekeeping.
func (k *kept) tells(want int) {
	k.t.Helper()
	testenv.Eventually(k.t, "the journal tells of the clock", time.Minute, func() bool {
		var told int
		err := k.d.db.QueryRow(k.t.Context(), "SELECT count(*) FROM journal_event WHERE type = 'server.clock'").Scan(&told)
		return err == nil && told == want
	})
}

// A clock goes back while the server runs, and stays there: after a while it is taken as right, and what had ended before does not live
// again.
func TestAClockThatWentBackIsTakenAsRight(t *testing.T) {
	by := setting(t)
	k := keptAt(t, "")
	k.must("resource.put", obj{"key": "lock/deploy", "value": 1, "if_absent": true, "own": true, "ttl_ms": 1})
	k.must("actor.add", obj{"name": "builder", "kind": "agent"})
	header := map[string]string{"Authorization": "Bearer " +
		k.must("token.new", obj{"actor": "builder", "expires_in_secs": 3600}).(identity.MintOut).Secret}
	token := func(want int) {
		t.Helper()
		if status, _ := send(t, http.MethodGet, "http://"+k.d.listens[0]+"/status", nil, header); status != want {
			t.Errorf("the token: %d, and not %d", status, want)
		}
	}
	ended := func() {
		t.Helper()
		if _, err := k.do("resource.get", obj{"key": "lock/deploy"}); !fault.Is(err, fault.NotFound) {
			t.Errorf("the lock: %v", err)
		}
	}
	token(http.StatusOK)
	testenv.Eventually(t, "the lock ends", time.Minute, func() bool {
		_, err := k.do("resource.get", obj{"key": "lock/deploy"})
		return fault.Is(err, fault.NotFound)
	})
	by.Store(int64(48 * time.Hour)) // ahead: refused, and nothing of it is written
	k.ready(http.StatusServiceUnavailable, "")
	k.tells(1)
	token(http.StatusUnauthorized)
	by.Store(int64(-48 * time.Hour))
	k.ready(http.StatusServiceUnavailable, "")
	k.d.health.Alarm()
	k.tells(2)
	ended()
	token(http.StatusOK)
	k.d.health.SetAt(time.Now().Add(-health.Believed))
	k.d.health.Alarm()
	k.tells(3)
	k.ready(http.StatusOK, "")
	ended()
	var told string
	err := k.d.db.QueryRow(t.Context(), "SELECT payload FROM journal_event WHERE type = 'server.clock' ORDER BY seq DESC LIMIT 1").Scan(&told)
	if err != nil || !strings.Contains(told, "set back") {
		t.Errorf("the journal tells %s, %v", told, err)
	}
}

// The time that was told is kept every half minute. A machine that lost its power in between, and whose clock then began years ago, gave a
// lock back that had been refused as ended.
func TestWhatEndedBeforeAPowerLossStaysSo(t *testing.T) {
	by := setting(t)
	k := keptAt(t, "")
	k.must("resource.put", obj{"key": "lock/deploy", "value": 1, "if_absent": true, "own": true, "ttl_ms": 20_000})
	if err := k.d.health.Keep(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen := k.d.db.Now()
	by.Store(int64(25 * time.Second))
	if _, err := k.do("resource.get", obj{"key": "lock/deploy"}); !fault.Is(err, fault.NotFound) {
		t.Fatalf("it has not ended: %v", err)
	}
	if err := k.stop(); err != nil {
		t.Fatal(err)
	}
	d, err := db.Open(t.Context(), k.settings.Get("data")+"/tandem.db", nil)
	if err != nil {
		t.Fatal(err)
	}
	// What the disk has when the power goes, and not what an orderly end writes.
	typed(t, d, fmt.Sprintf("UPDATE installation_clock SET seen_at = %d", db.Micros(seen)))
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	by.Store(int64(-365 * 24 * time.Hour))
	k.start()
	if _, err := k.do("resource.get", obj{"key": "lock/deploy"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("the lock lives again: %v", err)
	}
}

// A clock that went back is told once. Servers that start again and again add nothing to it: what was made since goes on.
func TestStartsAfterAClockWentBackEndNothing(t *testing.T) {
	for _, back := range []time.Duration{-time.Second, -48 * time.Hour} {
		t.Run(back.String(), func(t *testing.T) {
			by := setting(t)
			k := keptAt(t, "")
			again := func() {
				t.Helper()
				if err := k.stop(); err != nil {
					t.Fatal(err)
				}
				k.start()
			}
			by.Store(int64(back))
			again()
			k.must("resource.put", obj{"key": "lock/deploy", "value": 1, "if_absent": true, "own": true, "ttl_ms": 90_000})
			for range 3 {
				again()
			}
			if _, err := k.do("resource.get", obj{"key": "lock/deploy"}); err != nil {
				t.Errorf("the lock that was made since: %v", err)
			}
		})
	}
}
