package board

import (
	"slices"
	"time"

	"tandem/internal/fault"
)

// Kind says what an event does to the board.
type Kind string

// The kinds of event.
const (
	KindAdd      Kind = "add"
	KindClaim    Kind = "claim"
	KindUnclaim  Kind = "unclaim"
	KindStart    Kind = "start"
	KindBlock    Kind = "block"
	KindFinish   Kind = "finish"
	KindHandoff  Kind = "handoff"
	KindRenew    Kind = "renew"
	KindDepend   Kind = "depend"
	KindExpire   Kind = "expire"
	KindTakeBack Kind = "take_back"
	KindEdit     Kind = "edit"
	KindReopen   Kind = "reopen"
	KindCancel   Kind = "cancel"
	KindComment  Kind = "comment"
)

// Event is one change asked for: the clear part of an envelope, with who and
// when. A board is what its accepted events made it.
type Event struct {
	Kind   Kind      `json:"kind"`
	Task   TaskID    `json:"task"`
	By     string    `json:"by"`
	At     time.Time `json:"at"`
	Prio   Priority  `json:"priority,omitempty"`
	Needs  []TaskID  `json:"depends_on,omitempty"`
	To     string    `json:"to,omitempty"`         // handoff: the next holder; add: the assignee
	IfVer  int64     `json:"if_version,omitempty"` // refuse when the task has moved on
	Person bool      `json:"person,omitempty"`
	Gone   bool      `json:"gone,omitempty"`
}

// MaxNeeds bounds the dependencies of one task.
const MaxNeeds = 50

// Board is a set of tasks. The service fills it with the tasks that a change
// can touch; a member's daemon fills it with all of them.
type Board map[TaskID]Task

// Apply runs one event. It returns the tasks that changed, the event's own
// first, and changes nothing when it returns an error.
func (b Board) Apply(e Event) ([]Task, error) {
	if err := CheckID(e.Task); err != nil {
		return nil, err
	}
	if e.Kind == KindAdd {
		t, err := b.add(e)
		if err != nil {
			return nil, err
		}
		b[t.ID] = t
		return []Task{t}, nil
	}
	t, ok := b[e.Task]
	if !ok {
		return nil, fault.New(fault.NotFound, "board", "there is no task %s in this space", e.Task).
			WithNext("call intandem_board for the ids of this space")
	}
	if e.IfVer != 0 && e.IfVer != t.Version {
		return nil, fault.New(fault.Conflict, "board", "%s changed meanwhile (version %d, you had %d)", t.ID, t.Version, e.IfVer).
			WithNext("read it again with intandem_board")
	}
	n, err := b.step(t, e)
	if err != nil {
		return nil, err
	}
	b[n.ID] = n
	changed := []Task{n}
	if e.Kind == KindFinish {
		changed = append(changed, b.unblock(n.ID, e.At)...)
	}
	return changed, nil
}

func (b Board) step(t Task, e Event) (Task, error) {
	switch e.Kind {
	case KindClaim:
		return t.Claim(e.By, e.At)
	case KindUnclaim:
		return t.Unclaim(e.By, e.At)
	case KindStart:
		return t.Start(e.By, e.At)
	case KindBlock:
		return t.Block(e.By, e.At)
	case KindFinish:
		return t.Finish(e.By, e.At)
	case KindHandoff:
		return t.Handoff(e.By, e.To, e.At)
	case KindRenew:
		return t.Renew(e.By, e.At)
	case KindExpire:
		return t.Expire(e.At)
	case KindTakeBack:
		return t.TakeBack(e.By, e.Person, e.Gone, e.At)
	case KindDepend:
		return b.depend(t, e)
	case KindEdit:
		return t.Edit(e.By, e.Prio, e.Person, e.At)
	case KindCancel:
		return t.Cancel(e.By, e.Person, e.At)
	case KindComment:
		return t.next(e.At), nil
	case KindReopen:
		return b.reopen(t, e)
	}
	return t, fault.New(fault.Invalid, "board", "%q is nothing a board does", clip(string(e.Kind)))
}

// needs checks a list of dependencies and says whether one of them is not done.
func (b Board) needs(id TaskID, needs []TaskID) (waiting bool, err error) {
	if len(needs) > MaxNeeds {
		return false, fault.New(fault.Invalid, "board", "a task may depend on %d others, not %d", MaxNeeds, len(needs))
	}
	for i, n := range needs {
		if n == id {
			return false, fault.New(fault.Invalid, "board", "%s cannot depend on itself", id)
		}
		if slices.Contains(needs[:i], n) {
			return false, fault.New(fault.Invalid, "board", "%s is named twice as a dependency", n)
		}
		d, ok := b[n]
		if !ok {
			return false, fault.New(fault.NotFound, "board", "there is no task %s to depend on", clip(string(n))).
				WithNext("call intandem_board for the ids, or add that task first (intandem_plan takes both at once)")
		}
		waiting = waiting || d.Status != Done
	}
	return waiting, nil
}

