package proof

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"tandem/internal/testenv"
)

// load is a crowd of writers that remember what the server acknowledged. Every
// write has an idempotency key, so that one whose answer was lost can be sent
// again without happening twice.
type load struct {
	s *server
	*asking
	mu sync.Mutex
	// by key: the value that was sent
	acked  map[string]string
	unsure map[string]string // sent, and the answer was lost
	first  int               // acknowledged the first time
	adds   int               // acknowledged compare-and-set increments of one counter
	tries  int               // increments whose answer was lost
	count  int
}

// newLoad prepares a running server for the crowd.
func newLoad(s *server) *load {
	return &load{s: s, asking: newAsking(s), acked: map[string]string{}, unsure: map[string]string{}}
}

// run writes with some callers at once until ctx ends.
func (l *load) run(ctx context.Context, callers int) {
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			for ctx.Err() == nil {
				switch i {
				case 0:
					l.increment(ctx)
				case 1:
					l.step(ctx)
				case 2:
					l.mint(ctx)
				default:
					l.create(ctx)
				}
			}
		})
	}
	wg.Wait()
}

// awaitProgress returns once one more write is acknowledged, or the time is up.
func (l *load) awaitProgress(limit time.Duration) {
	count := func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.acked)
	}
	before := count()
	testenv.Within(limit, func() bool { return count() != before })
}

func (l *load) create(ctx context.Context) {
	l.mu.Lock()
	l.count++
	key, value := fmt.Sprintf("crash/%06d", l.count), fmt.Sprintf("v%d", l.count)
	l.unsure[key] = value
	l.mu.Unlock()
	a, err := l.put(ctx, key, value)
	if err != nil {
		select { // the server is down: no use in asking as fast as one can
		case <-ctx.Done():
		case <-time.After(5 * time.Millisecond):
		}
		return
	}
	if a.status/100 == 2 {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.unsure, key)
		l.acked[key] = value
	}
}

func (l *load) put(ctx context.Context, key, value string) (answer, error) {
	a, err := l.s.try(ctx, l.s.token, "PUT", "/resource/"+key, map[string]any{"value": value, "if_absent": true}, "Idempotency-Key",
		"once-"+key)
	if a.status == http.StatusInternalServerError {
		l.s.t.Errorf("%s: %s", key, a)
	}
	return a, err
}

const counter = "/resource/crash-counter"

// increment adds one to the counter by compare-and-set. Only this caller
// changes it, so its value is the number of increments that happened.
func (l *load) increment(ctx context.Context) {
	cur, err := l.s.try(ctx, l.s.token, "GET", counter, nil)
	if err != nil {
		return
	}
	in := map[string]any{"value": 1, "if_absent": true}
	if cur.status == http.StatusOK {
		v := cur.json(l.s.t)
		in = map[string]any{"value": v["value"].(float64) + 1, "if_match_rev": v["rev"]}
	}
	a, err := l.s.try(ctx, l.s.token, "PUT", counter, in)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil && a.status/100 == 2 {
		l.adds++
	} else {
		l.tries++
	}
}

// settle sends again what was left unsure, and checks that every write is
// there, once.
func (l *load) settle(t testing.TB) {
	t.Helper()
	l.first = len(l.acked)
	for _, key := range slices.Sorted(maps.Keys(l.unsure)) {
		a, err := l.put(context.Background(), key, l.unsure[key])
		for try := 0; a.status == http.StatusServiceUnavailable && try < 5; try++ { // a connection that was cut is noticed when it is used
			a, err = l.put(context.Background(), key, l.unsure[key])
		}
		if err != nil || a.status/100 != 2 {
			t.Errorf("%s, sent again with its idempotency key: %s %v", key, a, err)
			continue
		}
		l.acked[key] = l.unsure[key]
		delete(l.unsure, key)
	}
	there := map[string]string{}
	for after := ""; ; {
		page := l.s.as(l.s.token, "GET", "/resource?prefix=crash/&limit=1000&after="+after, nil).json(t)
		items, _ := page["items"].([]any)
		for _, i := range items {
			r := i.(map[string]any)
			after = r["key"].(string)
			there[after] = fmt.Sprint(r["value"])
		}
		if more, _ := page["more"].(bool); !more {
			break
		}
	}
	for key, value := range l.acked {
		if there[key] != value {
			t.Errorf("%s was acknowledged as %q and is %q", key, value, there[key])
		}
	}
	l.asking.settle(t)
	if len(there) != len(l.acked) {
		t.Errorf("%d keys are there, %d were written", len(there), len(l.acked))
	}
	a := l.s.as(l.s.token, "GET", counter, nil)
	if a.status == http.StatusOK {
		if n := int(a.json(t)["value"].(float64)); n < l.adds || n > l.adds+l.tries {
			t.Errorf("the counter is %d after %d acknowledged increments and %d whose answer was lost", n, l.adds, l.tries)
		}
	} else if l.adds > 0 {
		t.Errorf("the counter is gone after %d increments: %s", l.adds, a)
	}
}
