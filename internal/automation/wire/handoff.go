package wire

import (
	"time"

	"tandem/internal/op"
)

// The operations of handoffs.
const (
	Hand     = op.Def[HandIn, Handed]("automation.hand")
	Handoffs = op.Def[NameIn, HandoffsOut]("automation.handoffs")
)

// HandIn hands over what a run waits for by a name.
type HandIn struct {
	Name    string         `json:"name" jsonschema:"the automation"`
	Handoff string         `json:"handoff" jsonschema:"the name of what is handed over, as the definition says it"`
	Run     string         `json:"run,omitempty" jsonschema:"to which run; the only open one to which nobody handed it yet when left out"`
	Output  map[string]any `json:"output,omitempty" jsonschema:"the values, by the names of the node's outputs; an artifact is its text, or {artifact: NAME, version: 1} for one that is kept here"`
}

// Handed says to which run it was given.
type Handed struct {
	Run   string `json:"run"`
	Node  string `json:"node"`
	State string `json:"state" jsonschema:"of the step: done; held while it is being kept; waiting where the run is not there yet"`
}

// HandoffsOut lists handoffs of an automation, those of the newest run first.
type HandoffsOut struct {
	Handoffs []Handoff `json:"handoffs"`
}

// Handoff is one handoff of a run.
type Handoff struct {
	Run     string         `json:"run"`
	Node    string         `json:"node"`
	Handoff string         `json:"handoff" jsonschema:"its name"`
	State   string         `json:"state" jsonschema:"awaited, later (the run is not there yet), handed (nobody took it yet), taken or over (nobody handed it over)"`
	By      string         `json:"by,omitempty"`
	At      time.Time      `json:"at,omitzero"`
	Until   time.Time      `json:"until,omitzero" jsonschema:"how long the run waits for it"`
	Wants   map[string]any `json:"wants,omitempty" jsonschema:"its outputs, by name: the schema of a value, or the kind of an artifact"`
}
