package wire

import (
	"fmt"
	"slices"
	"time"

	"tandem/internal/op"
)

// The operations of merge queues: one for each branch of a repository.
const (
	QueueList     = op.Def[QueueListIn, QueueListOut]("queue.list")
	QueueAdd      = op.Def[QueueAddIn, *Job]("queue.add")
	QueueEvict    = op.Def[IDIn, *Job]("queue.evict")
	QueuePriority = op.Def[QueuePriorityIn, *Job]("queue.priority")
	QueueProtect  = op.Def[QueueIn, *Queue]("queue.protect")
	QueuePause    = op.Def[QueueIn, *Queue]("queue.pause")
	QueueResume   = op.Def[QueueIn, *Queue]("queue.resume")
	QueuePush     = op.Def[QueuePushIn, *Queue]("queue.push")
)

// Queue is what is known of a branch into which jobs are merged one after the other.
type Queue struct {
	Repo      string `json:"repo" jsonschema:"the repository's folder"`
	Branch    string `json:"branch"`
	Home      string `json:"home,omitempty" jsonschema:"which server of a cluster has the repository; the first one when left out"`
	Protected bool   `json:"protected,omitempty" jsonschema:"jobs get into the branch through the queue alone, and a move by somebody else pauses it"`
	Paused    bool   `json:"paused,omitempty"`
	Reason    string `json:"reason,omitempty" jsonschema:"why it is paused"`
	// Tip is where a protected branch stood when the queue last looked.
	Tip  string `json:"tip,omitempty" jsonschema:"where the queue left a protected branch"`
	Jobs []*Job `json:"jobs,omitempty" jsonschema:"in their order; when queues are listed"`

	Push *Push `json:"push,omitempty" jsonschema:"where what the queue merged is pushed to"`

	Train   *Train   `json:"train,omitempty" jsonschema:"the jobs that are checked together and merged with one move of the branch"`
	Suspect *Suspect `json:"suspect,omitempty" jsonschema:"the job with which a train was red: it is checked and merged alone"`
}

// Train is several jobs of a queue, each merged on top of the one before. The branch is moved once, to a commit on which the checks of all
// that it brings were green.
type Train struct {
	Base  string `json:"base" jsonschema:"where the branch stood when it was put together"`
	Cars  []Car  `json:"cars" jsonschema:"in their order"`
	Green int    `json:"green" jsonschema:"as many of the first ones are green together"`
	Red   int    `json:"red,omitempty" jsonschema:"as many of the first ones are red together; 0: none are known to be"`
	// Landing is written down before the branch is moved.
	Landing string `json:"landing,omitempty" jsonschema:"the commit that the branch is being moved to"`
}

// Car is a job in a train.
type Car struct {
	Job    string `json:"job" jsonschema:"empty: one that you may not see"`
	From   string `json:"from" jsonschema:"the job's own commit"`
	Commit string `json:"commit" jsonschema:"that one together with the branch and the cars before it"`
}

// Rides says where a job is in the train of its queue, from 1 on; 0 where it is in none.
func (q *Queue) Rides(job string) int {
	if q.Train == nil || job == "" {
		return 0
	}
	return 1 + slices.IndexFunc(q.Train.Cars, func(c Car) bool { return c.Job == job })
}

// About is what a train is doing, in words for people; "" where the queue has none.
func (q *Queue) About() string {
	t := q.Train
	switch {
	case t == nil:
		return ""
	case t.Landing != "":
		return fmt.Sprintf("the branch moves to %.12s, with %d jobs at once", t.Landing, t.Green)
	case t.Red == 0:
		return fmt.Sprintf("%d jobs are checked together, on top of %.12s; when that is green, all are merged at once", len(t.Cars), t.Base)
	case t.Green == 0:
		return fmt.Sprintf("the first %d together are red: fewer are tried, to find the one that is", t.Red)
	}
	return fmt.Sprintf("the first %d together are red, the first %d green: the one that is red is looked for", t.Red, t.Green)
}

// Suspect is a job with which a train was red.
type Suspect struct {
	Job      string    `json:"job" jsonschema:"empty: one that you may not see"`
	QueuedAt time.Time `json:"queued_at" jsonschema:"when it came into the queue; once it comes again it is not suspected"`
}

// Push is what is known of the remote of a protected branch. What was merged waits there for a person, unless they said otherwise.
type Push struct {
	Remote  string `json:"remote" jsonschema:"its name in the repository"`
	URL     string `json:"url" jsonschema:"its address when a person named it: another one is not pushed to"`
	Unasked bool   `json:"unasked,omitempty" jsonschema:"it is pushed to after each merge, and nobody is asked"`
	Waits   string `json:"waits,omitempty" jsonschema:"the merged commit that was not pushed yet"`
	Begun   string `json:"begun,omitempty" jsonschema:"a commit whose push was begun, and its end is not known"`
	Pushed  string `json:"pushed,omitempty" jsonschema:"the commit that was pushed last"`
	Problem string `json:"problem,omitempty" jsonschema:"why the last push did not arrive"`
}

// QueuePushIn pushes what a queue merged.
type QueuePushIn struct {
	Folder string `json:"folder" jsonschema:"a folder in the repository, absolute"`
	Branch string `json:"branch"`
	Commit string `json:"commit" jsonschema:"the commit that waits; another one needs another word"`
}

// QueueIn names a queue.
type QueueIn struct {
	Folder string `json:"folder" jsonschema:"a folder in the repository, absolute"`
	Branch string `json:"branch"`
	Off    bool   `json:"off,omitempty" jsonschema:"of protect: take the protection away"`
	// Push and Unasked are of protect, too.
	Push    string `json:"push,omitempty" jsonschema:"of protect: the remote that what the queue merged is pushed to"`
	Unasked bool   `json:"push_unasked,omitempty" jsonschema:"of protect: push after each merge; else a person says so each time"`
}

// QueueAddIn has a job merged when its turn comes.
type QueueAddIn struct {
	ID       string `json:"id"`
	Commit   string `json:"commit" jsonschema:"the commit that was looked at; another one needs another look"`
	Priority int64  `json:"priority,omitempty" jsonschema:"higher ones come first, -100 to 100"`
}

// QueuePriorityIn moves a job in its queue.
type QueuePriorityIn struct {
	ID       string `json:"id"`
	Priority int64  `json:"priority" jsonschema:"higher ones come first, -100 to 100"`
}

// QueueListIn asks for queues.
type QueueListIn struct{}

// QueueListOut lists queues with their jobs.
type QueueListOut struct {
	Queues []*Queue `json:"queues"`
}
