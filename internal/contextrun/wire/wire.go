// Package wire is what the operations of context runs take and answer, with a handle for each. It holds no service: doors and
// commands import it.
package wire

import (
	"encoding/json"
	"time"

	"tandem/internal/op"
)

// The operations of context runs.
const (
	Start       = op.Def[StartIn, *Run]("context.start")
	List        = op.Def[ListIn, ListOut]("context.list")
	Show        = op.Def[ShowIn, ShowOut]("context.show")
	Append      = op.Def[AppendIn, Moved]("context.append")
	Next        = op.Def[NextIn, NextOut]("context.next")
	Place       = op.Def[PlaceIn, PlaceOut]("context.place")
	Events      = op.Def[EventsIn, EventsOut]("context.events")
	Add         = op.Def[AddIn, AddOut]("context.add")
	Claim       = op.Def[ClaimIn, ClaimOut]("context.claim")
	Transition  = op.Def[TransitionIn, TransitionOut]("context.transition")
	Patch       = op.Def[PatchIn, Moved]("context.patch")
	Blackboard  = op.Def[IDIn, *Board]("context.board")
	Checkpoint  = op.Def[CheckpointIn, *Mark]("context.checkpoint")
	Checkpoints = op.Def[IDIn, MarksOut]("context.checkpoints")
	Replay      = op.Def[ReplayIn, *ReplayOut]("context.replay")
	Remove      = op.Def[IDIn, RemoveOut]("context.remove")
)

// Status is where a context run stands.
type Status string

// The words for it. The last two are for good; a run that failed may go on.
const (
	Queued    Status = "queued"
	Planning  Status = "planning"
	Running   Status = "running"
	Awaiting  Status = "awaiting_approval"
	Paused    Status = "paused"
	Blocked   Status = "blocked"
	Failed    Status = "failed"
	Completed Status = "completed"
	Cancelled Status = "cancelled"
)

// Statuses are all of them, in the order of a life.
var Statuses = []Status{Queued, Planning, Running, Awaiting, Paused, Blocked, Failed, Completed, Cancelled}

// Ended reports whether a run has come to an end.
func (s Status) Ended() bool { return s == Failed || s == Completed || s == Cancelled }

// Stage is where a step or a task stands.
type Stage string

// The words for it.
const (
	Pending    Stage = "pending"
	Runnable   Stage = "runnable"
	InProgress Stage = "in_progress"
	Stuck      Stage = "blocked"
	Done       Stage = "done"
	Broken     Stage = "failed"
)

// Stages are all of them, in the order of a life.
var Stages = []Stage{Pending, Runnable, InProgress, Stuck, Done, Broken}

// Step is one line of a run's plan.
type Step struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Stage Stage  `json:"stage" jsonschema:"pending, runnable, in_progress, blocked, done or failed"`
}

// Run is a context run: what somebody works at, with where it stands.
type Run struct {
	ID        string `json:"id"`
	Kind      string `json:"kind" jsonschema:"what sort of run it is, in the words of whoever began it"`
	Objective string `json:"objective"`
	Status    Status `json:"status" jsonschema:"queued, planning, running, awaiting_approval, paused, blocked, failed, completed or cancelled"`
	Folder    string `json:"folder,omitempty" jsonschema:"where it is worked at"`
	Epoch     int64  `json:"epoch,omitempty" jsonschema:"how often its folder was settled"`
	Steps     []Step `json:"steps"`
	Why       string `json:"why,omitempty" jsonschema:"why this is the next step"`
	LastError string `json:"last_error,omitempty"`

	Client     string          `json:"client,omitempty" jsonschema:"the program that began it, as it calls itself"`
	Provider   string          `json:"provider,omitempty"`
	Model      string          `json:"model,omitempty"`
	Connectors []string        `json:"connectors,omitempty"`
	Source     json.RawMessage `json:"source,omitempty" jsonschema:"what the program that began it says of it"`

	Revision  int64      `json:"revision" jsonschema:"raised by one with every change of status, steps, reason or folder"`
	Events    int64      `json:"events" jsonschema:"the number of its newest event"`
	Patches   int64      `json:"patches" jsonschema:"the number of the newest change of its blackboard and tasks"`
	Tasks     int        `json:"tasks" jsonschema:"how many tasks it has"`
	MadeBy    string     `json:"made_by"`
	MadeAt    time.Time  `json:"made_at"`
	StartedAt *time.Time `json:"started_at,omitempty"`
	EndedAt   *time.Time `json:"ended_at,omitempty"`
	MovedAt   time.Time  `json:"moved_at"`
}

