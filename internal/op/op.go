package op

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
)

// Class says what running an operation can change, and so what the gate
// records of it.
type Class string

// The five classes.
const (
	ClassRead   Class = "read"   // changes nothing; not journalled unless a rule says so
	ClassState  Class = "state"  // changes the database: the change and one event are one transaction
	ClassEffect Class = "effect" // changes the outside: intent, act, outcome
	ClassStream Class = "stream" // a plain handler that asks the gate once; its bytes are not events
	ClassCall   Class = "call"   // passes on to other operations, each decided and recorded by itself, or to whoever waits for it
)

// Resource is what an operation touches: a kind and a path of components
// ("/" is every resource of the kind).
type Resource struct {
	Kind string
	Path string
	// Called is the name by which it was looked up, where that is another than the path's.
	Called string
}

// NoSuch is the refusal of a name that is nobody's, or of what the caller may not see: nobody can tell the two apart.
func NoSuch(kind, name string) *fault.Error {
	return fault.New(fault.NotFound, kind, "there is no %s %.64q", kind, name).WithNext("see what there is: tandem %s list", kind)
}

func (r Resource) String() string { return r.Kind + ":" + r.Path }

// Spec is what people and doors need to know of an operation.
type Spec struct {
	Name    string   // "resource.put": noun, dot, verb
	Doc     string   // the first line is a sentence in the imperative; the rest is for those who read on
	Right   string   // "resource.write": looked up by policy
	Method  string   // HTTP method; "" keeps the operation off HTTP
	Path    string   // HTTP pattern of net/http, e.g. "/resource/{key...}"
	MCP     string   // tool name; "" means the name with dots as underscores, "-" keeps it off MCP
	Spare   bool     // over MCP another tool is the usual name for this: it answers, and is listed only for who asks for it
	Aliases []Alias  // names owed to older clients
	Present bool     // needs a person, present, now (deciding, granting, minting, unmasking, exporting)
	People  bool     // only for people and their own tools: no agent, session, service or MCP caller, whatever was granted
	Secret  []string // input fields that are never journalled nor logged, by JSON name
	Public  bool     // answers without authentication (health, icon)
	Alive   bool     // of what is public: answers also while the database does not, and waits for nothing of it
	Socket  bool     // only over a local socket, never over a network door
	Status  int      // HTTP status of success when it is not 200
	// what it is told and what it answers are sealed words: reasons of failures are not journalled, answers not kept for a repetition
	Sealed bool
	Once   bool // it takes or gives a credential that is written down nowhere: it is not repeated by an idempotency key
	Waits  bool // it lasts until somebody or something else comes: that it takes long says nothing
	Masked bool // a list whose handler leaves out, with May, what the caller may not see: anybody known may call it
}

// Alias is a name owed to an older client: an MCP tool or an HTTP route.
type Alias struct {
	MCP    string
	Method string
	Path   string
}

// Op is one row: a spec, the types, and the handler that only the gate calls.
type Op struct {
	Spec
	Class    Class
	In, Out  reflect.Type
	fields   []Field // of In
	resource func(ctx context.Context, in any) Resource
	read     func(ctx context.Context, in any) (any, error)
	state    func(ctx context.Context, tx *db.Tx, in any) (any, error)
	recover  func(ctx context.Context, in any) (out any, done bool, err error)
	touch    func(ctx context.Context, in any) *Touch
	bind     func(ctx context.Context, in any) ([]Bound, error)
	until    func(ctx context.Context, in any) (time.Time, error)
	plan     func(ctx context.Context, in any) any
	planned  func(in any) bool
}

// Read makes a row that changes nothing.
func Read[In, Out any](s Spec, resource func(In) Resource, run func(ctx context.Context, in In) (Out, error)) Op {
	o := row[In, Out](ClassRead, s, resource)
	o.read = func(ctx context.Context, in any) (any, error) { return run(ctx, in.(In)) }
	return o
}

// State makes a row that changes the database. run must touch nothing but tx:
// the gate adds the event to the same transaction, and may run it again.
func State[In, Out any](s Spec, resource func(In) Resource, run func(ctx context.Context, tx *db.Tx, in In) (Out, error)) Op {
	o := row[In, Out](ClassState, s, resource)
	o.state = func(ctx context.Context, tx *db.Tx, in any) (any, error) { return run(ctx, tx, in.(In)) }
	return o
}

// Effect makes a row that acts outside the database. The gate records the
// intent before run and the outcome after it. recover, when not nil, is asked
// after a crash between the two: it completes the act or says that it was done
// (done=true), or leaves the outcome unknown.
func Effect[In, Out any](s Spec, resource func(In) Resource, run func(ctx context.Context, in In) (Out, error),
	recover func(ctx context.Context, in In) (out Out, done bool, err error)) Op {
	o := row[In, Out](ClassEffect, s, resource)
	o.read = func(ctx context.Context, in any) (any, error) { return run(ctx, in.(In)) }
	if recover != nil {
		o.recover = func(ctx context.Context, in any) (any, bool, error) { return recover(ctx, in.(In)) }
	}
	return o
}

