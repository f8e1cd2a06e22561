// Package wire is what the inbox's operation takes and answers, with its
// handle. It holds no service: doors and commands import it.
package wire

import (
	"time"

	"tandem/internal/op"
)

// List is everything that needs a person.
const List = op.Def[In, Out]("inbox.list")

// Kind says what a row is about.
type Kind string

// The kinds, those first that keep an agent from going on.
const (
	Ask       Kind = "ask"
	Question  Kind = "question"
	Dialog    Kind = "dialog"
	Crashed   Kind = "crashed"
	Limited   Kind = "rate-limited"
	Parked    Kind = "parked"
	Push      Kind = "push"
	Connector Kind = "connector"
	Aside     Kind = "aside"     // a file that version control would have run outside of a sandbox
	Recovery  Kind = "recovery"  // root of the machine began to replace the PIN
	Run       Kind = "run"       // of an automation: it does not go on until somebody looks at it
	Job       Kind = "job"       // its work waits for somebody to look at it
	Team      Kind = "team"      // its plan waits for somebody, or it cannot go on by itself
	Memory    Kind = "memory"    // agents propose to remember something, which a person lets be true
	Knowledge Kind = "knowledge" // items of a knowledge space wait for one of its owners to read them
	Schedule  Kind = "schedule"  // what the server should do by itself, and failed to
	Server    Kind = "server"    // another server of the cluster is gone, and nobody stopped it
	Mail      Kind = "mail"
	Ended     Kind = "ended" // what is over with a reason: an ask nobody can answer, a turn or run that failed, a turn that a denial ended
)

// Kinds are all of them, in the order in which they are listed.
var Kinds = []Kind{Ask, Question, Dialog, Crashed, Limited, Parked, Push, Connector, Aside, Recovery, Run, Job, Team, Memory,
	Knowledge, Schedule, Server, Mail, Ended}

// Waits says that somebody has to do something; the other kinds only tell.
func (k Kind) Waits() bool { return k != Mail && k != Ended }

// Row is one thing that needs a person.
type Row struct {
	Kind    Kind      `json:"kind" jsonschema:"ask, question, dialog, crashed, rate-limited, parked, push, connector, aside, recovery, run, job, team, memory, knowledge, schedule, mail or ended"`
	ID      string    `json:"id" jsonschema:"what is answered: an ask, a question, a session, a relay, an event, a connector, a recovery, a run, a job, a team, a schedule, a space"`
	Name    string    `json:"name" jsonschema:"whose it is, as people call it"`
	Session string    `json:"session,omitempty" jsonschema:"the session's id"`
	What    string    `json:"what" jsonschema:"in a line: the command, the question, the reason"`
	Options []string  `json:"options,omitempty" jsonschema:"of a question: what can be chosen"`
	Since   time.Time `json:"since,omitzero"`
	Next    string    `json:"next" jsonschema:"the command with which a person answers"`
	Page    string    `json:"page" jsonschema:"of the panel, where a person answers"`
	Link    string    `json:"link,omitempty" jsonschema:"the same with the panel's address"`
	Alike   string    `json:"alike,omitempty" jsonschema:"rows with the same word can be answered at once"`
}

// In asks for the inbox.
type In struct {
	Kind Kind `json:"kind,omitempty" jsonschema:"only rows of this kind"`
}

// Out is everything that needs a person.
type Out struct {
	Rows    []Row    `json:"rows"`
	Count   int      `json:"count" jsonschema:"of those that wait for somebody; what only tells is not counted"`
	Looking int      `json:"looking,omitempty" jsonschema:"sessions that were not looked at since the server started: something may wait in them that is not here yet"`
	Missing []string `json:"missing,omitempty" jsonschema:"what could not be looked at, with the reason: its rows are not here"`
}
