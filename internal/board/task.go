package board

import (
	"regexp"
	"slices"
	"time"

	"tandem/internal/fault"
)

// TaskID names a task: "T-" and six hexadecimal digits.
type TaskID string

var taskForm = regexp.MustCompile(`^T-[0-9a-f]{6}$`)

// CheckID reports whether s is shaped like a task id.
func CheckID(s TaskID) error {
	if taskForm.MatchString(string(s)) {
		return nil
	}
	return fault.New(fault.Invalid, "board", "%q is not a task id: it should look like T-a1b2c3", clip(string(s))).
		WithNext("call intandem_board for the ids of this space")
}

func clip(s string) string { return fault.Clip(s, 40) }

// Status is where a task stands.
type Status string

// The states. A task is blocked when a dependency is not done, or when its
// holder says so.
const (
	Open       Status = "open"
	Blocked    Status = "blocked"
	Claimed    Status = "claimed"
	InProgress Status = "in_progress"
	Done       Status = "done"
	Cancelled  Status = "cancelled"
)

// Ended reports whether nothing is left to do.
func (s Status) Ended() bool { return s == Done || s == Cancelled }

// Priority orders the board.
type Priority string

// The four priorities.
const (
	Critical Priority = "critical"
	High     Priority = "high"
	Medium   Priority = "medium"
	Low      Priority = "low"
)

var priorities = []Priority{Critical, High, Medium, Low}

// Rank is 0 for critical up to 3 for low.
func (p Priority) Rank() int { return slices.Index(priorities, p) }

// ParsePriority reads a priority; empty means medium.
func ParsePriority(s string) (Priority, error) {
	if s == "" {
		return Medium, nil
	}
	if Priority(s).Rank() < 0 {
		return "", fault.New(fault.Invalid, "board", "priority %q is not known", clip(s)).WithNext("use critical, high, medium or low")
	}
	return Priority(s), nil
}

// Lease is how long a claim lasts without a sign of life. The holder's daemon
// renews it while the holder is there.
const Lease = 15 * time.Minute

// Task is the part of a task that the host referees by. Its words are sealed
// and live beside it.
type Task struct {
	ID      TaskID    `json:"id"`
	Status  Status    `json:"status"`
	Prio    Priority  `json:"priority"`
	Creator string    `json:"creator"`
	Holder  string    `json:"holder,omitempty"` // who has it, or is to have it once unblocked
	Needs   []TaskID  `json:"depends_on,omitempty"`
	Stuck   bool      `json:"stuck,omitempty"` // blocked by its holder's word, not by a dependency
	Until   time.Time `json:"lease_until,omitzero"`
	Version int64     `json:"version"`
	Made    time.Time `json:"created_at"`
	Changed time.Time `json:"updated_at"`
}

func (t Task) held() bool { return t.Status == Claimed || t.Status == InProgress || t.Stuck }

// Waiting reports whether a dependency keeps the task from being claimed.
func (t Task) Waiting() bool { return t.Status == Blocked && !t.Stuck }

func (t Task) next(now time.Time) Task {
	t.Needs = slices.Clone(t.Needs)
	t.Version++
	t.Changed = now
	return t
}

func (t Task) heldByOther() error {
	return fault.New(fault.Conflict, "board", "%s is held by %s", t.ID, t.Holder).
		With("holder", t.Holder).
		WithNext("pick another task, or ask the holder for a handoff with intandem_send type=handoff")
}

// over refuses what is too late for a task that has ended.
func (t Task) over() error {
	return fault.New(fault.Conflict, "board", "%s is %s already", t.ID, t.Status).
		WithNext("see intandem_board for open tasks; if there is more to do, reopen it: intandem_reopen_task task_id=%s", t.ID)
}

// concerns says whether somebody may change the task itself: who made it, who holds it, and any person.
func (t Task) concerns(by string, person bool) bool {
	return person || by == t.Creator || by == t.Holder
}

func (t Task) notYours() error {
	return fault.New(fault.Denied, "board", "only the creator or the holder of %s, or a person, may do that", t.ID).
		WithNext("say what you think of it: intandem_comment_task task_id=%s", t.ID)
}

func (t Task) mine(by string) error {
	switch {
	case t.Status.Ended():
		return t.over()
	case t.Waiting():
		return fault.New(fault.Conflict, "board", "%s is blocked: its dependencies are not done", t.ID).
			WithNext("finish what it depends on first; it opens by itself")
	case !t.held():
		return fault.New(fault.Conflict, "board", "%s is not claimed by anybody", t.ID).WithNext("claim it first: intandem_claim_task task_id=%s",
			t.ID)
	case t.Holder != by:
		return t.heldByOther()
	}
	return nil
}