func (b Board) add(e Event) (Task, error) {
	if _, ok := b[e.Task]; ok {
		return Task{}, fault.New(fault.Conflict, "board.add", "there is a task %s already", e.Task).With("taken", string(e.Task))
	}
	if e.Prio.Rank() < 0 {
		return Task{}, fault.New(fault.Invalid, "board.add", "priority %q is not known", clip(string(e.Prio))).
			WithNext("use critical, high, medium or low")
	}
	waiting, err := b.needs(e.Task, e.Needs)
	if err != nil {
		return Task{}, err
	}
	t := Task{ID: e.Task, Status: Open, Prio: e.Prio, Creator: e.By, Holder: e.To, Needs: slices.Clone(e.Needs), Version: 1, Made: e.At,
		Changed: e.At}
	switch {
	case waiting:
		t.Status = Blocked
	case e.To != "":
		t.Status, t.Until = Claimed, e.At.Add(Lease)
	}
	return t, nil
}

// depend replaces a task's dependencies. Its creator may, or its holder.
func (b Board) depend(t Task, e Event) (Task, error) {
	switch {
	case e.By != t.Creator && e.By != t.Holder:
		return t, fault.New(fault.Denied, "board.depend", "only the creator or the holder of %s may change what it depends on", t.ID)
	case t.Status.Ended():
		return t, t.over()
	}
	waiting, err := b.needs(t.ID, e.Needs)
	if err != nil {
		return t, err
	}
	if path := b.cycle(t.ID, e.Needs); path != nil {
		return t, fault.New(fault.Conflict, "board.depend", "that would be a circle: %s", arrow(path)).
			WithNext("leave out one of these dependencies")
	}
	n := t.next(e.At)
	n.Needs = slices.Clone(e.Needs)
	switch {
	case waiting && !t.held():
		n.Status = Blocked
	case waiting:
		return t, fault.New(fault.Conflict, "board.depend", "%s is being worked on; it cannot start waiting for another task", t.ID).
			WithNext("unclaim it first, or mark it blocked with a reason")
	case t.Waiting():
		n = ready(n, e.At)
	}
	return n, nil
}

// reopen lets work on an ended task go on: it is open, or waits for what it depends on.
func (b Board) reopen(t Task, e Event) (Task, error) {
	switch {
	case !t.Status.Ended():
		return t, fault.New(fault.Conflict, "board.reopen", "%s is %s, so there is nothing to open again", t.ID, t.Status)
	case !t.concerns(e.By, e.Person):
		return t, t.notYours()
	}
	waiting, err := b.needs(t.ID, t.Needs)
	if err != nil {
		return t, err
	}
	n := t.release(e.At)
	if waiting {
		n.Status = Blocked
	}
	return n, nil
}

// cycle is a path from id back to itself if needs became its dependencies.
func (b Board) cycle(id TaskID, needs []TaskID) []TaskID {
	seen := map[TaskID]bool{}
	var walk func(at TaskID, path []TaskID) []TaskID
	walk = func(at TaskID, path []TaskID) []TaskID {
		path = append(path, at)
		if at == id {
			return path
		}
		if seen[at] {
			return nil
		}
		seen[at] = true
		for _, n := range b[at].Needs {
			if p := walk(n, path); p != nil {
				return p
			}
		}
		return nil
	}
	for _, n := range needs {
		if p := walk(n, []TaskID{id}); p != nil {
			return slices.Clone(p)
		}
	}
	return nil
}

// unblock opens what waited for done and now waits for nothing, in id order.
func (b Board) unblock(done TaskID, at time.Time) []Task {
	var out []Task
	for _, t := range b {
		if !t.Waiting() || !slices.Contains(t.Needs, done) {
			continue
		}
		if waiting, err := b.needs(t.ID, t.Needs); err != nil || waiting {
			continue
		}
		n := ready(t.next(at), at)
		out = append(out, n)
	}
	slices.SortFunc(out, func(x, y Task) int { return compare(x.ID, y.ID) })
	for _, t := range out {
		b[t.ID] = t
	}
	return out
}

// ready is a task whose last dependency is done: open, or its assignee's.
func ready(t Task, at time.Time) Task {
	t.Status = Open
	if t.Holder != "" {
		t.Status, t.Until = Claimed, at.Add(Lease)
	}
	return t
}

// Expired lists the held tasks whose lease has run out at now, in id order.
func (b Board) Expired(now time.Time) []TaskID {
	var out []TaskID
	for _, t := range b {
		if t.held() && !now.Before(t.Until) {
			out = append(out, t.ID)
		}
	}
	slices.Sort(out)
	return out
}

// Sorted lists the tasks as a board shows them: by priority, then age.
func (b Board) Sorted() []Task {
	out := make([]Task, 0, len(b))
	for _, t := range b {
		out = append(out, t)
	}
	slices.SortFunc(out, func(x, y Task) int {
		if d := x.Prio.Rank() - y.Prio.Rank(); d != 0 {
			return d
		}
		if d := x.Made.Compare(y.Made); d != 0 {
			return d
		}
		return compare(x.ID, y.ID)
	})
	return out
}

func compare(a, b TaskID) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func arrow(path []TaskID) string {
	s := string(path[0])
	for _, p := range path[1:] {
		s += " → " + string(p)
	}
	return s
}
