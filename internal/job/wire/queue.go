package wire

import "tandem/internal/op"

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
