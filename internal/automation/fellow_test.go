package automation

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tandem/internal/automation/wire"
	"tandem/internal/testenv"
)

// fellows are two servers on one PostgreSQL, with one clock that the test moves. Nothing goes on in them unless the test says so.
func fellows(t *testing.T, at time.Time) (a, b *house, clock *atomic.Int64) {
	clock = &atomic.Int64{}
	clock.Store(at.UnixMicro())
	dsn := testenv.Postgres(t)
	outside := &outside{acted: map[string]int{}}
	make := func() *house {
		h := &house{t: t, file: dsn, outside: outside, now: func() time.Time { return time.UnixMicro(clock.Load()) }}
		h.open(0)
		h.cancel()
		<-h.ended
		t.Cleanup(h.close) // also of what the test opened anew
		h.Shared = true
		return h
	}
	return make(), make(), clock
}

// Two servers on one database that look at the same moment begin one run of it, whichever is first.
func TestTwoServersFireOnce(t *testing.T) {
	begin := time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC)
	a, b, clock := fellows(t, begin)
	stored := do(a, wire.Add, wire.AddIn{Text: fmt.Sprintf(often, "every 80s", "once", "")})
	do(a, wire.On, wire.OnIn{Name: "all", Digest: stored.Latest})
	const moments = 12
	for i := range moments {
		clock.Store(begin.Add(time.Duration(i+1)*80*time.Second + time.Second).UnixMicro())
		var both sync.WaitGroup
		for _, h := range []*house{a, b, a, b} {
			both.Go(func() {
				if err := h.fire(context.Background()); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
	}
	if runs, skipped, rows := b.dealt(); runs != moments || skipped != 0 || rows != moments {
		t.Errorf("%d runs and %d skipped in %d rows", runs, skipped, rows)
	}
	if n := len(do(b, wire.Runs, wire.RunsIn{Name: "all", Limit: 500}).Runs); n != moments {
		t.Errorf("there are %d runs of %d moments", n, moments)
	}
}

// stuck calls nobody before the test lets it.
type stuck struct {
	rooms interface {
		Invoke(context.Context, string, any) (any, error)
	}
	came, goes chan struct{}
}

func (s stuck) Invoke(ctx context.Context, name string, in any) (any, error) {
	close(s.came)
	<-s.goes
	return s.rooms.Invoke(context.WithoutCancel(ctx), name, in)
}

// A step of a server that is gone is the other one's once that does what is due, and no sooner. What the first says later does not count,
// and what it does is done once.
func TestAStepIsTakenOver(t *testing.T) {
	a, b, clock := fellows(t, time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC))
	rooms := stuck{a.Rooms, make(chan struct{}), make(chan struct{})}
	a.Rooms = rooms
	gone := false // its lease, of which package owner knows
	b.Ours = func() bool { return gone }
	id := a.begin("name = \"all\"\n[[node]]\nid = \"mark\"\n[node.operation]\nname = \"mark.send\"\ninput = { text = \"once\" }\n", nil)
	a.must(a.goOn(t.Context(), runKey{"t", id}))
	<-rooms.came
	is := func(when string, h *house, fence int64, sent int) {
		t.Helper()
		steps, err := stepsOf(looking{t.Context(), b.DB}, "t", id)
		if err != nil || len(steps) != 1 {
			t.Fatalf("there are %d steps: %v", len(steps), err)
		}
		if steps[0].owner != h.Owner || steps[0].fence != fence || b.outside.count("send once") != sent {
			t.Errorf("%s it is %s's, fence %d, and was sent %d times", when, steps[0].owner, steps[0].fence, b.outside.count("send once"))
		}
	}
	b.pass(t.Context())
	b.working.Wait()
	is("while its server has its lease", a, 1, 0)
	gone = true
	clock.Add((lease + time.Second).Microseconds())
	b.pass(t.Context())
	b.working.Wait()
	is("after it", b, 2, 1)
	if r := do(b, wire.Trace, wire.RunIn{ID: id}); r.Status != "completed" {
		t.Errorf("the run is %s", r.Status)
	}
	close(rooms.goes)
	a.working.Wait()
	is("after the first one came back", b, 2, 1)
}
