package wire

import "encoding/json"

// IDIn names a run.
type IDIn struct {
	ID string `json:"id" jsonschema:"the id of the context run"`
}

// StartIn begins a run.
type StartIn struct {
	ID         string          `json:"id,omitempty" jsonschema:"an id of your own; tandem makes one when it is left out"`
	Objective  string          `json:"objective" jsonschema:"what is true when it is reached"`
	Kind       string          `json:"kind,omitempty" jsonschema:"what sort of run it is; interactive when left out"`
	Folder     string          `json:"folder,omitempty" jsonschema:"where it is worked at, an absolute path"`
	Steps      []Step          `json:"steps,omitempty"`
	Client     string          `json:"client,omitempty" jsonschema:"the program that begins it"`
	Provider   string          `json:"provider,omitempty"`
	Model      string          `json:"model,omitempty"`
	Connectors []string        `json:"connectors,omitempty"`
	Source     json.RawMessage `json:"source,omitempty" jsonschema:"any JSON object, 16 KB at most"`
}

// ListIn asks for the newest runs.
type ListIn struct {
	Kind   string `json:"kind,omitempty" jsonschema:"only this kind"`
	Folder string `json:"folder,omitempty" jsonschema:"only those that are worked at there"`
	Status Status `json:"status,omitempty" jsonschema:"only those that stand so"`
	Limit  int    `json:"limit,omitempty" jsonschema:"at most this many, 50 when left out, 500 at most"`
}

// ListOut are runs, newest first.
type ListOut struct {
	Runs []*Run `json:"runs"`
	More bool   `json:"more,omitempty"`
}

// ShowIn names a run, and says how much of it is wanted.
type ShowIn struct {
	ID       string `json:"id" jsonschema:"the id of the context run"`
	Payloads bool   `json:"payloads,omitempty" jsonschema:"tasks with what they say"`
}

// ShowOut is a run with its tasks.
type ShowOut struct {
	*Run
	List  []*Task `json:"list" jsonschema:"its tasks, in the order in which they were added"`
	Waits string  `json:"waits,omitempty" jsonschema:"why nothing can be claimed of it now"`
}

// AppendIn says what happened to a run.
type AppendIn struct {
	ID      string          `json:"id" jsonschema:"the id of the context run"`
	Type    string          `json:"type" jsonschema:"what happened: step_started, step_completed, run_paused, or a word of your own"`
	Status  Status          `json:"status,omitempty" jsonschema:"where the run stands since; as it stood when left out"`
	Step    string          `json:"step,omitempty" jsonschema:"the id of the step that it is about"`
	Payload json.RawMessage `json:"payload,omitempty" jsonschema:"a JSON object, 64 KB at most; why_next_step, steps, step_status, error in it count"`
	Command string          `json:"command,omitempty" jsonschema:"a name of your own for it: what is sent twice counts once"`
	IfRev   *int64          `json:"if_revision,omitempty" jsonschema:"only when the run is at this revision"`
}

// Moved is what became of a run.
type Moved struct {
	Event *Event `json:"event"`
	Run   *Run   `json:"run"`
	Again bool   `json:"again,omitempty" jsonschema:"it was sent before, and nothing changed"`
}

// NextIn asks which step comes next.
type NextIn struct {
	ID  string `json:"id" jsonschema:"the id of the context run"`
	Dry bool   `json:"dry_run,omitempty" jsonschema:"only say it"`
}

// NextOut is the step that comes next; none when all are done, or the run does not go on.
type NextOut struct {
	Step *Step  `json:"step,omitempty"`
	Why  string `json:"why"`
	Run  *Run   `json:"run"`
}

// PlaceIn says where somebody works at a run.
type PlaceIn struct {
	ID     string `json:"id" jsonschema:"the id of the context run"`
	Folder string `json:"folder" jsonschema:"the folder, an absolute path"`
	Phase  string `json:"phase,omitempty" jsonschema:"at which moment of the work"`
	Step   string `json:"step,omitempty"`
}

