package board

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tandem/internal/fault"
)

var t0 = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func tid(n int) TaskID { return TaskID(fmt.Sprintf("T-%06x", n)) }

func add(n int, by string, needs ...TaskID) Event {
	return Event{Kind: KindAdd, Task: tid(n), By: by, At: t0, Prio: Medium, Needs: needs}
}

func do(k Kind, n int, by string) Event { return Event{Kind: k, Task: tid(n), By: by, At: t0} }

func TestRules(t *testing.T) {
	const none = fault.Kind(255)
	ok := func(e Event) step { return step{e, none} }
	no := func(e Event, k fault.Kind) step { return step{e, k} }
	handoff := do(KindHandoff, 1, "a")
	handoff.To = "b"
	late := func(e Event) Event { e.At = t0.Add(Lease); return e }
	person := do(KindTakeBack, 1, "p")
	person.Person, person.Gone = true, true
	gone := do(KindTakeBack, 1, "c")
	gone.Gone = true
	assigned := add(2, "c", tid(1))
	assigned.To = "b"
	depend := func(n int, by string, needs ...TaskID) Event {
		e := do(KindDepend, n, by)
		e.Needs = needs
		return e
	}
	stale := do(KindClaim, 1, "a")
	stale.IfVer = 9
	for _, tc := range []struct {
		name  string
		steps []step
		want  map[int]Status
	}{
		{"first claim wins", []step{ok(add(1, "c")), ok(do(KindClaim, 1, "a")), no(do(KindClaim, 1, "b"), fault.Conflict)},
			map[int]Status{1: Claimed}},
		{"claiming twice says so", []step{ok(add(1, "c")), ok(do(KindClaim, 1, "a")), no(do(KindClaim, 1, "a"), fault.Conflict)},
			map[int]Status{1: Claimed}},
		{"a missing id is not found", []step{no(do(KindClaim, 9, "a"), fault.NotFound)}, nil},
		{"a bad id is invalid", []step{no(Event{Kind: KindClaim, Task: "x", By: "a", At: t0}, fault.Invalid)}, nil},
		{"a blocked task cannot be claimed", []step{ok(add(1, "c")), ok(add(2, "c", tid(1))), no(do(KindClaim, 2, "a"), fault.Conflict)},
			map[int]Status{2: Blocked}},
		{"a missing dependency is refused", []step{no(add(2, "c", tid(1)), fault.NotFound)}, nil},
		{"unblocks when all are done", []step{ok(add(1, "c")), ok(add(2, "c")), ok(add(3, "c", tid(1), tid(2))),
			ok(do(KindClaim, 1, "a")), ok(do(KindFinish, 1, "a")), no(do(KindClaim, 3, "a"), fault.Conflict),
			ok(do(KindStart, 2, "a")), ok(do(KindFinish, 2, "a")), ok(do(KindClaim, 3, "a"))}, map[int]Status{1: Done, 2: Done, 3: Claimed}},
		{"an assigned task becomes its assignee's", []step{ok(add(1, "c")), ok(assigned), no(do(KindStart, 2, "b"), fault.Conflict),
			ok(do(KindClaim, 1, "a")), ok(do(KindFinish, 1, "a")), no(do(KindClaim, 2, "a"), fault.Conflict), ok(do(KindStart, 2, "b"))},
			map[int]Status{2: InProgress}},
		{"only the holder updates", []step{ok(add(1, "c")), ok(do(KindClaim, 1, "a")), no(do(KindFinish, 1, "b"), fault.Conflict),
			no(do(KindFinish, 1, "c"), fault.Conflict)}, map[int]Status{1: Claimed}},
		{"an open task is not finished unclaimed", []step{ok(add(1, "c")), no(do(KindFinish, 1, "c"), fault.Conflict)}, map[int]Status{1: Open}},
		{"done is final", []step{ok(add(1, "c")), ok(do(KindStart, 1, "a")), ok(do(KindFinish, 1, "a")),
			no(do(KindUnclaim, 1, "a"), fault.Conflict), no(do(KindClaim, 1, "b"), fault.Conflict)}, map[int]Status{1: Done}},
		{"blocked with a reason and back", []step{ok(add(1, "c")), ok(do(KindClaim, 1, "a")), ok(do(KindBlock, 1, "a")),
			no(do(KindClaim, 1, "b"), fault.Conflict), ok(do(KindStart, 1, "a"))}, map[int]Status{1: InProgress}},
		{"handoff", []step{ok(add(1, "c")), ok(do(KindClaim, 1, "a")),
			no(Event{Kind: KindHandoff, Task: tid(1), By: "b", To: "c", At: t0}, fault.Conflict), ok(handoff),
			no(do(KindFinish, 1, "a"), fault.Conflict), ok(do(KindFinish, 1, "b"))}, map[int]Status{1: Done}},
		{"a lease runs out", []step{ok(add(1, "c")), ok(do(KindClaim, 1, "a")), no(do(KindExpire, 1, ""), fault.Conflict),
			ok(late(do(KindExpire, 1, ""))), ok(do(KindClaim, 1, "b"))}, map[int]Status{1: Claimed}},
		{"a renewed lease does not", []step{ok(add(1, "c")), ok(do(KindClaim, 1, "a")), ok(late(do(KindRenew, 1, "a"))),
			no(late(do(KindExpire, 1, "")), fault.Conflict)}, map[int]Status{1: Claimed}},
		{"the creator takes back from the gone", []step{ok(add(1, "c")), ok(do(KindClaim, 1, "a")), no(do(KindTakeBack, 1, "c"), fault.Conflict),
			ok(gone)}, map[int]Status{1: Open}},
		{"a person takes back from the gone", []step{ok(add(1, "c")), ok(do(KindClaim, 1, "a")), ok(person)}, map[int]Status{1: Open}},
		{"another member does not", []step{ok(add(1, "c")), ok(do(KindClaim, 1, "a")),
			no(Event{Kind: KindTakeBack, Task: tid(1), By: "b", Gone: true, At: t0}, fault.Denied)}, map[int]Status{1: Claimed}},
		{"no circles", []step{ok(add(1, "c")), ok(add(2, "c", tid(1))), ok(add(3, "c", tid(2))), no(depend(1, "c", tid(3)), fault.Conflict),
			no(depend(1, "c", tid(1)), fault.Invalid), no(depend(1, "x", tid(3)), fault.Denied)}, map[int]Status{1: Open}},
		{"dropping a dependency opens", []step{ok(add(1, "c")), ok(add(2, "c", tid(1))), ok(depend(2, "c"))}, map[int]Status{2: Open}},
		{"an id is taken once", []step{ok(add(1, "c")), no(add(1, "a"), fault.Conflict)}, nil},
		{"an old version is refused", []step{ok(add(1, "c")), no(stale, fault.Conflict)}, map[int]Status{1: Open}},
		{"its creator, its holder or a person edits", []step{ok(add(1, "c")), ok(do(KindEdit, 1, "c")), no(do(KindEdit, 1, "a"), fault.Denied),
			ok(do(KindClaim, 1, "a")), ok(do(KindEdit, 1, "a")), ok(Event{Kind: KindEdit, Task: tid(1), By: "p", Person: true, At: t0}),
			no(Event{Kind: KindEdit, Task: tid(1), By: "c", Prio: "odd", At: t0}, fault.Invalid)}, map[int]Status{1: Claimed}},
		{"what is cancelled is over, and holds what waits for it", []step{ok(add(1, "c")), ok(add(2, "c", tid(1))),
			no(do(KindCancel, 1, "a"), fault.Denied), ok(do(KindCancel, 1, "c")), no(do(KindClaim, 1, "a"), fault.Conflict),
			no(do(KindCancel, 1, "c"), fault.Conflict), no(do(KindEdit, 1, "c"), fault.Conflict), ok(do(KindComment, 1, "b"))},
			map[int]Status{1: Cancelled, 2: Blocked}},
		{"reopened", []step{ok(add(1, "c")), no(do(KindReopen, 1, "c"), fault.Conflict), ok(do(KindStart, 1, "a")), ok(do(KindFinish, 1, "a")),
			no(do(KindReopen, 1, "b"), fault.Denied), ok(do(KindReopen, 1, "a")), ok(do(KindClaim, 1, "b"))}, map[int]Status{1: Claimed}},
		{"reopened, and waiting again", []step{ok(add(1, "c")), ok(add(2, "c", tid(1))), ok(do(KindCancel, 2, "c")), ok(do(KindReopen, 2, "c"))},
			map[int]Status{2: Blocked}},
		{"an unknown kind is invalid", []step{ok(add(1, "c")), no(do("melt", 1, "a"), fault.Invalid)}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := Board{}
			for i, s := range tc.steps {
				_, err := b.Apply(s.e)
				if s.want == none && err != nil {
					t.Fatalf("step %d (%s): %v", i, s.e.Kind, err)
				}
				if s.want != none && (err == nil || fault.KindOf(err) != s.want) {
					t.Fatalf("step %d (%s): %v, want %s", i, s.e.Kind, err, s.want)
				}
			}
			for n, want := range tc.want {
				if got := b[tid(n)].Status; got != want {
					t.Errorf("%s is %s, want %s", tid(n), got, want)
				}
			}
		})
	}
}

