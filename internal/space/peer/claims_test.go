package peer

import (
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"tandem/internal/fault"
)

type claimIn struct {
	task, who, verb string
}

// One task is a register that one member at a time holds.
var claimModel = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		by := map[string][]porcupine.Operation{}
		for _, o := range history {
			k := o.Input.(claimIn).task
			by[k] = append(by[k], o)
		}
		var out [][]porcupine.Operation
		for _, p := range by {
			out = append(out, p)
		}
		return out
	},
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		holder, in, ok := state.(string), input.(claimIn), output.(bool)
		if in.verb == "claim" {
			if ok {
				return holder == "", in.who
			}
			return holder != "", holder
		}
		if ok {
			return holder == in.who, ""
		}
		return holder != in.who, holder
	},
}

// Members claim and release the same tasks at once; what they were told is what
// some order of one at a time would have told them.
func TestClaimsAreLinearizable(t *testing.T) {
	h := newHouse(t)
	names := []string{"ann", "bob", "cy", "dan"}
	seated(h, names...)
	var tasks []string
	for range 3 {
		tasks = append(tasks, do[Tasked](h, "ann", "board.add", AddIn{Title: "contended"}).ID)
	}
	var mu sync.Mutex
	var history []porcupine.Operation
	var all sync.WaitGroup
	begin := time.Now()
	for client, who := range names {
		all.Go(func() {
			for i := range 12 {
				in := claimIn{tasks[(i+client)%len(tasks)], who, []string{"claim", "unclaim"}[i%2]}
				if in.verb == "unclaim" {
					in.task = tasks[(i-1+client)%len(tasks)]
				}
				call := time.Since(begin).Nanoseconds()
				_, err := h.gate.Invoke(h.as(who), "board."+in.verb, TaskIn{TaskID: in.task})
				end := time.Since(begin).Nanoseconds()
				if err != nil && !fault.Is(err, fault.Conflict) {
					t.Errorf("%s %s: %v", who, in.verb, err)
				}
				mu.Lock()
				history = append(history, porcupine.Operation{ClientId: client, Input: in, Call: call, Output: err == nil, Return: end})
				mu.Unlock()
			}
		})
	}
	all.Wait()
	won := 0
	for _, o := range history {
		if o.Output.(bool) {
			won++
		}
	}
	if won == 0 || won == len(history) {
		t.Fatalf("%d of %d calls succeeded: nothing was contended", won, len(history))
	}
	if !porcupine.CheckOperations(claimModel, history) {
		t.Fatal("the claims are not linearizable")
	}
	t.Logf("%d calls, %d succeeded", len(history), won)
}