// Task is a piece of work of a run, which one worker at a time holds.
type Task struct {
	ID          string          `json:"id"`
	Nr          int             `json:"nr" jsonschema:"its place in the order in which tasks were added"`
	Kind        string          `json:"kind"`
	Payload     json.RawMessage `json:"payload,omitempty"`
	Stage       Stage           `json:"stage" jsonschema:"pending, runnable, in_progress, blocked, done or failed"`
	Workflow    string          `json:"workflow,omitempty"`
	Node        string          `json:"node,omitempty"`
	Parent      string          `json:"parent,omitempty"`
	After       []string        `json:"after,omitempty" jsonschema:"the tasks that have to be done first"`
	Waits       int             `json:"waits,omitempty" jsonschema:"how many of these are not done yet"`
	Decisions   []string        `json:"decisions,omitempty"`
	Artifacts   []string        `json:"artifacts,omitempty"`
	Priority    int             `json:"priority,omitempty" jsonschema:"a larger one is claimed first"`
	Attempt     int             `json:"attempt" jsonschema:"grows with every claim and is never given twice: the fence of whoever holds it"`
	MaxAttempts int             `json:"max_attempts"`
	LastError   string          `json:"last_error,omitempty"`
	RetryAt     *time.Time      `json:"retry_at,omitempty" jsonschema:"nobody claims it before"`
	Agent       string          `json:"agent,omitempty" jsonschema:"who works at it, as that one calls itself"`
	Holder      string          `json:"holder,omitempty" jsonschema:"the actor that holds its lease"`
	Token       string          `json:"lease_token,omitempty" jsonschema:"only whoever claimed it is told: it goes with what is reported"`
	LeaseEnds   *time.Time      `json:"lease_ends,omitempty" jsonschema:"from then on somebody else may claim it"`
	Rev         int64           `json:"rev" jsonschema:"raised by one with every change"`
	MadeAt      time.Time       `json:"made_at"`
	MovedAt     time.Time       `json:"moved_at"`
}

// Event is one thing that happened to a run.
type Event struct {
	Seq      int64           `json:"seq"`
	Type     string          `json:"type"`
	Status   Status          `json:"status" jsonschema:"where the run stands since"`
	Revision int64           `json:"revision"`
	Patch    int64           `json:"patch,omitempty" jsonschema:"its number among the changes of blackboard and tasks"`
	Step     string          `json:"step,omitempty"`
	Task     string          `json:"task,omitempty"`
	Command  string          `json:"command,omitempty" jsonschema:"the name that its sender gave it, so that it counts once"`
	At       time.Time       `json:"at"`
	By       string          `json:"by"`
	Payload  json.RawMessage `json:"payload,omitempty"`
}

// Item is something on the blackboard.
type Item struct {
	ID     string    `json:"id"`
	Text   string    `json:"text,omitempty"`
	Path   string    `json:"path,omitempty"`
	Type   string    `json:"type,omitempty" jsonschema:"what sort of artifact it is"`
	Step   string    `json:"step,omitempty"`
	Source string    `json:"source,omitempty" jsonschema:"the event that it comes from"`
	At     time.Time `json:"at"`
}

// Board is the blackboard of a run: what those who work at it know.
type Board struct {
	Facts     []Item `json:"facts"`
	Decisions []Item `json:"decisions"`
	Questions []Item `json:"questions"`
	Artifacts []Item `json:"artifacts"`
	Rolling   string `json:"rolling,omitempty" jsonschema:"the summary so far"`
	Pack      string `json:"pack,omitempty" jsonschema:"the newest context pack"`
	Revision  int64  `json:"revision"`
}

// Mark is a checkpoint: where a run stood after an event.
type Mark struct {
	ID     string    `json:"id"`
	Seq    int64     `json:"seq"`
	Reason string    `json:"reason"`
	By     string    `json:"by"`
	At     time.Time `json:"at"`
	Bytes  int       `json:"bytes"`
}

// Drift is something that the rows of a run say otherwise than its events.
type Drift struct {
	What     string `json:"what" jsonschema:"status, steps, task t-1 stage …"`
	Stored   string `json:"stored"`
	Replayed string `json:"replayed"`
}