type step struct {
	e    Event
	want fault.Kind
}

// Whatever is asked of a board, it keeps its laws, a refusal changes nothing,
// and playing the accepted events again gives the same board.
func TestBoardIsItsEvents(t *testing.T) {
	kinds := []Kind{KindAdd, KindClaim, KindUnclaim, KindStart, KindBlock, KindFinish, KindHandoff, KindRenew, KindDepend, KindExpire,
		KindTakeBack, KindEdit, KindReopen, KindCancel, KindComment}
	who := []string{"a", "b", "c"}
	rapid.Check(t, func(rt *rapid.T) {
		b, now := Board{}, t0
		var accepted []Event
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 900).Draw(rt, "seconds")) * time.Second)
			e := Event{
				Kind: rapid.SampledFrom(kinds).Draw(rt, "kind"), Task: tid(rapid.IntRange(1, 7).Draw(rt, "task")),
				By: rapid.SampledFrom(who).Draw(rt, "by"), To: rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "to"),
				At: now, Prio: rapid.SampledFrom(priorities).Draw(rt, "priority"), Gone: rapid.Bool().Draw(rt, "gone"),
			}
			for _, n := range rapid.SliceOfNDistinct(rapid.IntRange(1, 7), 0, 3, rapid.ID[int]).Draw(rt, "needs") {
				e.Needs = append(e.Needs, tid(n))
			}
			before := clone(b)
			changed, err := b.Apply(e)
			if err != nil {
				if !reflect.DeepEqual(before, b) {
					rt.Fatalf("a refused %s changed the board", e.Kind)
				}
				continue
			}
			accepted = append(accepted, e)
			for _, c := range changed {
				if c.Version != before[c.ID].Version+1 {
					rt.Fatalf("%s went from version %d to %d", c.ID, before[c.ID].Version, c.Version)
				}
			}
			laws(rt, b)
		}
		again := Board{}
		for _, e := range accepted {
			if _, err := again.Apply(e); err != nil {
				rt.Fatalf("an accepted %s was refused in the replay: %v", e.Kind, err)
			}
		}
		if !reflect.DeepEqual(b, again) {
			rt.Fatalf("replay differs:\n%v\n%v", b, again)
		}
	})
}

func clone(b Board) Board {
	out := Board{}
	for k, v := range b {
		out[k] = v
	}
	return out
}

func laws(rt *rapid.T, b Board) {
	for id, t := range b {
		undone := false
		for _, n := range t.Needs {
			undone = undone || b[n].Status != Done
		}
		if t.Status != Cancelled && t.Waiting() != undone { // what was given up waits for nothing
			rt.Fatalf("%s is %s, but a dependency undone: %v", id, t.Status, undone)
		}
		if t.held() && (t.Holder == "" || t.Until.IsZero()) {
			rt.Fatalf("%s is held without a holder or a lease", id)
		}
		if t.Status == Open && t.Holder != "" {
			rt.Fatalf("%s is open and held by %s", id, t.Holder)
		}
		if p := b.cycle(id, t.Needs); p != nil {
			rt.Fatalf("circle %v", p)
		}
	}
}
