package wire

import (
	"time"

	"tandem/internal/op"
)

// The operations of schedules.
const (
	Ticks = op.Def[NameIn, TicksOut]("automation.ticks")
	Tick  = op.Def[TickIn, TickOut]("automation.tick") // the server alone calls it

	Notice = op.Def[NoticeIn, TickOut]("automation.notice") // the server alone calls it

	Look    = op.Def[TickIn, LookOut]("automation.look")       // the server alone calls it
	Changed = op.Def[ChangedIn, TickOut]("automation.changed") // the server alone calls it
)

// TicksOut lists what became of the moments at which an automation was due, newest first.
type TicksOut struct {
	Ticks []TickRow `json:"ticks"`
}

// TickRow is a moment that began a run, or those that did not and why.
type TickRow struct {
	Trigger string    `json:"trigger"`
	Due     time.Time `json:"due"`
	Last    time.Time `json:"last" jsonschema:"of several that were missed: the last"`
	Count   int       `json:"count"`
	Run     string    `json:"run,omitempty"`
	Why     string    `json:"why,omitempty" jsonschema:"why there was no run"`
	At      time.Time `json:"at"`
}

// TickIn names a schedule that is due.
type TickIn struct {
	Name    string `json:"name"`
	Trigger string `json:"trigger"`
}

// ChangedIn names what a trigger watches and found changed.
type ChangedIn struct {
	Name    string `json:"name"`
	Trigger string `json:"trigger"`
	Sum     string `json:"sum" jsonschema:"SHA-256 of how it stands"`
}

// TickOut says what was done about it.
type TickOut struct {
	Runs    []string `json:"runs,omitempty"`
	Skipped int      `json:"skipped,omitempty"`
}

// NoticeIn is an event of the journal that a trigger waits for.
type NoticeIn struct {
	Name     string `json:"name"`
	Trigger  string `json:"trigger"`
	Seq      int64  `json:"seq"`
	Type     string `json:"type"`
	Resource string `json:"resource,omitempty"`
	Actor    string `json:"actor,omitempty"`
}

// LookOut is how what a trigger watches stands.
type LookOut struct {
	State string `json:"state"`
}
