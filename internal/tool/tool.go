package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sort"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/tool/box"
)

// Tool is something that an agent can ask for.
type Tool interface {
	Spec() Spec
	// Plan reads the arguments and says what would happen. It changes nothing.
	Plan(env *Env, args json.RawMessage) (*Plan, error)
}

// Spec describes a tool to people, models and policy.
type Spec struct {
	Name string
	// Doc is the tool's page; the model reads it whole, people its first line.
	Doc    string
	Schema json.RawMessage
	// Right is what the caller needs on the plan's resource.
	Right string
	// Changes says that the tool acts on the world: its calls are recorded as intent and outcome, and never repeated.
	Changes bool
	// Passes says that its call only passes on: to operations that are decided one by one, or to its own session's list.
	Passes bool
	// Ready says whether there is anything behind the tool now; what is not ready is not offered. Nil is always.
	Ready func(env *Env) bool
}

// Plan is one exact call, ready to run.
type Plan struct {
	// Title is the call in a line, for cards and asks.
	Title    string
	Resource op.Resource
	Touch    op.Touch
	// Bind says what the call's names stand for now, for an approval to be bound to; nil where its arguments say it all.
	Bind func() ([]op.Bound, error)
	// Lasting says that Run goes on for a while with what the scope showed when it began: it is ended when that is taken back.
	Lasting bool
	// Run acts. emit gets output while it grows and may be nil.
	Run func(ctx context.Context, emit func(string)) (Result, error)
	// Recover is asked after a crash in the middle of Run: it completes the act, or says that it cannot know.
	Recover func(ctx context.Context) (Result, bool, error)
}

// Result is what the model gets.
type Result struct {
	Text  string `json:"text"`
	Error bool   `json:"error,omitempty"`
	// Meta is for people's eyes: a diff, an exit code, a count.
	Meta map[string]any `json:"meta,omitempty"`
}

// Changed lists the files that the call changed.
func (r Result) Changed() (paths []string) {
	if p, ok := r.Meta["path"].(string); ok {
		paths = append(paths, p)
	}
	switch list := r.Meta["paths"].(type) {
	case []string:
		paths = append(paths, list...)
	case []any: // read back from where it was stored
		for _, v := range list {
			if p, ok := v.(string); ok {
				paths = append(paths, p)
			}
		}
	}
	return paths
}

// Env is what a session lends to a call.
type Env struct {
	Session string
	Dir     string // the working folder, absolute
	Scope   *Scope
	// Before is told the content of a file that is about to change, so that the change can be taken back.
	Before func(ctx context.Context, path string, content []byte, existed bool) error
	// Kept is what Before was told of a file by this very call, in case a crash cut it off.
	Kept func(ctx context.Context, path string) (content []byte, existed, known bool, err error)
	// Todos keeps the session's list.
	Todos func(ctx context.Context, list []Todo) error
	// Delegate opens a child session for a task of this call, once however often it is asked, and names the child's turn.
	Delegate func(ctx context.Context, t Task) (turn string, err error)
	// Operations are tandem's own that the session may use; Operate runs one as the session, through the gate.
	Operations func(ctx context.Context) []Operation
	Operate    func(ctx context.Context, name string, input json.RawMessage) (any, error)
	// Secret lends a sealed value, "" when there is none.
	Secret func(name string) string
	// Starting is told of a command before it starts, with its box, nil without one: what it leaves behind is looked at when it has ended.
	Starting func(ctx context.Context, b *box.Box) error
	// Document is the text of a file that is no plain text, by the name that says its format; nil where nothing reads such files.
	Document func(ctx context.Context, name string, data []byte) (string, error)
	// Sandbox confines commands; Unconfined says that a person let this session's commands run without one.
	Sandbox    *Sandbox
	Unconfined bool
}

// Todo is one entry of a session's list.
type Todo struct {
	ID      string `json:"id"`
	Content string `json:"content" jsonschema:"what is to be done"`
	Status  string `json:"status" jsonschema:"pending, in_progress, completed or cancelled"`
}

// Waiting is returned by Run when a person has to say something first. The session parks the turn, and the answer
// becomes the call's result.
type Waiting struct{ Questions []Question }

// Error makes Waiting an error.
func (w *Waiting) Error() string { return "a person has to answer first" }

// Question is one thing that the agent asks its person.
type Question struct {
	Header   string   `json:"header,omitempty"`
	Question string   `json:"question"`
	Options  []Option `json:"options,omitempty"`
	Multiple bool     `json:"multiple,omitempty"`
}

// Option is one answer that is offered.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// Task is work that a session hands to a child of its own.
type Task struct {
	Title    string
	Prompt   string
	Tools    []string // only these of the parent's
	ReadOnly bool     // the child looks and reports
}

// Delegated is returned by Run when a child session does the work. The session parks the turn until the child's turn ends,
// and what the child said becomes the call's result.
type Delegated struct{ Turn string }

// Error makes Delegated an error.
func (d *Delegated) Error() string { return "a child session does this first" }

// Operation is one of tandem's own operations, as an agent reads of it.
type Operation struct {
	Name    string
	Tool    string // its name as an MCP tool, by which other texts may speak of it; "" when it is none
	Doc     string
	Schema  json.RawMessage
	Changes bool
}

// Registry is a set of tools by name.
type Registry struct{ byName map[string]Tool }

// NewRegistry collects tools. Two of one name are a mistake in the program.
func NewRegistry(tools ...Tool) (*Registry, error) {
	r := &Registry{byName: map[string]Tool{}}
	for _, t := range tools {
		n := t.Spec().Name
		if r.byName[n] != nil {
			return nil, fmt.Errorf("two tools are called %s", n)
		}
		r.byName[n] = t
	}
	return r, nil
}

// Get finds a tool, or nil.
func (r *Registry) Get(name string) Tool { return r.byName[name] }

// All lists the tools in alphabetical order, so that what the model sees is stable and its prefix can be cached.
func (r *Registry) All() []Tool {
	names := make([]string, 0, len(r.byName))
	for n := range r.byName {
		names = append(names, n)
	}
	sort.Strings(names)
	out := make([]Tool, len(names))
	for i, n := range names {
		out[i] = r.byName[n]
	}
	return out
}

// Decode reads a call's arguments into a struct and refuses fields that the tool does not have: the model is told, and
// can correct itself.
func Decode(name string, args json.RawMessage, into any) error {
	if len(args) > 0 && args[0] == '"' {
		return fault.New(fault.Invalid, name, "the arguments are not a JSON object")
	}
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fault.New(fault.Invalid, name, "the arguments do not fit: %s", op.Sentence(err))
	}
	return nil
}