// PlaceOut says whether that is where the run is worked at.
type PlaceOut struct {
	OK       bool   `json:"ok"`
	Expected string `json:"expected,omitempty"`
	Status   Status `json:"status"`
}

// EventsIn asks for a page of events.
type EventsIn struct {
	ID      string `json:"id" jsonschema:"the id of the context run"`
	After   int64  `json:"after,omitempty" jsonschema:"only events behind this number"`
	Tail    int    `json:"tail,omitempty" jsonschema:"the newest so many instead"`
	Limit   int    `json:"limit,omitempty" jsonschema:"at most this many, 100 when left out, 500 at most"`
	Patches bool   `json:"patches,omitempty" jsonschema:"only changes of blackboard and tasks; after is a number of these then"`
}

// EventsOut is a page of events, in their order.
type EventsOut struct {
	Events []*Event `json:"events"`
	Last   int64    `json:"last" jsonschema:"the number of the run's newest event"`
	More   bool     `json:"more,omitempty"`
}

// TaskIn is a task to add.
type TaskIn struct {
	ID          string          `json:"id,omitempty" jsonschema:"an id of your own; tandem makes one when it is left out"`
	Kind        string          `json:"kind" jsonschema:"what sort of work it is"`
	Payload     json.RawMessage `json:"payload,omitempty" jsonschema:"any JSON, 64 KB at most"`
	Stage       Stage           `json:"stage,omitempty" jsonschema:"pending, runnable or blocked; what its needs say when left out"`
	Workflow    string          `json:"workflow,omitempty"`
	Node        string          `json:"node,omitempty"`
	Parent      string          `json:"parent,omitempty"`
	After       []string        `json:"after,omitempty" jsonschema:"tasks of this run, or of this call, that have to be done first"`
	Decisions   []string        `json:"decisions,omitempty"`
	Artifacts   []string        `json:"artifacts,omitempty"`
	Priority    int             `json:"priority,omitempty"`
	MaxAttempts int             `json:"max_attempts,omitempty" jsonschema:"how often it may be claimed, 3 when left out, 100 at most"`
	Command     string          `json:"command,omitempty" jsonschema:"a name of your own for it: what is sent twice is added once"`
}

// AddIn adds tasks.
type AddIn struct {
	ID    string   `json:"id" jsonschema:"the id of the context run"`
	Tasks []TaskIn `json:"tasks" jsonschema:"200 at most"`
}

// AddOut are the tasks as they were added; those of commands that came before are left out.
type AddOut struct {
	Tasks  []*Task  `json:"tasks"`
	Events []*Event `json:"events"`
	Run    *Run     `json:"run"`
}

// ClaimIn asks for a task to work at.
type ClaimIn struct {
	ID       string `json:"id" jsonschema:"the id of the context run"`
	Task     string `json:"task,omitempty" jsonschema:"this one; the one that comes first when left out"`
	Kind     string `json:"kind,omitempty" jsonschema:"only tasks of this kind"`
	Workflow string `json:"workflow,omitempty"`
	Agent    string `json:"agent,omitempty" jsonschema:"what you call yourself"`
	LeaseMS  int64  `json:"lease_ms,omitempty" jsonschema:"how long it is yours without a word from you, 30000 when left out, 5000 to 3600000"`
	Command  string `json:"command,omitempty" jsonschema:"a name of your own for it: sent again, it gives the same task and no other"`
}

// ClaimOut is the task with its lease token; none, and why, when there is nothing to claim.
type ClaimOut struct {
	Task  *Task  `json:"task,omitempty"`
	Event *Event `json:"event,omitempty"`
	Why   string `json:"why,omitempty"`
	Again bool   `json:"again,omitempty"`
}

