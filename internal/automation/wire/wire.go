// Package wire is what the operations of automations take and answer, with a handle for each. It holds no service: doors and commands
// import it.
package wire

import (
	"time"

	"tandem/internal/op"
)

// The operations of definitions.
const (
	Add    = op.Def[AddIn, *Automation]("automation.add")
	List   = op.Def[struct{}, ListOut]("automation.list")
	Show   = op.Def[ShowIn, *Version]("automation.show")
	On     = op.Def[OnIn, *Automation]("automation.on")
	Off    = op.Def[NameIn, *Automation]("automation.off")
	Remove = op.Def[NameIn, OK]("automation.remove")
)

// AddIn stores a definition. It begins nothing: a person switches it on.
type AddIn struct {
	Text string `json:"text" jsonschema:"the definition, as TOML"`
}

// NameIn names an automation.
type NameIn struct {
	Name string `json:"name"`
}

// ShowIn asks for one version.
type ShowIn struct {
	Name   string `json:"name"`
	Digest string `json:"digest,omitempty" jsonschema:"the version, or the beginning of its digest; the newest when left out"`
}

// OnIn switches a version on. It is the one that the person looked at.
type OnIn struct {
	Name   string `json:"name"`
	Digest string `json:"digest" jsonschema:"the version that was looked at, by its whole digest"`
}

// Automation is a definition with what became of it.
type Automation struct {
	Name       string    `json:"name"`
	Title      string    `json:"title,omitempty"`
	On         bool      `json:"on"`
	Latest     string    `json:"latest" jsonschema:"digest of the newest version"`
	Live       string    `json:"live,omitempty" jsonschema:"digest of the version that is switched on"`
	Actor      string    `json:"actor,omitempty" jsonschema:"the actor that it acts as"`
	Triggers   []string  `json:"triggers,omitempty" jsonschema:"what begins runs, in words"`
	MadeBy     string    `json:"made_by"`
	MadeAt     time.Time `json:"made_at"`
	SwitchedBy string    `json:"switched_by,omitempty"`
	SwitchedAt time.Time `json:"switched_at,omitzero"`
	Open       int       `json:"open" jsonschema:"runs that have not ended"`
}

// ListOut lists automations.
type ListOut struct {
	Automations []*Automation `json:"automations"`
}

// Version is one frozen definition.
type Version struct {
	Automation
	Digest     string    `json:"digest"`
	Text       string    `json:"text" jsonschema:"the definition, as it was written"`
	Changes    string    `json:"changes,omitempty" jsonschema:"what it changes against the version that is switched on, as a diff"`
	May        []May     `json:"may" jsonschema:"what it may do when it is switched on"`
	Unbuilt    []string  `json:"unbuilt,omitempty" jsonschema:"what it asks for and this server cannot do: it cannot be switched on"`
	Shape      []Shape   `json:"shape" jsonschema:"its nodes, and which come before each"`
	Ungranted  []string  `json:"ungranted,omitempty" jsonschema:"folders in which nothing of it works until a person grants them"`
	AddedBy    string    `json:"added_by"`
	AddedAt    time.Time `json:"added_at"`
	ApprovedBy string    `json:"approved_by,omitempty" jsonschema:"who switched this version on first"`
}

// Shape is a node in the picture of a definition.
type Shape struct {
	Node  string   `json:"node"`
	Kind  string   `json:"kind"`
	After []string `json:"after,omitempty"`
}

// May is one thing that an automation may do.
type May struct {
	Node string `json:"node"`
	Kind string `json:"kind"`
	What string `json:"what"`
}

// OK is the answer when there is nothing else to say.
type OK struct {
	OK bool `json:"ok"`
}
