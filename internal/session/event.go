package session

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/provider"
)

// The types of events. Their bodies are the structs below and the types of this package.
const (
	EventSession  = "session.changed"  // Session
	EventTurn     = "turn.changed"     // Turn
	EventMessage  = "message.added"    // Message
	EventPart     = "part.started"     // Part
	EventPartEnd  = "part.ended"       // PartEnd
	EventCall     = "call.changed"     // Call
	EventOutput   = "call.output"      // Part
	EventTodos    = "todo.changed"     // []Todo
	EventQuestion = "question.changed" // Question
	EventRetry    = "model.retry"      // Retry
	EventReverted = "session.reverted" // Reverted
	EventAside    = "aside.found"      // []wire.Aside
	EventDelta    = "part.delta"       // only in streams: a piece of the open part
)

// Event is something that happened in a session.
type Event struct {
	Seq    int64           `json:"seq"`
	Offset int             `json:"offset,omitempty"` // of a delta: how much of the part was told with it
	Turn   string          `json:"turn,omitempty"`
	Type   string          `json:"type"`
	Body   json.RawMessage `json:"body,omitempty"`
	Delta  string          `json:"delta,omitempty"`
	At     time.Time       `json:"at"`
}

// Place is where a reader stands behind this event.
func (e Event) Place() Place { return Place{e.Seq, e.Offset} }

// Part begins a piece of a reply that streams in: text or reasoning of a message, or the output of a call.
type Part struct {
	ID      string        `json:"id"`
	Message string        `json:"message"`
	Kind    provider.Kind `json:"kind"`
	Call    string        `json:"call,omitempty"`
}

// PartEnd closes a part: its whole text, and the SHA-256 of it.
type PartEnd struct {
	Part
	Text string `json:"text"`
	Hash string `json:"sha256"`
	Cut  bool   `json:"cut,omitempty" jsonschema:"the stream broke: the text is what had arrived, and is not in any message"`
}

// Retry tells that a model call failed and will be tried again.
type Retry struct {
	Failure string  `json:"failure"`
	Reason  string  `json:"reason"`
	Attempt int64   `json:"attempt"`
	Seconds float64 `json:"seconds"`
	Model   string  `json:"model"`
}

// Place is a reader's place in a session's events: behind an event, and so many bytes into the part that it began.
type Place struct {
	Seq    int64
	Offset int
}

// String writes seq or seq.offset.
func (p Place) String() string {
	if p.Offset == 0 {
		return strconv.FormatInt(p.Seq, 10)
	}
	return fmt.Sprintf("%d.%d", p.Seq, p.Offset)
}

// ParsePlace reads what String writes; an empty text is the beginning.
func ParsePlace(s string) (Place, error) {
	if s == "" {
		return Place{}, nil
	}
	a, b, has := strings.Cut(s, ".")
	seq, err := strconv.ParseInt(a, 10, 64)
	off := 0
	if err == nil && has {
		off, err = strconv.Atoi(b)
	}
	if err != nil || seq < 0 || off < 0 {
		return Place{}, fault.New(fault.Invalid, "session.events",
			"%.40q is not a place in a session's events: it should be seq or seq.offset", s)
	}
	return Place{seq, off}, nil
}
