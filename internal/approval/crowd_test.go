package approval

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// Everybody whom nobody knows yet is one asker, so that 200 requests to join from one machine kept everybody else out for a day.
func TestOneSourceShutsNobodyOut(t *testing.T) {
	exam(t, func(b *bench) {
		asked := 0
		from := func(source string, times int) (a *Ask, err error) {
			err = b.db.Write(b.t.Context(), func(tx *db.Tx) (err error) {
				for range times {
					asked++
					c := edit(op.Caller{Tenant: "local", Actor: "act_newcomer", Name: "newcomer", Kind: op.Service, Source: source},
						fmt.Sprint(asked))
					if a, _, err = b.File(tx, c); err != nil {
						return err
					}
				}
				return nil
			})
			return a, err
		}
		must := func(source string, times int) *Ask {
			b.t.Helper()
			a, err := from(source, times)
			if err != nil {
				b.t.Fatal(err)
			}
			return a
		}
		honest := must("192.0.2.1", 1)
		first := must("10.0.0.1", 1)
		must("10.0.0.1", MaxFrom-1)
		if _, err := from("10.0.0.1", 1); !fault.Is(err, fault.Exhausted) {
			b.t.Errorf("more than its share: %v", err)
		}
		must("192.0.2.2", 1)
		b.now.Add(Settles.Microseconds())
		if a := must("10.0.0.1", 1); len(a.Gone) != 1 || a.Gone[0] != first.ID || a.From != "10.0.0.1" {
			b.t.Errorf("after a while %v gave way", a.Gone)
		}
		for i := 2; i <= MaxPending/MaxFrom; i++ { // from many machines
			must(fmt.Sprintf("10.0.0.%d", i), MaxFrom)
		}
		for range 5 {
			if a := must("192.0.2.3", 1); len(a.Gone) != 1 || a.Gone[0] == honest.ID {
				b.t.Errorf("in a full house %v gave way", a.Gone)
			}
		}
		ctx := as(b.t.Context(), person("ann"))
		if a, err := b.get(ctx, IDIn{honest.ID}); err != nil || a.State != Pending {
			b.t.Errorf("the honest one: %+v, %v", a, err)
		}
		if a, err := b.get(ctx, IDIn{first.ID}); err != nil || a.State != Cancelled || a.DecidedBy != Abandoned {
			b.t.Errorf("the one that gave way: %+v, %v", a, err)
		}
		b.now.Add((24 * time.Hour).Microseconds())
		must("10.0.0.1", 1)
	})
}

// An automation is one asker with many runs, each of which may wait at a gate: more than a person's program may ask, and still bounded.
func TestAnAutomationMayWaitWithManyRuns(t *testing.T) {
	b := open(t, filepath.Join(t.TempDir(), "a.db"))
	c := op.Caller{Tenant: "local", Actor: "act_mails", Name: "automation.mails", Kind: op.Service, Door: op.DoorInside}
	file := func(from, to int) error {
		return b.db.Write(t.Context(), func(tx *db.Tx) error {
			for i := from; i < to; i++ {
				if _, _, err := b.File(tx, edit(c, fmt.Sprint(i))); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := file(0, MaxOwn); err != nil {
		t.Fatal(err)
	}
	if err := file(MaxOwn, MaxOwn+1); !fault.Is(err, fault.Exhausted) {
		t.Errorf("one more: %v", err)
	}
	c.Door, c.Actor = op.DoorHTTP, "act_program"
	if err := file(0, MaxPending+1); !fault.Is(err, fault.Exhausted) {
		t.Errorf("a program that comes from outside asks as much: %v", err)
	}
}
