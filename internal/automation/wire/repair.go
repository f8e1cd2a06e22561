package wire

import "time"

// RepairIn says what a node of a run is told from now on. What is left out stays as it is.
type RepairIn struct {
	ID         string  `json:"id" jsonschema:"the run's id, run_…"`
	Node       string  `json:"node"`
	Prompt     *string `json:"prompt,omitempty" jsonschema:"of a turn"`
	System     *string `json:"system,omitempty" jsonschema:"of a turn: its own text"`
	Model      *string `json:"model,omitempty" jsonschema:"of a turn: the model; empty is the default one"`
	Definition string  `json:"definition,omitempty" jsonschema:"in place of these: a whole definition, as TOML, that differs in what this node is told"`
	Digest     string  `json:"digest,omitempty" jsonschema:"the repaired definition that was looked at, as automation_review names it"`
	Reason     string  `json:"reason,omitempty" jsonschema:"why, for those who look later"`
}

// Reviewed is what a node is told, and what a repair would change.
type Reviewed struct {
	Run     string `json:"run"`
	Node    string `json:"node"`
	Prompt  string `json:"prompt,omitempty"`
	System  string `json:"system,omitempty"`
	Model   string `json:"model,omitempty"`
	Words   string `json:"words" jsonschema:"all that the node is told now, line by line"`
	Changes string `json:"changes,omitempty" jsonschema:"what the repair would change, as a diff"`
	Digest  string `json:"digest,omitempty" jsonschema:"of the repaired definition; left out where nothing was asked for"`
}

// Repaired is a repair that was made.
type Repaired struct {
	Node    string    `json:"node"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
	Reason  string    `json:"reason,omitempty"`
	Changes string    `json:"changes" jsonschema:"as a diff"`
	Digest  string    `json:"digest" jsonschema:"of the definition by which the run goes from then on"`
}
