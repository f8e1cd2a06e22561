package wire

import (
	"encoding/json"
	"strings"
	"time"

	"tandem/internal/op"
)

// The operations of runs.
const (
	Begin  = op.Def[BeginIn, *Run]("automation.run")
	Runs   = op.Def[RunsIn, RunsOut]("automation.runs")
	Trace  = op.Def[RunIn, *Run]("automation.trace")
	Pause  = op.Def[RunIn, *Run]("automation.pause")
	Resume = op.Def[RunIn, *Run]("automation.resume")
	Cancel = op.Def[RunIn, *Run]("automation.cancel")
	Retry  = op.Def[StepIn, *Run]("automation.retry")
	Skip   = op.Def[StepIn, *Run]("automation.skip")
	Accept = op.Def[StepIn, *Run]("automation.accept")
	Review = op.Def[RepairIn, Reviewed]("automation.review")
	Repair = op.Def[RepairIn, *Run]("automation.repair")

	// Command is what a node's command is; the server alone calls it.
	Command = op.Def[CommandIn, CommandOut]("automation.command")

	// Pass is the other side of a gate; a run alone calls it, once a person answered.
	Pass = op.Def[PassIn, OK]("automation.pass")
)

// BeginIn begins a run of the version that is switched on.
type BeginIn struct {
	Name  string         `json:"name"`
	Input map[string]any `json:"input,omitempty" jsonschema:"what the definition's inputs are"`
	// Parent is the run whose node begins this one: that one alone says so.
	Parent string `json:"parent,omitempty" jsonschema:"of a run that a node begins: the run of that node, which alone says so"`
}

// ParseInput reads NAME=VALUE as a person writes it: a value that reads as JSON is that, everything else is text.
func ParseInput(one string) (name string, value any, ok bool) {
	name, text, ok := strings.Cut(one, "=")
	if json.Unmarshal([]byte(text), &value) != nil {
		value = text
	}
	return strings.TrimSpace(name), value, ok && strings.TrimSpace(name) != ""
}

// RunsIn asks for runs, newest first.
type RunsIn struct {
	Name  string `json:"name,omitempty" jsonschema:"only of this automation"`
	Open  bool   `json:"open,omitempty" jsonschema:"only those that have not ended"`
	Needs bool   `json:"needs,omitempty" jsonschema:"only those that a person has to look at, and those that failed within a day"`
	Limit int    `json:"limit,omitempty" jsonschema:"at most this many, 50 when left out, 500 at most"`
}

// RunsOut lists runs without their steps.
type RunsOut struct {
	Runs []*Run `json:"runs"`
}

// RunIn names a run.
type RunIn struct {
	ID     string `json:"id" jsonschema:"the run's id, run_…"`
	Reason string `json:"reason,omitempty" jsonschema:"why, for those who look later"`
}

// StepIn names a step of a run that failed, or of which nobody knows whether it acted.
type StepIn struct {
	ID     string         `json:"id" jsonschema:"the run's id, run_…"`
	Node   string         `json:"node"`
	Item   int            `json:"item,omitempty" jsonschema:"of a map: which item, from 1 on"`
	Reason string         `json:"reason,omitempty"`
	Output map[string]any `json:"output,omitempty" jsonschema:"of accept: what the step would have given"`
}

// Run is one beginning of an automation, and what became of it.
type Run struct {
	ID      string         `json:"id"`
	Name    string         `json:"name"`
	Digest  string         `json:"digest" jsonschema:"the version that it began with, and keeps"`
	Status  string         `json:"status" jsonschema:"running, paused, completed, failed or cancelled"`
	Reason  string         `json:"reason,omitempty"`
	Cause   string         `json:"cause" jsonschema:"what began it"`
	Parent  string         `json:"parent,omitempty" jsonschema:"the run whose node began it"`
	By      string         `json:"by"`
	Input   map[string]any `json:"input,omitempty"`
	BeganAt time.Time      `json:"began_at"`
	EndedAt time.Time      `json:"ended_at,omitzero"`
	Needs   string         `json:"needs,omitempty" jsonschema:"what a person has to look at before it goes on: a step of which nobody knows whether it acted, a failure that paused it"`
	Waits   []string       `json:"waits,omitempty" jsonschema:"why it waits, and on whom"`
	Steps   []Step         `json:"steps,omitempty"`
	Tokens  int64          `json:"tokens,omitempty"`
	Cost    float64        `json:"cost,omitempty" jsonschema:"in US dollars"`
	Repairs []Repaired     `json:"repairs,omitempty" jsonschema:"what a person had its nodes told instead, oldest first"`
}

// Step is a node, or one item of a map.
type Step struct {
	Node    string         `json:"node"`
	Kind    string         `json:"kind"`
	Item    int            `json:"item,omitempty" jsonschema:"of a map, from 1 on"`
	State   string         `json:"state" jsonschema:"waiting, ready, running, held, done, failed, unknown or skipped"`
	Attempt int            `json:"attempt,omitempty"`
	Reason  string         `json:"reason,omitempty"`
	Waits   string         `json:"waits,omitempty" jsonschema:"what it waits for"`
	Ask     string         `json:"ask,omitempty" jsonschema:"the ask that it waits for, when it waits for one"`
	Needs   []string       `json:"needs,omitempty" jsonschema:"the nodes that come before it"`
	Handoff string         `json:"handoff,omitempty" jsonschema:"the name of what somebody hands over to it, while nobody did"`
	Wants   []string       `json:"wants,omitempty" jsonschema:"what that is: the names of its outputs"`
	Due     time.Time      `json:"due,omitzero" jsonschema:"when it goes on by itself"`
	Input   map[string]any `json:"input,omitempty"`
	Output  map[string]any `json:"output,omitempty"`
	Notes   []string       `json:"notes,omitempty" jsonschema:"what was said when it was sent back"`
	Session string         `json:"session,omitempty" jsonschema:"of a turn: the session that took it"`
	Turn    string         `json:"turn,omitempty"`
	Run     string         `json:"run,omitempty" jsonschema:"of a node that is another automation: its run"`
	Tokens  int64          `json:"tokens,omitempty"`
	Cost    float64        `json:"cost,omitempty" jsonschema:"in US dollars"`
}

// CommandIn is the command of one attempt.
type CommandIn struct {
	Name    string   `json:"name"`
	Run     string   `json:"run"`
	Node    string   `json:"node"`
	Item    int      `json:"item"`
	Attempt int      `json:"attempt"`
	Argv    []string `json:"argv"`
	Folder  string   `json:"folder,omitempty"`
	Network bool     `json:"network,omitempty"`
	Seconds int64    `json:"seconds"`
}

// CommandOut is how it ended.
type CommandOut struct {
	Exit  int    `json:"exit"`
	Out   string `json:"out"`
	Err   string `json:"err,omitempty" jsonschema:"the end of what it said of itself"`
	Ended bool   `json:"ended,omitempty" jsonschema:"its time was over"`
}

// PassIn is what a person is asked about at a gate.
type PassIn struct {
	Name    string         `json:"name"`
	Run     string         `json:"run"`
	Node    string         `json:"node"`
	Attempt int            `json:"attempt"`
	Text    string         `json:"text,omitempty" jsonschema:"what the definition says about it"`
	Shows   map[string]any `json:"shows" jsonschema:"what it is about"`
	Rework  string         `json:"rework,omitempty" jsonschema:"the node that gets the feedback, when it is sent back"`
	// Escalated says that nobody answered in time, and others may.
	Escalated bool `json:"escalated,omitempty" jsonschema:"nobody answered in time, and others may"`
}
