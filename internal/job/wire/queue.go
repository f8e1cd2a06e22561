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
}

// QueueIn names a queue.
type QueueIn struct {
	Folder string `json:"folder" jsonschema:"a folder in the repository, absolute"`
	Branch string `json:"branch"`
	Off    bool   `json:"off,omitempty" jsonschema:"of protect: take the protection away"`
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
