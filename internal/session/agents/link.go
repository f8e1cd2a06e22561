package agents

import (
	"context"
	"encoding/json"
)

// Link is a program that is spoken to through a server of its own, while its terminal shows the same conversation.
// Implementations: session/terminal/codex and session/terminal/opencode.
type Link interface {
	// Events tells what happens, in order. It is closed when the link is lost.
	Events() <-chan Event
	// Prompt starts a turn and returns the program's own name for it: the proof that it was taken.
	Prompt(ctx context.Context, p Prompt) (turn string, err error)
	// Find looks for a prompt that may have arrived, by the name that was given to it, or by its text where the program
	// keeps no names.
	Find(ctx context.Context, p Prompt) (turn string, found bool, err error)
	// Interrupt stops a turn. It ends with an event, as any other.
	Interrupt(ctx context.Context, turn string) error
	// Decide answers a permission.
	Decide(ctx context.Context, ask string, yes bool, why string) error
	// Answer answers a question, one answer for each part of it. None says that nobody will.
	Answer(ctx context.Context, ask string, answers []string) error
	Close()
}

// Prompt is what a turn begins with.
type Prompt struct {
	ID     string // ours
	Text   string
	Model  string // "" leaves it as it is
	Effort string
}

// Event is something that a program told.
type Event struct {
	Entry
	Conversation string
	Turn         string // the program's name for it
	Prompt       string // on Prompted: our name for it, when it was ours
	Version      string // on Moved

	// A permission (Asked) or a question (Questioned); Settled names it again when it has its answer.
	Ask       string
	Tool      string
	Input     json.RawMessage
	Questions []Question
	Always    bool // on Settled: the answer was meant for later calls, too
}

// Question is one part of what an agent asks.
type Question struct {
	Header   string
	Text     string
	Options  []Option
	Multiple bool
}

// Option is one answer that is offered.
type Option struct{ Label, Description string }

// Kinds of events beside those of a transcript.
const (
	Moved      EntryKind = "moved"      // the program is in this conversation now
	Working    EntryKind = "working"    // a turn runs
	Idle       EntryKind = "idle"       // nothing runs
	Retrying   EntryKind = "retrying"   // the model's provider failed for now
	Asked      EntryKind = "asked"      // may a tool be used?
	Questioned EntryKind = "questioned" // the agent asks something
	Settled    EntryKind = "settled"    // a permission or question has its answer
	Alive      EntryKind = "alive"      // something moves, for example a text that streams in
	Spent      EntryKind = "spent"      // tokens of one model call
)
