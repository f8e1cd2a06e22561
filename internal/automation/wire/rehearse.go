package wire

import "tandem/internal/op"

// Rehearse plays a run again with another definition.
const Rehearse = op.Def[RehearseIn, Rehearsal]("automation.rehearse")

// RehearseIn names a run, and the definition with which it is played again: the newest version when nothing is written.
type RehearseIn struct {
	ID         string `json:"id" jsonschema:"the run's id, run_…"`
	Digest     string `json:"digest,omitempty" jsonschema:"this version, or the beginning of its digest"`
	Definition string `json:"definition,omitempty" jsonschema:"this definition, as TOML, whether or not it is stored"`
}

// Rehearsal is what would become of a run with another definition, on the answers that were recorded.
type Rehearsal struct {
	Run     string          `json:"run"`
	Name    string          `json:"name"`
	Then    string          `json:"then" jsonschema:"digest of the definition by which it went"`
	Now     string          `json:"now" jsonschema:"digest of the definition with which it is rehearsed"`
	Was     string          `json:"was" jsonschema:"the run's status"`
	Status  string          `json:"status" jsonschema:"completed, failed, paused, or open where something has no answer"`
	Reason  string          `json:"reason,omitempty"`
	Same    bool            `json:"same" jsonschema:"every step ends as it ended then"`
	Missing []string        `json:"missing,omitempty" jsonschema:"steps that would be done now and have no recorded answer"`
	Gone    []string        `json:"gone,omitempty" jsonschema:"nodes that were done then and are no part of the definition any more"`
	Steps   []RehearsedStep `json:"steps"`
}

// RehearsedStep is a node or an item of a map, then and now.
type RehearsedStep struct {
	Node   string `json:"node"`
	Kind   string `json:"kind"`
	Item   int    `json:"item,omitempty" jsonschema:"of a map, from 1 on"`
	Then   string `json:"then,omitempty" jsonschema:"how it ended; left out where there was no such step"`
	Now    string `json:"now" jsonschema:"how it would end"`
	Answer string `json:"answer,omitempty" jsonschema:"recorded; none; or refused: what was recorded does not fit any more"`
	Reason string `json:"reason,omitempty" jsonschema:"why it would fail or be skipped"`
	Asked  string `json:"asked,omitempty" jsonschema:"what it would be told and given otherwise, as a diff: its recorded answer is one to another question"`
	Gives  string `json:"gives,omitempty" jsonschema:"what it would give otherwise, as a diff"`
}

// Differs reports whether there is anything to look at.
func (s RehearsedStep) Differs() bool {
	return s.Then != s.Now || s.Asked != "" || s.Gives != "" || s.Answer != "" && s.Answer != "recorded"
}
