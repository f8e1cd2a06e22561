package spec

import "time"

// Automation is one definition.
type Automation struct {
	Name     string             `toml:"name" json:"name"`
	Title    string             `toml:"title" json:"title,omitempty"`
	About    string             `toml:"about" json:"about,omitempty"`
	Profile  Profile            `toml:"profile" json:"profile"`
	Inputs   map[string]*Schema `toml:"inputs" json:"inputs,omitempty"` // what a run is given when it begins
	Limits   Limits             `toml:"limits" json:"limits"`
	Triggers []Trigger          `toml:"trigger" json:"triggers,omitempty"`
	Nodes    []Node             `toml:"node" json:"nodes"`

	needs map[string][]string // of a checked definition
}

// Profile chooses among grants that exist; it never makes one.
type Profile string

// The profiles.
const (
	Strict Profile = "strict" // every effect waits for a person
	Guided Profile = "guided" // what is granted goes on, the rest asks
	Free   Profile = "free"   // as guided, with the standing grants for unattended work
)

// Limits bound a run.
type Limits struct {
	Nodes    int      `toml:"nodes" json:"nodes"`       // that a run may start, maps counted out
	Attempts int      `toml:"attempts" json:"attempts"` // of one node
	Items    int      `toml:"items" json:"items"`       // of one map
	Parallel int      `toml:"parallel" json:"parallel"` // nodes of one run at once
	Runs     int      `toml:"runs" json:"runs"`         // of this automation at once
	Priority int      `toml:"priority" json:"priority"` // larger goes first
	Tokens   int64    `toml:"tokens" json:"tokens"`
	Cost     float64  `toml:"cost" json:"cost"` // in US dollars
	Time     Duration `toml:"time" json:"time"`
}

// Budget bounds one node within the limits of its run.
type Budget struct {
	Tokens int64    `toml:"tokens" json:"tokens,omitempty"`
	Cost   float64  `toml:"cost" json:"cost,omitempty"`
	Time   Duration `toml:"time" json:"time"`
}

// Node is one step. Exactly one of its kinds is written.
type Node struct {
	ID     string            `toml:"id" json:"id"`
	About  string            `toml:"about" json:"about,omitempty"`
	After  []string          `toml:"after" json:"after,omitempty"`   // order without data
	Inputs map[string]Ref    `toml:"inputs" json:"inputs,omitempty"` // by the name that this node calls them
	Output map[string]Output `toml:"output" json:"output,omitempty"`
	Retry  Retry             `toml:"retry" json:"retry"`
	Budget Budget            `toml:"budget" json:"budget"`
	// OnFailure is what becomes of the run when the attempts are used up.
	OnFailure OnFailure `toml:"on_failure" json:"on_failure"`

	Body
	Wait   *Wait   `toml:"wait" json:"wait,omitempty"`
	Gate   *Gate   `toml:"gate" json:"gate,omitempty"`
	Branch *Branch `toml:"branch" json:"branch,omitempty"`
	Map    *Map    `toml:"map" json:"map,omitempty"`
}

// Body is work: what a node does by itself, or a map does with each item.
type Body struct {
	Turn       *Turn      `toml:"turn" json:"turn,omitempty"`
	Operation  *Operation `toml:"operation" json:"operation,omitempty"`
	Command    *Command   `toml:"command" json:"command,omitempty"`
	Automation *Sub       `toml:"automation" json:"automation,omitempty"`
	Make       *Make      `toml:"make" json:"make,omitempty"`
}

// Turn is one prompt to a model or a real agent, with all that it is given.
type Turn struct {
	Prompt     string   `toml:"prompt" json:"prompt"` // {{name}} stands for an input
	System     string   `toml:"system" json:"system,omitempty"`
	Model      string   `toml:"model" json:"model,omitempty"`
	Agent      string   `toml:"agent" json:"agent,omitempty"` // claude, codex or opencode in place of a model
	Tools      []string `toml:"tools" json:"tools,omitempty"`
	Connectors []string `toml:"connectors" json:"connectors,omitempty"` // NAME or NAME.TOOL
	Folders    []string `toml:"folders" json:"folders,omitempty"`
	Knowledge  []string `toml:"knowledge" json:"knowledge,omitempty"` // spaces that it reads, and no others
	Cite       bool     `toml:"cite" json:"cite,omitempty"`           // its answer cites what it read there
}

// Operation is one operation of tandem itself.
type Operation struct {
	Name  string         `toml:"name" json:"name"`
	Input map[string]any `toml:"input" json:"input,omitempty"` // a text "{{name}}" stands for an input
}

