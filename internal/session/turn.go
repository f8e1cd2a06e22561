package session

import (
	"encoding/json"
	"time"

	"tandem/internal/fault"
	"tandem/internal/provider"
	"tandem/internal/tool"
)

// TurnState is where a turn stands; see the package comment.
type TurnState string

// The states of a turn.
const (
	Queued    TurnState = "queued"
	Running   TurnState = "running"
	Waiting   TurnState = "waiting"
	Done      TurnState = "done"
	Failed    TurnState = "failed"
	Cancelled TurnState = "cancelled"
)

// Ended says whether nothing will happen any more.
func (s TurnState) Ended() bool { return s == Done || s == Failed || s == Cancelled }

// open refuses what would happen to a turn that has ended.
func (t *Turn) open() error {
	if t.State.Ended() {
		return fault.New(fault.Conflict, "session.turn", "the turn has ended already: %s", t.State)
	}
	return nil
}

// Turn is one prompt until the agent is idle again.
type Turn struct {
	ID        string         `json:"id"`
	Tenant    string         `json:"-"`
	Server    string         `json:"-"` // that runs it, or ran it last
	Session   string         `json:"session"`
	State     TurnState      `json:"state"`
	Reason    string         `json:"reason,omitempty" jsonschema:"why it failed, waits or was cancelled"`
	Cause     Cause          `json:"cause,omitempty" jsonschema:"what ended it, where that has a name: circling, when its agent made the same calls again and again"`
	Ask       string         `json:"ask,omitempty" jsonschema:"the approval or question that it waits for"`
	Awaits    Awaited        `json:"awaits,omitempty" jsonschema:"what it waits for: approval, question or task (of a child session)"`
	Options   Options        `json:"options,omitzero"`
	Asker     string         `json:"asker"`
	Steps     int64          `json:"steps" jsonschema:"model calls that were answered"`
	Calls     int64          `json:"calls" jsonschema:"calls of tools"`
	Usage     provider.Usage `json:"usage"`
	Cost      provider.Nano  `json:"cost_nano_usd"`
	CreatedAt time.Time      `json:"created_at"`
	StartedAt *time.Time     `json:"started_at,omitempty"`
	EndedAt   *time.Time     `json:"ended_at,omitempty"`

	// Attempts counts model calls that cost something, answered or not.
	Attempts int64 `json:"-"`
	Cancel   bool  `json:"-"`
	// ran is how long it ran until it last stopped to wait, since when it runs now.
	ran   time.Duration
	since time.Time

	// prompt waits here until the turn starts: the conversation must not hold what comes later.
	prompt []provider.Block
	// prompted are those on whose words it runs, each with whom it acts for; none where the session acts for them anyway.
	prompted [][]string
	words    words
}

// clock keeps count of the time in which the turn runs: waiting for a person is not running.
func (t *Turn) clock(now time.Time) {
	switch running := t.State == Running; {
	case running && t.since.IsZero():
		t.since = now
	case !running && !t.since.IsZero():
		t.ran, t.since = t.ran+max(now.Sub(t.since), 0), time.Time{}
	}
}

// Ran is how long the turn has run until now.
func (t *Turn) Ran(now time.Time) time.Duration {
	if t.since.IsZero() {
		return t.ran
	}
	return t.ran + max(now.Sub(t.since), 0)
}

// Options are what one prompt may say differently from its session.
type Options struct {
	Model       string   `json:"model,omitempty" jsonschema:"provider/model for this turn"`
	Mode        Mode     `json:"mode,omitempty" jsonschema:"immediate or plan, for this turn"`
	ToolChoice  string   `json:"tool_choice,omitempty" jsonschema:"auto, none or required"`
	Tools       []string `json:"tools,omitempty" jsonschema:"only these tools are offered in this turn"`
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	MaxTokens   int      `json:"max_tokens,omitempty"`
	Effort      string   `json:"effort,omitempty"`
	Cite        bool     `json:"cite,omitempty" jsonschema:"the answer cites items of knowledge spaces that were read, or says only that it is not known here"`
}

// Role says who speaks in a stored message.
type Role string

// The speakers. Results of tools are messages of their own.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is a stored contribution to the conversation.
type Message struct {
	ID        string           `json:"id"`
	Seq       int64            `json:"seq"`
	Turn      string           `json:"turn,omitempty"`
	Role      Role             `json:"role"`
	Blocks    []provider.Block `json:"blocks"`
	Model     string           `json:"model,omitempty"`
	CreatedAt time.Time        `json:"created_at"`
}

// Neutral is the message as a provider gets it.
func (m *Message) Neutral() provider.Message {
	role := provider.User
	if m.Role == RoleAssistant {
		role = provider.Assistant
	}
	return provider.Message{Role: role, Blocks: m.Blocks}
}

// CallState is where a tool's call stands; see the package comment.
type CallState string

// The states of a call.
const (
	CallProposed CallState = "proposed"
	CallAsking   CallState = "asking"
	CallRunning  CallState = "running"
	CallDone     CallState = "done"
	CallFailed   CallState = "failed"
)

// Ended says whether the call has its result.
func (s CallState) Ended() bool { return s == CallDone || s == CallFailed }

// Call is one wish of the model to use a tool.
type Call struct {
	ID        string          `json:"id"`
	Tenant    string          `json:"-"`
	Session   string          `json:"session"`
	Turn      string          `json:"turn"`
	Position  int64           `json:"position"`
	Ref       string          `json:"ref" jsonschema:"the model's own name for it"`
	Tool      string          `json:"tool"`
	Args      json.RawMessage `json:"args"`
	Title     string          `json:"title,omitempty"`
	State     CallState       `json:"state"`
	Ask       string          `json:"ask,omitempty"`
	Awaits    Awaited         `json:"awaits,omitempty" jsonschema:"what it waits for: approval, question or task (of a child session)"`
	Result    *tool.Result    `json:"result,omitempty"`
	CreatedAt time.Time       `json:"created_at"`
	EndedAt   *time.Time      `json:"ended_at,omitempty"`
}

// The states of a question.
const (
	QuestionPending   = "pending"
	QuestionAnswered  = "answered"
	QuestionRejected  = "rejected"
	QuestionWithdrawn = "withdrawn" // nobody waits for an answer any more: its turn ended, or it was answered at the agent's own dialog
)

// Question is something that an agent asked and a person has to answer.
type Question struct {
	ID        string          `json:"id"`
	Session   string          `json:"session"`
	Called    string          `json:"called,omitempty" jsonschema:"the session's name; in a list"`
	Turn      string          `json:"turn"`
	Call      string          `json:"call"`
	Questions []tool.Question `json:"questions"`
	State     string          `json:"state" jsonschema:"pending, answered, rejected or withdrawn"`
	Answer    string          `json:"answer,omitempty"`
	Answers   []string        `json:"answers,omitempty" jsonschema:"one for each of the questions, in their order"`
	CreatedAt time.Time       `json:"created_at"`
}