// Call makes a row that only passes on: to other operations, which the gate
// decides and records one by one, or to a program that waits for it. It writes
// nothing itself, and nobody may take it for a look: it changes what they change.
func Call[In, Out any](s Spec, resource func(In) Resource, run func(ctx context.Context, in In) (Out, error)) Op {
	o := row[In, Out](ClassCall, s, resource)
	o.read = func(ctx context.Context, in any) (any, error) { return run(ctx, in.(In)) }
	return o
}

// Stream makes a row for a handler of its own (an event stream, a terminal).
// The gate admits the caller; admit may look at the input and refuse.
func Stream[In any](s Spec, resource func(In) Resource, admit func(ctx context.Context, in In) error) Op {
	o := row[In, struct{}](ClassStream, s, resource)
	o.read = func(ctx context.Context, in any) (any, error) {
		if admit == nil {
			return struct{}{}, nil
		}
		return struct{}{}, admit(ctx, in.(In))
	}
	return o
}

func row[In, Out any](c Class, s Spec, resource func(In) Resource) Op {
	o := Op{Spec: s, Class: c, In: reflect.TypeFor[In](), Out: reflect.TypeFor[Out]()}
	collectFields(o.In, &o.fields)
	if resource != nil {
		o.resource = func(_ context.Context, in any) Resource { return resource(in.(In)) }
	}
	return o
}

// At is the same row, whose resource is found by who calls, too: a name that one tenant gave means nothing in another, and a
// caller's own place need not be said.
func (o Op) At(resource func(ctx context.Context, in any) Resource) Op {
	o.resource = resource
	return o
}

// Changes reports whether running the operation can change anything, by itself
// or by what it passes on to. Hints, plan mode, the tool called tandem and the
// description of the API all ask this and nothing else.
func (o *Op) Changes() bool {
	switch o.Class {
	case ClassRead:
		return false
	case ClassStream:
		return o.Method != "GET" // whoever speaks into it does more than listen
	}
	return true
}

// ToolName is the operation's name over MCP, "" when it has none.
func (o *Op) ToolName() string {
	switch o.MCP {
	case "-":
		return ""
	case "":
		if o.Class == ClassStream || o.Public {
			return ""
		}
		b := []byte(o.Name)
		for i := range b {
			if b[i] == '.' {
				b[i] = '_'
			}
		}
		return string(b)
	}
	return o.MCP
}

// Resource is what this call would touch.
func (o *Op) Resource(ctx context.Context, in any) Resource { return o.resource(ctx, in) }

// RunRead runs the handler of a read, an effect, a stream or a call. Only the gate calls it.
func (o *Op) RunRead(ctx context.Context, in any) (any, error) { return o.read(ctx, in) }

// RunState runs a state handler in the gate's transaction.
func (o *Op) RunState(ctx context.Context, tx *db.Tx, in any) (any, error) {
	return o.state(ctx, tx, in)
}

// Recover asks the room about an effect whose outcome was lost in a crash.
func (o *Op) Recover(ctx context.Context, in any) (out any, done bool, err error) {
	if o.recover == nil {
		return nil, false, nil
	}
	return o.recover(ctx, in)
}

// Checked is an input that can tell by itself that it makes no sense. The gate
// asks it before anybody is asked to approve it.
type Checked interface{ Check() error }

// Decode reads JSON into a value of the operation's input type. Unknown
// fields are refused, for a misspelt argument must not be ignored, and so are
// missing ones.
func (o *Op) Decode(data []byte) (any, error) {
	p := reflect.New(o.In)
	if len(data) == 0 {
		data = []byte("{}")
	}
	if err := strictUnmarshal(data, p.Interface(), o.fields); err != nil {
		return nil, err
	}
	if err := o.complete(data); err != nil {
		return nil, err
	}
	return p.Elem().Interface(), nil
}

func (o *Op) complete(data []byte) error {
	if !slices.ContainsFunc(o.fields, func(f Field) bool { return f.Required }) {
		return nil
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(data, &given) != nil {
		return nil // not an object: a type of its own reads it
	}
	for _, f := range o.fields {
		if _, ok := given[f.Name]; !ok && f.Required {
			return fault.New(fault.Invalid, o.Name, "%q is missing", f.Name)
		}
	}
	return nil
}

// Redacted is the input as it may be recorded: the fields named in Secret are
// replaced.
func (o *Op) Redacted(in any) (json.RawMessage, error) {
	data, err := json.Marshal(in)
	if err != nil || len(o.Secret) == 0 {
		return data, err
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("redact %s: %w", o.Name, err)
	}
	for _, f := range o.Secret {
		if _, ok := m[f]; ok {
			m[f] = json.RawMessage(`"[redacted]"`)
		}
	}
	return json.Marshal(m)
}

// Invoker runs an operation by name: the gate in this process, or a client of
// another one.
type Invoker interface {
	Invoke(ctx context.Context, name string, in any) (any, error)
}
