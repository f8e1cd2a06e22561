// Package wire is what the schedule's operations take and answer, with a handle for each. It holds no service: doors and commands
// import it.
package wire

import (
	"time"

	"tandem/internal/op"
)

// The operations.
const (
	Set    = op.Def[SetIn, Schedule]("schedule.set")
	List   = op.Def[struct{}, ListOut]("schedule.list")
	Remove = op.Def[KindIn, OK]("schedule.remove")
	Now    = op.Def[KindIn, Schedule]("schedule.now")
	Run    = op.Def[KindIn, RunOut]("schedule.run")
)

// Kind is what is done.
type Kind string

// The kinds: a copy of everything, and forgetting the payloads of old events.
const (
	Backup Kind = "backup"
	Forget Kind = "forget"
)

// Kinds are all of them.
var Kinds = []Kind{Backup, Forget}

// What says when something is done, and how.
type What struct {
	When      string `json:"when" jsonschema:"every day at 3:00, every 6h, or as cron writes it: 0 3 * * *"`
	Path      string `json:"path,omitempty" jsonschema:"of a backup: the folder for the copies; it is there already"`
	Recipient string `json:"recipient,omitempty" jsonschema:"of a backup: locks each copy to the identity of this recipient"`
	Unlocked  bool   `json:"unlocked,omitempty" jsonschema:"of a backup: copies are not locked; they hold the server's keys"`
	Repos     string `json:"repos,omitempty" jsonschema:"of a backup: content (the default) or reference"`
	Keep      int    `json:"keep,omitempty" jsonschema:"of a backup: how many copies stay"`
	OlderThan int64  `json:"older_than_hours,omitempty" jsonschema:"of forget: the age in hours from which on payloads are deleted"`
}

// SetIn sets a schedule, in place of the one that there was.
type SetIn struct {
	Kind Kind `json:"kind" jsonschema:"backup or forget"`
	What
}

// Schedule is one that is set, and what became of it.
type Schedule struct {
	Kind Kind `json:"kind"`
	What
	Grant    string    `json:"grant" jsonschema:"the grant under which the server does it; revoked, it is not done"`
	By       string    `json:"by"`
	MadeAt   time.Time `json:"made_at"`
	DoneAt   time.Time `json:"done_at,omitzero" jsonschema:"when what was last done began: a copy holds what was there then"`
	FailedAt time.Time `json:"failed_at,omitzero" jsonschema:"when it last failed, unless it was done since"`
	Failure  string    `json:"failure,omitempty"`
	AskedAt  time.Time `json:"asked_at,omitzero" jsonschema:"when a person last had it done at once"`
	Next     time.Time `json:"next,omitzero"`
}

// ListOut lists what is set.
type ListOut struct {
	Schedules []Schedule `json:"schedules"`
}

// KindIn names a schedule.
type KindIn struct {
	Kind Kind `json:"kind" jsonschema:"backup or forget"`
}

// RunOut says what was done.
type RunOut struct {
	Done string `json:"done"`
}

// OK is the answer when there is nothing else to say.
type OK struct {
	OK bool `json:"ok"`
}
