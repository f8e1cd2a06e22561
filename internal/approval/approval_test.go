package approval

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/testenv"
)

// bench is a room on one database, with a clock that the test moves.
type bench struct {
	*Room
	t   *testing.T
	now atomic.Int64
}

func exam(t *testing.T, test func(b *bench)) {
	t.Run("sqlite", func(t *testing.T) { test(open(t, filepath.Join(t.TempDir(), "a.db"))) })
	t.Run("postgres", func(t *testing.T) { test(open(t, testenv.Postgres(t))) })
}

func open(t *testing.T, dsn string) *bench {
	t.Helper()
	b := &bench{t: t}
	b.now.Store(noon.UnixMicro())
	d, err := db.Open(t.Context(), dsn, func() time.Time { return time.UnixMicro(b.now.Load()) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if _, err := d.Migrate(t.Context(), Migrations); err != nil {
		t.Fatal(err)
	}
	b.Room = New(d, ByName)
	return b
}

func as(ctx context.Context, c op.Caller) context.Context {
	return op.WithMay(op.WithCaller(ctx, c), func(string, op.Resource) bool { return true })
}

func edit(c op.Caller, text string) Call {
	return Call{Caller: c, Op: "file.edit", Resource: "folder:/a", Digest: "digest of " + text,
		Input:  json.RawMessage(`{"text":"` + text + `"}`),
		Reason: "changing files needs an approval", By: "grant:g", Approvers: []string{"person:*"}}
}

func (b *bench) file(c Call) (a *Ask, fresh bool) {
	b.t.Helper()
	err := b.db.Write(b.t.Context(), func(tx *db.Tx) (err error) { a, fresh, err = b.File(tx, c); return err })
	if err != nil {
		b.t.Fatal(err)
	}
	return a, fresh
}

func (b *bench) answer(who op.Caller, in DecideIn) (a *Ask, err error) {
	err = b.db.Write(b.t.Context(), func(tx *db.Tx) (err error) { a, err = b.decide(as(b.t.Context(), who), tx, in); return err })
	return a, err
}

func (b *bench) spend(c Call) (a *Ask, ok bool) {
	b.t.Helper()
	err := b.db.Write(b.t.Context(), func(tx *db.Tx) (err error) {
		a, ok, err = b.Spend(tx, c.Caller.Tenant, c.Caller.Actor, c.Digest)
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return a, ok
}

func (b *bench) overdue() []string {
	b.t.Helper()
	var out ExpireOut
	err := b.db.Write(b.t.Context(), func(tx *db.Tx) (err error) {
		out, err = b.expire(as(b.t.Context(), person("ann")), tx, struct{}{})
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return out.Expired
}

func (b *bench) inbox(who op.Caller, state string) []string {
	b.t.Helper()
	out, err := b.list(as(b.t.Context(), who), ListIn{State: state})
	if err != nil {
		b.t.Fatal(err)
	}
	ids := []string{}
	for _, a := range out.Asks {
		ids = append(ids, a.ID)
	}
	return ids
}

func TestTheLifeOfAnAsk(t *testing.T) {
	exam(t, func(b *bench) {
		call := edit(agent("builder"), "x")
		a, fresh := b.file(call)
		again, fresh2 := b.file(call)
		if !fresh || fresh2 || again.ID != a.ID {
			t.Fatalf("the same call found %s, then %s", a.ID, again.ID)
		}
		if other, _ := b.file(edit(agent("builder"), "y")); other.ID == a.ID {
			t.Fatal("another call found the ask")
		}
		if other, _ := b.file(edit(agent("reviewer"), "x")); other.ID == a.ID {
			t.Fatal("another asker found the ask")
		}
		if _, ok := b.spend(call); ok {
			t.Fatal("a pending ask is spent")
		}
		if _, err := b.answer(agent("reviewer"), DecideIn{ID: a.ID, Verdict: Approve, Digest: a.Digest, Pages: a.PageDigests()}); !fault.Is(err,
			fault.Denied) {
			t.Fatalf("an agent answers: %v", err)
		}
		if got, err := b.answer(person("ann"), DecideIn{ID: a.ID, Verdict: Approve, Digest: a.Digest, Pages: a.PageDigests()}); err != nil ||
			got.State != Approved {
			t.Fatalf("%+v %v", got, err)
		}
		if _, err := b.answer(person("bob"), DecideIn{ID: a.ID, Verdict: Cancel}); !fault.Is(err, fault.Conflict) ||
			!strings.Contains(err.Error(), "ann") {
			t.Fatalf("answered twice: %v", err)
		}
		if again, fresh := b.file(call); fresh || again.State != Approved {
			t.Fatalf("the approved ask is not found: %+v", again)
		}
		if got, ok := b.spend(call); !ok || got.ID != a.ID {
			t.Fatalf("the approval cannot be spent: %+v", got)
		}
		if _, ok := b.spend(call); ok {
			t.Fatal("spent twice")
		}
		if next, fresh := b.file(call); !fresh || next.ID == a.ID {
			t.Fatal("a spent approval answers for the next call")
		}
	})
}

func TestNoIsRemembered(t *testing.T) {
	exam(t, func(b *bench) {
		call := edit(agent("builder"), "x")
		a, _ := b.file(call)
		if _, err := b.answer(person("ann"), DecideIn{ID: a.ID, Verdict: SendBack, Feedback: "use a flag"}); err != nil {
			t.Fatal(err)
		}
		again, fresh := b.file(call)
		if fresh || again.State != Rework || !strings.Contains(again.Answer().Msg, "use a flag") {
			t.Fatalf("the same call after rework: %+v", again)
		}
		b.now.Add((Patience + time.Second).Microseconds())
		if next, fresh := b.file(call); !fresh || next.ID == a.ID {
			t.Fatal("the answer never ends")
		}
		if got := b.inbox(person("ann"), "rework"); len(got) != 1 {
			t.Errorf("the old answer is gone: %v", got)
		}
	})
}

func TestExpiry(t *testing.T) {
	exam(t, func(b *bench) {
		call := edit(agent("builder"), "x")
		a, _ := b.file(call)
		b.now.Add(Patience.Microseconds())
		if _, err := b.answer(person("ann"), DecideIn{ID: a.ID, Verdict: Approve, Digest: a.Digest, Pages: a.PageDigests()}); !fault.Is(err,
			fault.Conflict) {
			t.Fatalf("an expired ask is answered: %v", err)
		}
		if got := b.inbox(person("ann"), ""); len(got) != 0 {
			t.Errorf("the inbox shows what expired: %v", got)
		}
		if got := b.inbox(person("ann"), "expired"); len(got) != 1 {
			t.Errorf("expired: %v", got)
		}
		if due, err := b.Due(op.WithCaller(t.Context(), op.Caller{Tenant: a.Tenant})); err != nil || !due {
			t.Errorf("nobody would write it down: %v", err)
		}
		if got := b.overdue(); len(got) != 1 || got[0] != a.ID {
			t.Errorf("written down: %v", got)
		}
		if got := b.overdue(); len(got) != 0 {
			t.Errorf("written down twice: %v", got)
		}
		next, fresh := b.file(call)
		if !fresh {
			t.Fatal("an expired ask answers for the call")
		}
		if _, err := b.answer(person("ann"), DecideIn{ID: next.ID, Verdict: Approve, Digest: next.Digest,
			Pages: next.PageDigests()}); err != nil {
			t.Fatal(err)
		}
		b.now.Add(ShelfLife.Microseconds())
		if _, ok := b.spend(call); ok {
			t.Fatal("an approval is spent after its time")
		}
	})
}

func TestInboxIsCompleteOrderedAndMasked(t *testing.T) {
	exam(t, func(b *bench) {
		const n = 30
		var want, mine []string
		for i := range n {
			who := agent([]string{"builder", "reviewer"}[i%2])
			a, _ := b.file(edit(who, fmt.Sprint(i)))
			want = append(want, a.ID)
			if i%2 == 0 {
				mine = append(mine, a.ID)
			}
		}
		session := op.Caller{Tenant: "local", Actor: "act_s1", Name: "s1", Kind: op.Session, For: []string{"agent:builder", "person:ann"}}
		a, _ := b.file(edit(session, "s"))
		want, mine = append(want, a.ID), append(mine, a.ID)
		if got := b.inbox(person("ann"), ""); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("the inbox is %v, not %v", got, want)
		}
		if got := b.inbox(agent("builder"), ""); strings.Join(got, " ") != strings.Join(mine, " ") {
			t.Errorf("builder sees %v, not %v", got, mine)
		}
		if _, err := b.get(as(t.Context(), agent("builder")), IDIn{want[1]}); !fault.Is(err, fault.NotFound) {
			t.Errorf("builder reads reviewer's ask: %v", err)
		}
		stranger := person("ann")
		stranger.Tenant = "other"
		if got := b.inbox(stranger, "all"); len(got) != 0 {
			t.Errorf("another tenant sees %v", got)
		}
		if _, err := b.answer(stranger, DecideIn{ID: want[0], Verdict: Approve}); !fault.Is(err, fault.NotFound) {
			t.Errorf("another tenant answers: %v", err)
		}
		var paged []string
		for after := ""; ; {
			out, err := b.list(as(t.Context(), person("ann")), ListIn{After: after, Limit: 7})
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range out.Asks {
				paged, after = append(paged, a.ID), a.ID
			}
			if !out.More {
				break
			}
		}
		if strings.Join(paged, " ") != strings.Join(want, " ") {
			t.Errorf("page by page it is %v", paged)
		}
		if _, err := b.list(as(t.Context(), person("ann")), ListIn{State: "lost"}); !fault.Is(err, fault.Invalid) {
			t.Errorf("an unknown state: %v", err)
		}
	})
}

// Sixteen answers and sixteen calls at once: one answer counts, one call passes, one ask is made.
func TestOnceUnderContention(t *testing.T) {
	exam(t, func(b *bench) {
		for round := range 3 {
			call := edit(agent("builder"), fmt.Sprintf("round %d", round))
			const many = 16
			var made, answered, spent atomic.Int32
			ids := make([]string, many)
			together(many, func(i int) {
				a, fresh := b.file(call)
				ids[i] = a.ID
				if fresh {
					made.Add(1)
				}
			})
			for _, id := range ids {
				if id != ids[0] {
					t.Fatalf("the same call made several asks: %v", ids)
				}
			}
			seen, err := b.get(as(t.Context(), person("ann")), IDIn{ids[0]})
			if err != nil {
				t.Fatal(err)
			}
			together(many, func(i int) {
				_, err := b.answer(person(fmt.Sprintf("p%d", i)),
					DecideIn{ID: ids[0], Verdict: Approve, Digest: call.Digest, Pages: seen.PageDigests()})
				if err == nil {
					answered.Add(1)
				} else if !fault.Is(err, fault.Conflict) {
					t.Errorf("a late answer: %v", err)
				}
			})
			together(many, func(int) {
				if _, ok := b.spend(call); ok {
					spent.Add(1)
				}
			})
			if made.Load() != 1 || answered.Load() != 1 || spent.Load() != 1 {
				t.Fatalf("made %d, answered %d, spent %d times", made.Load(), answered.Load(), spent.Load())
			}
		}
	})
}

func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

func TestWait(t *testing.T) {
	exam(t, func(b *bench) {
		call := edit(agent("builder"), "x")
		a, _ := b.file(call)
		ctx := as(t.Context(), agent("builder"))
		heard := make(chan WaitOut, 1)
		go func() {
			out, err := b.wait(ctx, WaitIn{ID: a.ID, Timeout: 20})
			if err != nil {
				t.Error(err)
			}
			heard <- out
		}()
		if _, err := b.answer(person("ann"), DecideIn{ID: a.ID, Verdict: SendBack, Feedback: "no"}); err != nil {
			t.Fatal(err)
		}
		if out := <-heard; !out.Answered || out.State != Rework || out.Feedback != "no" {
			t.Errorf("heard %+v", out)
		}
		cut, cancel := context.WithCancel(ctx)
		cancel()
		other, _ := b.file(edit(agent("builder"), "y"))
		if _, err := b.wait(cut, WaitIn{ID: other.ID}); err == nil {
			t.Error("a wait that was cut off says nothing")
		}
		if _, err := b.wait(ctx, WaitIn{ID: other.ID, Timeout: 301}); !fault.Is(err, fault.Invalid) {
			t.Errorf("an endless wait: %v", err)
		}
		if _, err := b.wait(ctx, WaitIn{ID: "nonsense"}); !fault.Is(err, fault.Invalid) {
			t.Errorf("nonsense: %v", err)
		}
	})
}

func TestNobodyDrownsTheInbox(t *testing.T) {
	b := open(t, filepath.Join(t.TempDir(), "a.db"))
	for i := range MaxPending {
		b.file(edit(agent("builder"), fmt.Sprint(i)))
	}
	err := b.db.Write(t.Context(), func(tx *db.Tx) error { _, _, err := b.File(tx, edit(agent("builder"), "one more")); return err })
	if !fault.Is(err, fault.Exhausted) {
		t.Errorf("one more: %v", err)
	}
	b.file(edit(agent("builder"), "0")) // what waits already is found
	b.file(edit(agent("reviewer"), "other"))
}
