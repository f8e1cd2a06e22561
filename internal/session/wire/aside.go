// Package wire is what operations of sessions take and answer, with their
// handles. It holds no service: doors and commands import it.
package wire

import (
	"time"

	"tandem/internal/op"
)

// The operations of what was set aside.
const (
	AsideList    = op.Def[AsideListIn, AsideListOut]("aside.list")
	AsideGet     = op.Def[AsideIn, *Aside]("aside.get")
	AsideKeep    = op.Def[AsideIn, *Aside]("aside.keep")
	AsideDiscard = op.Def[AsideIn, *Aside]("aside.discard")
)

// Aside is a file that appeared in a folder while an agent worked there, and that version control would have run or followed outside of the
// agent's box later. It was taken out of the folder; a person keeps or discards it.
type Aside struct {
	ID        string     `json:"id"`
	Session   string     `json:"session,omitempty" jsonschema:"in whose turn it was found"`
	Turn      string     `json:"turn,omitempty"`
	Folder    string     `json:"folder"`
	Path      string     `json:"path" jsonschema:"where it was, below the folder"`
	What      string     `json:"what" jsonschema:"what version control would have done with it, in words"`
	State     string     `json:"state" jsonschema:"pending, kept or discarded"`
	Size      int64      `json:"size"`
	File      string     `json:"file,omitempty" jsonschema:"where it lies now; empty when it is not kept"`
	Text      string     `json:"text,omitempty" jsonschema:"what is in it, when one is read"`
	CreatedAt time.Time  `json:"created_at"`
	DecidedBy string     `json:"decided_by,omitempty"`
	DecidedAt *time.Time `json:"decided_at,omitempty"`
}

// States of what was set aside.
const (
	AsidePending   = "pending"
	AsideKept      = "kept"
	AsideDiscarded = "discarded"
)

// AsideIn names one.
type AsideIn struct {
	ID string `json:"id" jsonschema:"its id, asd_…"`
}

// AsideListIn asks for what was set aside.
type AsideListIn struct {
	Session string `json:"session,omitempty" jsonschema:"only of this session"`
	All     bool   `json:"all,omitempty" jsonschema:"also what was kept or discarded"`
}

// AsideListOut lists what was set aside, newest first.
type AsideListOut struct {
	Aside []*Aside `json:"aside"`
}
