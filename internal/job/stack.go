package job

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"

	"tandem/internal/fault"
	"tandem/internal/job/wire"
)

// Jobs may stand on each other: one begins with what another one made, which is not merged yet, and is merged after that. Each is looked at
// by itself, as the difference to the one below. The one below tells those above it what becomes of it, in the transaction in which it
// comes about: another commit in review is brought into their workspaces once they are in review themselves.

// Bounds of a stack.
const (
	maxStack = 20 // jobs on top of each other
	maxAbove = 20 // jobs on the same one
)

// The events of a job that stands on another one.
const (
	Raised Kind = "raised" // the one below is another commit by now
	Freed  Kind = "freed"  // the one below is merged
	Sunk   Kind = "sunk"   // the one below was discarded
)

// stacked takes what became of the job below; done is false for events that are not about that.
func (j *Job) stacked(e Event) (done bool) {
	switch e.Kind {
	case Raised:
		if j.Ground = e.Commit; j.Ground == j.Base {
			j.Ground = ""
		}
	case Freed:
		j.Held, j.Ground, j.Onto = false, "", cmp.Or(j.Onto, e.Onto)
	case Sunk:
		switch j.State {
		case wire.Planned:
			j.fail(e.Text)
		case wire.Queued:
			j.look(e.Text)
		case wire.Review:
			j.Reason = e.Text
		}
	default:
		return false
	}
	return true
}

// rises says that the job below is another commit by now, which is to be brought into this one's workspace.
func (j *Job) rises() bool { return j.State == wire.Review && j.Ground != "" && j.Path != "" }

// beneath names what was brought into a job's workspace, for people and agents.
func (j *Job) beneath(tip string) string {
	if j.Ground != "" && tip == j.Ground {
		return "job " + j.On
	}
	return "branch " + j.Onto
}

// carries says that a job can be begun on this one: there is something to look at.
func (j *Job) carries() bool {
	return j.Commit != "" && (j.State == wire.Review || j.State == wire.Queued || j.State == wire.Merged)
}

// discarded says that nothing of a job is left to stand on.
func (j *Job) discarded() bool {
	return j.State == wire.Stopped && (j.Discard || j.Session != "" && j.Path == "")
}

// lifts is what those above a job hear of its move.
func (j *Job) lifts(was *Job) (e Event, moves bool) {
	switch {
	case len(j.Above) == 0:
	case j.State == wire.Merged && was.State != wire.Merged:
		return Event{Kind: Freed, Onto: j.Onto}, true
	case j.discarded() && !was.discarded():
		return Event{Kind: Sunk, Text: fmt.Sprintf("the job %s, which it stands on, was discarded", j.ID)}, true
	case j.State == wire.Review && (was.State != wire.Review || was.Commit != j.Commit):
		return Event{Kind: Raised, Commit: j.Commit}, true
	}
	return e, false
}

// lineUp puts a queue in order: by priority and by who came first, and each job of a stack behind the one that it stands on, which comes as
// soon as the first of those above it would. One that stands on a job that is not queued comes last: it waits.
func lineUp(all []*Job) []*Job {
	in := map[string]*Job{}
	for _, j := range all {
		in[j.ID] = j
	}
	rank := map[string]int64{}
	for _, j := range all {
		for at, up := j, 0; at != nil && up <= maxStack; up++ {
			if have, known := rank[at.ID]; !known || have < j.Priority {
				rank[at.ID] = j.Priority
			}
			if !at.Held {
				break
			}
			at = in[at.On]
		}
	}
	rest := slices.SortedFunc(slices.Values(all), func(a, b *Job) int {
		return cmp.Or(-cmp.Compare(rank[a.ID], rank[b.ID]), a.QueuedAt.Compare(b.QueuedAt), cmp.Compare(a.ID, b.ID))
	})
	var free places // of those in the list that may come next
	above := map[string][]int{}
	for i, j := range rest {
		if j.Held {
			above[j.On] = append(above[j.On], i)
		} else {
			free = append(free, i) // in order, and so a heap
		}
	}
	out := make([]*Job, 0, len(rest))
	for len(free) > 0 {
		j := rest[heap.Pop(&free).(int)]
		out = append(out, j)
		for _, i := range above[j.ID] {
			heap.Push(&free, i)
		}
		delete(above, j.ID)
	}
	for _, j := range rest {
		if j.Held && above[j.On] != nil {
			out = append(out, j)
		}
	}
	return out
}

// places are numbers of which the least comes first.
type places []int

func (p places) Len() int           { return len(p) }
func (p places) Less(i, k int) bool { return p[i] < p[k] }
func (p places) Swap(i, k int)      { p[i], p[k] = p[k], p[i] }
func (p *places) Push(x any)        { *p = append(*p, x.(int)) }
func (p *places) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}

// stands refuses what merges a job while the one below it is not merged.
func (j *Job) stands(operation string) error {
	if !j.Held {
		return nil
	}
	return fault.New(fault.Conflict, operation, "it stands on the job %s, which is not merged yet", j.On).
		WithNext("merge that one first, or queue both: tandem job show %s", j.On)
}
