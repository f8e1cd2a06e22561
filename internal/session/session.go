package session

import (
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"tandem/internal/fault"
	"tandem/internal/models"
	"tandem/internal/op"
	"tandem/internal/provider"
	"tandem/internal/provider/catalog"
	"tandem/internal/session/wire"
	"tandem/internal/tool"
)

// Session is an agent at work.
type Session struct {
	ID        string        `json:"id"`
	Tenant    string        `json:"-"`
	Title     string        `json:"title"`
	Directory string        `json:"directory,omitempty" jsonschema:"the working folder"`
	Driver    string        `json:"driver" jsonschema:"what makes it go: model"`
	Model     string        `json:"model" jsonschema:"provider/model"`
	Parent    string        `json:"parent,omitempty"`
	Mode      Mode          `json:"mode" jsonschema:"immediate, or plan: look and propose, change nothing"`
	Config    Config        `json:"config"`
	Todos     []Todo        `json:"todos,omitempty"`
	Owner     string        `json:"owner" jsonschema:"who opened it"`
	Archived  bool          `json:"archived,omitempty"`
	Reverted  string        `json:"reverted,omitempty" jsonschema:"the message from which on everything is taken back"`
	Confined  string        `json:"confined,omitempty" jsonschema:"what confines its commands: bwrap, landlock, seatbelt, none (they do not run) or unconfined; when one session is read"`
	Boundary  string        `json:"boundary,omitempty" jsonschema:"what is open to its commands in their sandbox; when one session is read"`
	Aside     []*wire.Aside `json:"aside,omitempty" jsonschema:"what was taken out of its folder and waits for a person; when one session is read"`
	State     string        `json:"state,omitempty" jsonschema:"of its newest turn: queued, running, waiting, done, failed or cancelled; idle without one; in a list"`
	Events    int64         `json:"events" jsonschema:"the number of its newest event"`
	CreatedAt time.Time     `json:"created_at"`
	UpdatedAt time.Time     `json:"updated_at"`

	chain    []string
	messages int64
	stored   stored
}

// Todo is an entry of the session's list.
type Todo = tool.Todo

// Mode says whether the agent may change things.
type Mode string

// The two modes.
const (
	Immediate Mode = "immediate"
	PlanMode  Mode = "plan"
)

// DriverModel is the driver of this build's own loop.
const DriverModel = "model"

// Config is how a session's turns run unless a prompt says otherwise.
type Config struct {
	System      string   `json:"system,omitempty" jsonschema:"text that is put before the conversation"`
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	MaxTokens   int      `json:"max_tokens,omitempty" jsonschema:"limit of one reply"`
	Effort      string   `json:"effort,omitempty" jsonschema:"reasoning: low, medium or high"`
	Tools       []string `json:"tools,omitempty" jsonschema:"only these tools are offered; * at the end matches the rest"`
	Fallback    []string `json:"fallback,omitempty" jsonschema:"models to try when the first one fails, as provider/model"`
	Budget      Budget   `json:"budget,omitzero"`
	Narrow      bool     `json:"narrow,omitempty" jsonschema:"it has what is named and nothing else: no tool that tools leaves out, no more of a granted folder than its own, and is told nothing that the team remembers"`
	Knowledge   []string `json:"knowledge,omitempty" jsonschema:"the knowledge spaces that it reads, and no others; what policy lets it when left out"`
	Cite        bool     `json:"cite,omitempty" jsonschema:"its answers cite items that it read, as [kno_…], or say only that it is not known here; otherwise it is asked once more, and then the turn fails"`
}

// Budget limits what a session may use up. Zero is no limit.
type Budget struct {
	Tokens  int64 `json:"tokens,omitempty"`
	Cents   int64 `json:"cents,omitempty" jsonschema:"hundredths of a US dollar"`
	Turns   int64 `json:"turns,omitempty"`
	Calls   int64 `json:"calls,omitempty" jsonschema:"calls of tools"`
	Seconds int64 `json:"seconds,omitempty" jsonschema:"time that turns run"`
}

// Used is what was used up.
type Used struct {
	Tokens  int64         `json:"tokens"`
	Cost    provider.Nano `json:"cost_nano_usd"`
	Turns   int64         `json:"turns"`
	Calls   int64         `json:"calls"`
	Seconds int64         `json:"seconds"`
}

// Limits of what callers send.
const (
	MaxTitle  = 200
	MaxPrompt = 1 << 20
	MaxQueue  = 100
	// MaxSessions is how many sessions a tenant keeps.
	MaxSessions = 50_000
)

// check refuses a session that could not work.
func (s *Session) check() error {
	bad := func(format string, args ...any) error { return fault.New(fault.Invalid, "session", format, args...) }
	if s.Title == "" {
		s.Title = "New session"
	}
	if len(s.Title) > MaxTitle || !utf8.ValidString(s.Title) || strings.ContainsAny(s.Title, "\n\r\x00") {
		return bad("a title is one line of at most %d bytes", MaxTitle)
	}
	if s.Directory != "" && !filepath.IsAbs(s.Directory) {
		return bad("directory should be an absolute path, not %q", s.Directory)
	}
	if s.Mode == "" {
		s.Mode = Immediate
	}
	if s.Mode != Immediate && s.Mode != PlanMode {
		return bad("mode is immediate or plan, not %q", s.Mode)
	}
	if s.Model == "" {
		s.Model = models.Default
	}
	for _, m := range append([]string{s.Model}, s.Config.Fallback...) {
		if _, _, ok := catalog.Split(m); !ok {
			return bad("%q should be provider/model", m).(*fault.Error).WithNext("list the models: tandem provider list")
		}
	}
	switch s.Config.Effort {
	case "", "low", "medium", "high":
	default:
		return bad("effort is low, medium or high, not %q", s.Config.Effort)
	}
	b := s.Config.Budget
	if min(b.Tokens, b.Cents, b.Turns, b.Calls, b.Seconds, int64(s.Config.MaxTokens)) < 0 {
		return bad("a budget cannot be negative")
	}
	return s.Config.checkBound()
}

// Caller is the session as an actor: itself, for whoever opened it.
func (s *Session) Caller() op.Caller {
	return op.Caller{Tenant: s.Tenant, Actor: s.ID, Name: s.ID, Kind: op.Session, For: s.chain, Session: s.ID, Door: op.DoorInside}
}

// At is the session as it works on a turn: on the words of whoever prompted it.
func (s *Session) At(t *Turn) op.Caller {
	c := s.Caller()
	if t != nil {
		c.Prompted = t.prompted
	}
	return c
}

// For is the session as it would work on a caller's words.
func (s *Session) For(by op.Caller) op.Caller {
	c := s.Caller()
	c.Prompted = s.prompted(nil, by)
	return c
}

// prompted adds a caller to those on whose words the session acts.
func (s *Session) prompted(already [][]string, by op.Caller) [][]string {
	return by.Prompts(already, s.Caller().Chain())
}

// DrivenBy refuses a session that would drive another one than it opened itself: what the other may do it need not, and its own
// budget and prompts are not its to set. Sessions that work together write to each other in a space.
func (s *Session) DrivenBy(c op.Caller) error {
	by := OpenerOf(c)
	if by == "" || s.ID != by && slices.Contains(s.chain, string(op.Session)+":"+by) {
		return nil
	}
	return fault.New(fault.Denied, "session", "a session drives only the sessions that it opened itself").
		WithNext("write to the other one in a space, or let a person do it")
}

// chainOf is the authority that a session of this caller works under.
func chainOf(c op.Caller) []string { return c.Chain() }