// Claim gives an open task to by.
func (t Task) Claim(by string, now time.Time) (Task, error) {
	switch {
	case t.Status.Ended():
		return t, t.over()
	case t.Waiting():
		return t, fault.New(fault.Conflict, "board", "%s is blocked: its dependencies are not done", t.ID).
			WithNext("claim one of the tasks it depends on, or wait: it opens by itself")
	case t.held():
		if t.Holder == by {
			return t, fault.New(fault.Conflict, "board", "%s is yours already", t.ID).WithNext("report progress with intandem_update_task")
		}
		return t, t.heldByOther()
	}
	n := t.next(now)
	n.Status, n.Holder, n.Until = Claimed, by, now.Add(Lease)
	return n, nil
}

// Unclaim puts a held task back.
func (t Task) Unclaim(by string, now time.Time) (Task, error) {
	if err := t.mine(by); err != nil {
		return t, err
	}
	return t.release(now), nil
}

func (t Task) release(now time.Time) Task {
	n := t.next(now)
	n.Status, n.Holder, n.Stuck, n.Until = Open, "", false, time.Time{}
	return n
}

// Start marks the work as going on; an open task is claimed on the way.
func (t Task) Start(by string, now time.Time) (Task, error) {
	if t.Status == Open {
		c, err := t.Claim(by, now)
		if err != nil {
			return t, err
		}
		c.Status = InProgress
		return c, nil
	}
	if err := t.mine(by); err != nil {
		return t, err
	}
	n := t.next(now)
	n.Status, n.Stuck, n.Until = InProgress, false, now.Add(Lease)
	return n, nil
}

// Block says that the holder cannot go on; why is in the sealed part.
func (t Task) Block(by string, now time.Time) (Task, error) {
	if err := t.mine(by); err != nil {
		return t, err
	}
	n := t.next(now)
	n.Status, n.Stuck, n.Until = Blocked, true, now.Add(Lease)
	return n, nil
}

// Finish ends the task. What waited for it may open.
func (t Task) Finish(by string, now time.Time) (Task, error) {
	if err := t.mine(by); err != nil {
		return t, err
	}
	n := t.next(now)
	n.Status, n.Stuck, n.Until = Done, false, time.Time{}
	return n, nil
}

// Handoff gives a held task to another member.
func (t Task) Handoff(by, to string, now time.Time) (Task, error) {
	if err := t.mine(by); err != nil {
		return t, err
	}
	if to == "" || to == by {
		return t, fault.New(fault.Invalid, "board.handoff", "a handoff needs another member to hand to").WithNext("see intandem_peers")
	}
	n := t.next(now)
	n.Status, n.Holder, n.Stuck, n.Until = Claimed, to, false, now.Add(Lease)
	return n, nil
}

// Renew is the holder's sign of life.
func (t Task) Renew(by string, now time.Time) (Task, error) {
	if err := t.mine(by); err != nil {
		return t, err
	}
	n := t.next(now)
	n.Until = now.Add(Lease)
	return n, nil
}

// Expire returns a task whose lease ran out.
func (t Task) Expire(now time.Time) (Task, error) {
	if !t.held() || now.Before(t.Until) {
		return t, fault.New(fault.Conflict, "board.expire", "the lease of %s has not run out", t.ID)
	}
	return t.release(now), nil
}

// TakeBack frees a task whose holder is gone, for its creator or a person.
func (t Task) TakeBack(by string, person, gone bool, now time.Time) (Task, error) {
	switch {
	case !t.held():
		return t, fault.New(fault.Conflict, "board.take_back", "nobody holds %s", t.ID).WithNext("claim it: intandem_claim_task task_id=%s", t.ID)
	case !person && by != t.Creator:
		return t, fault.New(fault.Denied, "board.take_back", "only the creator of %s or a person may take it back", t.ID).With("creator",
			t.Creator)
	case !gone && now.Before(t.Until):
		return t, fault.New(fault.Conflict, "board.take_back", "%s is held by %s, who is there", t.ID, t.Holder).
			With("holder", t.Holder).WithNext("ask the holder for a handoff")
	}
	return t.release(now), nil
}

// Edit changes a task's priority, if one is named, and its words, which are sealed beside it.
func (t Task) Edit(by string, prio Priority, person bool, now time.Time) (Task, error) {
	switch {
	case !t.concerns(by, person):
		return t, t.notYours()
	case t.Status.Ended():
		return t, t.over()
	case prio != "" && prio.Rank() < 0:
		return t, fault.New(fault.Invalid, "board.edit", "priority %q is not known", clip(string(prio))).
			WithNext("use critical, high, medium or low")
	}
	n := t.next(now)
	if prio != "" {
		n.Prio = prio
	}
	return n, nil
}

// Cancel ends a task that nobody is to do any more. What waits for it goes on waiting: somebody says what it needs instead.
func (t Task) Cancel(by string, person bool, now time.Time) (Task, error) {
	switch {
	case !t.concerns(by, person):
		return t, t.notYours()
	case t.Status.Ended():
		return t, t.over()
	}
	n := t.next(now)
	n.Status, n.Stuck, n.Until = Cancelled, false, time.Time{}
	return n, nil
}
