package job

import (
	"fmt"
	"slices"
	"time"

	"tandem/internal/fault"
	"tandem/internal/job/wire"
)

// A queued job is merged when its turn comes, as one person's word about one commit allows: the branch is brought into its workspace when
// it moved on, the check runs on exactly that result, and the branch is moved by compare-and-set. What is red or does not go together
// goes back to the agent, and what nothing can check goes back to the person.

// The events of a queue.
const (
	Queue    Kind = "queue"    // a person approved this commit
	Joined   Kind = "joined"   // the branch moved on, and this commit holds both
	Unqueued Kind = "unqueued" // it needs a person again
	Ranked   Kind = "ranked"   // it has another priority
	Landed   Kind = "landed"   // it was in a train, and the branch was moved to a commit of that
)

// queued moves a job into, in and out of its queue; done is false for events that are not the queue's.
func (j *Job) queued(e Event, now time.Time) (done bool) {
	switch {
	case j.State == wire.Review && e.Kind == Queue && e.Commit == j.Commit && j.Verdict != wire.Red:
		j.State, j.Reason, j.Approved, j.ApprovedBy, j.Priority, j.QueuedAt = wire.Queued, "", e.Commit, e.By, e.Priority, now
	case j.State != wire.Queued:
		return false
	case e.Kind == Ranked:
		j.Priority = e.Priority
	case e.Kind == Joined:
		j.Commit, j.Verdict, j.ByBase = e.Commit, wire.Unchecked, ""
		j.based(e.Base)
	case e.Kind == Unqueued:
		j.look(e.Text)
	case e.Kind == Conflict:
		j.based(e.Base)
		j.back(e.Text)
	case e.Kind == Failed:
		j.fail(e.Text)
	case e.Kind == Checked && e.Own != nil:
		j.requeued(e)
	case e.Kind == Merge && e.Commit == j.Commit && j.mayMerge() && !j.Held:
		j.State, j.Reason, j.Ref, j.Next, j.MergedBy = wire.Merged, "", e.Ref, e.Next, j.ApprovedBy
	case e.Kind == Landed && e.Tip != "":
		j.Commit, j.Base, j.Verdict, j.ByBase = e.Commit, e.Base, wire.Green, ""
		j.State, j.Reason, j.Ref, j.MergedBy, j.Held = wire.Merged, "", e.Ref, j.ApprovedBy, false
	default:
		return false
	}
	return true
}

// look has a job that leaves its queue looked at again; what it became in the queue is checked first.
func (j *Job) look(why string) {
	j.State, j.Reason = wire.Review, why
	if j.Check != "" && j.Verdict != wire.Green {
		j.State = wire.Checking
	}
}

// mayMerge says whether the queue may merge the commit without another look: it is the one that was approved, or its check is green.
func (j *Job) mayMerge() bool {
	if j.Check == "" {
		return j.Commit == j.Approved
	}
	return j.Verdict == wire.Green
}

// requeued takes what the check says of a job and its branch together.
func (j *Job) requeued(e Event) {
	known := j.Altered
	j.Verdict, j.Altered, j.ByBase = e.Own.Verdict, e.Altered, ""
	if e.ByBase != nil {
		j.ByBase = e.ByBase.Verdict
	}
	switch {
	case j.Verdict == wire.Red && e.Own.Lacks != "":
		j.fail(lacks(e.Own.Lacks) + " " + j.ID)
		j.Before, j.Verdict = wire.Checking, wire.Unchecked
	case j.Verdict == wire.Red:
		j.Reds++
		if j.Reds >= j.Bound {
			j.Prompt = red(e.Own)
			j.fail(fmt.Sprintf("in the queue the check is red after try %d of %d", j.Reds, j.Bound))
			j.Before = wire.Checking // a resume sends it back
			return
		}
		j.back(fmt.Sprintf("Your work was approved, and the branch %s moved on to %.12s meanwhile. Together they fail the check.\n\n%s", j.Onto,
			j.Base, red(e.Own)))
	case slices.ContainsFunc(e.Altered, func(f string) bool { return !slices.Contains(known, f) }):
		j.State, j.Reason = wire.Review, "together with the branch the job changes more of what the check consists of: it needs another look"
	default:
		j.Reds = 0
	}
}

// noticed says what a queue knows when its branch stands at tip. A protected branch that somebody else moved pauses it.
func noticed(q *wire.Queue, tip string) (moved bool) {
	if !q.Protected || q.Tip == tip || q.Tip == "" {
		return false
	}
	q.Paused = true
	q.Reason = fmt.Sprintf("somebody moved %s from %.12s to %.12s, and not through the queue", q.Branch, q.Tip, tip)
	return true
}

func throughQueue(j *Job) error {
	return fault.New(fault.Conflict, "job.merge", "the branch %s is protected: jobs get into it through its queue", j.Onto).
		WithNext("queue it: tandem queue add %s --commit %s", j.ID, j.Commit)
}
