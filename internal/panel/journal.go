package panel

import (
	"strconv"
	"time"

	"tandem/internal/panel/ui"
)

// EventRow is an entry of the journal in a list.
type EventRow struct {
	Seq      int64
	At       time.Time
	Kind     string // what happened, as noun.verb
	Actor    string
	ActKind  string // person, agent, session, service
	Resource string
	Outcome  string // done, intended, failed, denied, unknown
	Summary  string
}

// JournalView is the journal with what it was searched for.
type JournalView struct {
	Now   time.Time
	Query string
	Actor string
	Kind  string
	Kinds []string // that can be chosen
	Rows  []EventRow
	Size  int64
	Older string // address of the next page, or empty
	Newer string
}

// EntryView is one entry whole.
type EntryView struct {
	EventRow
	Chain   []string
	Door    string // by which door it came: panel, cli, http, mcp
	Request string
	Payload string // as JSON; empty when retention has deleted it
	Gone    bool   // the payload was deleted, its hash remains
	Leaf    string // hash of the record
	Body    string // salted hash of the payload
	AskID   string // the ask that allowed it
	Prev    int64
	Next    int64
}

// ProofView shows that an entry is in the journal, to anybody.
type ProofView struct {
	EventRow
	Leaf       string
	Size       int64 // of the tree that the proof leads to
	Root       string
	Path       []string // sibling hashes, from the leaf up
	Checkpoint string   // the signed note
	KeyName    string
	PublicKey  string
	Receipt    string // address of the receipt file
	Checked    bool   // verified while rendering
	Problem    string
}

func journalHref(seq int64) string { return "/panel/journal/" + strconv.FormatInt(seq, 10) }

func (v JournalView) kinds() []ui.Option {
	out := []ui.Option{{Value: "", Label: "Everything"}}
	for _, k := range v.Kinds {
		out = append(out, ui.Option{Value: k, Label: k, Chosen: k == v.Kind})
	}
	return out
}

func (v JournalView) searched() bool { return v.Query != "" || v.Actor != "" || v.Kind != "" }

func outcomeTone(outcome string) ui.Tone {
	switch outcome {
	case "done":
		return ui.Good
	case "failed", "denied":
		return ui.Bad
	case "unknown", "pending":
		return ui.Warn
	}
	return ui.Quiet
}

func kindTone(kind string) ui.Tone {
	switch kind {
	case "person":
		return ui.Good
	case "agent", "session":
		return ui.Info
	}
	return ui.Quiet
}

func seqText(n int64) string { return "#" + ui.Count(n) }