// Command is a program in the box: arguments, never a line for a shell.
type Command struct {
	Run     []string `toml:"run" json:"run"`
	Folder  string   `toml:"folder" json:"folder,omitempty"`
	Network bool     `toml:"network" json:"network,omitempty"`
}

// Make makes the artifact that is the node's one output, of the kind that is written there.
type Make struct {
	From string `toml:"from" json:"from"` // the input that it is made from
}

// Sub runs another automation and waits for it. The node's inputs are those of the run.
type Sub struct {
	Name  string         `toml:"name" json:"name"`
	Gives map[string]Ref `toml:"gives" json:"gives,omitempty"` // by the name of an output of this node: what of the run it is
}

// Wait is a pause that holds nothing. Exactly one of its causes is written.
type Wait struct {
	For       Duration  `toml:"for" json:"for,omitzero"`
	Until     time.Time `toml:"until" json:"until,omitzero"`
	Approval  []string  `toml:"approval" json:"approval,omitempty"`   // who may say that it goes on
	Webhook   string    `toml:"webhook" json:"webhook,omitempty"`     // a webhook trigger of this automation
	Condition string    `toml:"condition" json:"condition,omitempty"` // a shared key that comes to exist
	Handoff   string    `toml:"handoff" json:"handoff,omitempty"`     // the name of what somebody hands over: the node's outputs
	// Match holds a message of the webhook to this run: a field of the message, as "data.id", and the value that it has.
	Match     map[string]Ref `toml:"match" json:"match,omitempty"`
	Timeout   Duration       `toml:"timeout" json:"timeout"`
	OnTimeout OnExpiry       `toml:"on_timeout" json:"on_timeout"`
}

// Gate stops until a person approves, sends back or cancels.
type Gate struct {
	Shows     []Ref    `toml:"shows" json:"shows"`
	Text      string   `toml:"text" json:"text,omitempty"`
	Approvers []string `toml:"approvers" json:"approvers,omitempty"`
	Rework    string   `toml:"rework" json:"rework,omitempty"` // the node that gets the feedback
	Expires   Duration `toml:"expires" json:"expires"`
	OnExpiry  OnExpiry `toml:"on_expiry" json:"on_expiry"`
	Escalate  string   `toml:"escalate" json:"escalate,omitempty"`
}

// Branch chooses which nodes go on, by a typed value.
type Branch struct {
	On    Ref                 `toml:"on" json:"on"`
	Cases map[string][]string `toml:"cases" json:"cases"` // a value and the nodes that then run
	Else  []string            `toml:"else" json:"else,omitempty"`
}

// Map does its body once for each item of a list, which it knows as {{item}}.
type Map struct {
	Over     Ref `toml:"over" json:"over"`
	Max      int `toml:"max" json:"max"`
	Parallel int `toml:"parallel" json:"parallel"`
	Body
}

// Output is what a node gives on: a typed value, or an artifact.
type Output struct {
	Schema   *Schema  `toml:"schema" json:"schema,omitempty"`
	Artifact string   `toml:"artifact" json:"artifact,omitempty"` // its kind: markdown, html, pptx, csv, json
	Checks   []string `toml:"checks" json:"checks,omitempty"`
	Sections []string `toml:"sections" json:"sections,omitempty"` // of the check of that name: headings that have to be there
	Max      int      `toml:"max" json:"max,omitempty"`           // bytes of an artifact
}

// Retry says which failures are tried again, and how soon.
type Retry struct {
	Attempts int      `toml:"attempts" json:"attempts"`
	On       []string `toml:"on" json:"on,omitempty"`
	Wait     Duration `toml:"wait" json:"wait,omitzero"`
	Factor   float64  `toml:"factor" json:"factor,omitempty"` // each wait is this much longer
	Most     Duration `toml:"most" json:"most,omitzero"`
}

// OnFailure is what a failed node does to its run.
type OnFailure string

// What may become of it.
const (
	FailRun OnFailure = "fail"  // the run fails
	Pause   OnFailure = "pause" // the run waits for a person
	GoOn    OnFailure = "go on" // nodes that need it are skipped, the others run
)

// OnExpiry is what a wait or a gate does when nobody came.
type OnExpiry string

// What may become of it.
const (
	Cancel   OnExpiry = "cancel"
	Escalate OnExpiry = "escalate"
	Remind   OnExpiry = "remind"
	Resume   OnExpiry = "resume" // a wait alone: it goes on without what it waited for
)