// TransitionIn moves a task.
type TransitionIn struct {
	ID      string `json:"id" jsonschema:"the id of the context run"`
	Task    string `json:"task" jsonschema:"the id of the task"`
	Action  string `json:"action" jsonschema:"heartbeat, complete, fail, block, release, retry, or status with a stage"`
	Stage   Stage  `json:"stage,omitempty" jsonschema:"with the action status: pending, runnable, blocked, done or failed"`
	Token   string `json:"lease_token,omitempty" jsonschema:"what you were given when you claimed it"`
	IfRev   *int64 `json:"if_rev,omitempty" jsonschema:"only when the task is at this revision"`
	Agent   string `json:"agent,omitempty" jsonschema:"what you call yourself"`
	Error   string `json:"error,omitempty" jsonschema:"what went wrong"`
	LeaseMS int64  `json:"lease_ms,omitempty" jsonschema:"with heartbeat: from now on so long, 30000 when left out, 5000 to 3600000"`
	AfterMS int64  `json:"after_ms,omitempty" jsonschema:"with release and retry: nobody claims it before"`
	Command string `json:"command,omitempty" jsonschema:"a name of your own for it: what is sent twice counts once"`
}

// TransitionOut is the task as it is now.
type TransitionOut struct {
	Task  *Task  `json:"task"`
	Event *Event `json:"event,omitempty"`
	Again bool   `json:"again,omitempty"`
}

// PatchIn writes on the blackboard.
type PatchIn struct {
	ID      string `json:"id" jsonschema:"the id of the context run"`
	Op      string `json:"op" jsonschema:"add_fact, add_decision, add_open_question, add_artifact, set_rolling_summary …"`
	Item    string `json:"item,omitempty" jsonschema:"an id of your own for it"`
	Text    string `json:"text,omitempty" jsonschema:"16 KB at most"`
	Path    string `json:"path,omitempty" jsonschema:"of an artifact: where it is"`
	Type    string `json:"type,omitempty" jsonschema:"of an artifact: what sort it is"`
	Step    string `json:"step,omitempty"`
	Source  string `json:"source,omitempty" jsonschema:"the event that it comes from"`
	Command string `json:"command,omitempty" jsonschema:"a name of your own for it: what is sent twice counts once"`
}

// CheckpointIn keeps where a run stands.
type CheckpointIn struct {
	ID     string `json:"id" jsonschema:"the id of the context run"`
	Reason string `json:"reason,omitempty"`
}

// MarksOut are a run's checkpoints, newest first, and what the newest holds.
type MarksOut struct {
	Marks []*Mark         `json:"checkpoints"`
	State json.RawMessage `json:"state,omitempty" jsonschema:"the newest one: run, tasks and blackboard"`
}

// ReplayIn folds a run's events again.
type ReplayIn struct {
	ID         string `json:"id" jsonschema:"the id of the context run"`
	Upto       int64  `json:"upto,omitempty" jsonschema:"only as far as this event: how it stood then"`
	Checkpoint bool   `json:"checkpoint,omitempty" jsonschema:"begin at the newest checkpoint instead of the first event"`
}

// ReplayOut is what the events make of a run, and where its rows say something else.
type ReplayOut struct {
	Run     *Run    `json:"run"`
	Tasks   []*Task `json:"tasks"`
	Board   *Board  `json:"board"`
	From    int64   `json:"from" jsonschema:"the event behind which it began: 0, or a checkpoint's"`
	Applied int     `json:"applied" jsonschema:"how many events were folded"`
	Whole   bool    `json:"whole" jsonschema:"it went as far as the newest event, so that rows and events can be compared"`
	Drift   []Drift `json:"drift"`
}

// RemoveOut says what is gone.
type RemoveOut struct {
	ID     string `json:"id"`
	Events int64  `json:"events"`
}

// Carry puts a value into an event as its payload.
func (in *AppendIn) Carry(payload any) (err error) {
	in.Payload, err = json.Marshal(payload)
	return err
}
