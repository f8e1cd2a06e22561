package op

import (
	"context"
	"slices"
	"time"

	"tandem/internal/db"
)

// Kind says what sort of actor calls.
type Kind string

// The kinds of actor.
const (
	Person  Kind = "person"
	Agent   Kind = "agent"
	Session Kind = "session"
	Service Kind = "service"
	Local   Kind = "local" // a user's program, a person or not: this machine's on the control socket, a person's elsewhere by its login
)

// Words say what a kind is, for errors: "local" means nothing to somebody who reads it for the first time.
func (k Kind) Words() string {
	switch k {
	case Person:
		return "a person"
	case Agent:
		return "an agent"
	case Session:
		return "the session of an agent"
	case Service:
		return "a service"
	case Local:
		return "the name of commands on a terminal, which any program of this user can type"
	}
	return "nobody that is known"
}

// Door says by which wire a call came.
type Door string

// The doors.
const (
	DoorSocket Door = "socket" // the control socket or a session's own
	DoorHTTP   Door = "http"
	DoorPanel  Door = "panel"
	DoorMCP    Door = "mcp"
	DoorInside Door = "inside" // tandem itself: a loop's tool call, a timer
)

// Caller is who acts, for whom, how they proved it, and by which door. The
// zero Caller is a stranger and is refused everywhere.
type Caller struct {
	Tenant string   `json:"tenant"`
	Actor  string   `json:"actor"` // actor id, "" for a stranger
	Name   string   `json:"name"`  // as people know it
	Kind   Kind     `json:"kind"`
	For    []string `json:"for,omitempty"` // on whose behalf, as kind:name, nearest first
	Via    string   `json:"via,omitempty"` // actor id of whoever proved to be there, when the actor is an agent at work for it
	// Prompted are those whose words it acts on, each with whom that one acts for: what is denied to one of them is not done for it.
	Prompted [][]string `json:"prompted,omitempty"`
	Present  string     `json:"present,omitempty"`
	Device   string     `json:"-"`                 // id of the device that answered for a person who is elsewhere
	Token    string     `json:"token,omitempty"`   // id of the credential, never the credential
	Session  string     `json:"session,omitempty"` // when the actor is a session
	Door     Door       `json:"door"`
	Client   Client     `json:"client,omitzero"`
	Request  string     `json:"request"` // request id
	Scope    []string   `json:"scope,omitempty"`
	// Narrow is what the assertion that let it in narrows it to, as text; its chain names it. See Narrowings.
	Narrow string `json:"-"`
	// Decides is set for a credential that a present person minted for deciding.
	Decides bool `json:"decides,omitempty"`
	// Recovers says by what the caller may replace a forgotten PIN, and nothing else: the id of a recovery code, or root.
	Recovers string `json:"-"`
	// Source is where somebody comes from whom nobody knows yet: the tunnel, or an address. No request says it of itself.
	Source string `json:"-"`
	// Since is when a door let the caller in.
	Since time.Time `json:"-"`
	// Until is when what let the caller in ends by itself, as a signed assertion does; zero where a row says so.
	Until time.Time `json:"-"`
	// Idempotency is the caller's key for this one call.
	Idempotency string `json:"-"`
}

// MaxKey is the longest idempotency key that is kept.
const MaxKey = 200

// Client is a program of this machine that speaks for the actor, as it
// describes itself over a local socket. It is a description, never a
// credential: two programs of one actor are told apart by it.
type Client struct {
	ID     string `json:"id,omitempty"`     // process id, dot, chance
	Folder string `json:"folder,omitempty"` // where it runs
	Agent  string `json:"agent,omitempty"`  // what it calls itself
	Model  string `json:"model,omitempty"`  // the model that works in it
}

// As is an agent at work for a caller: it may do what both may, and no more. Without a name it is whoever calls over MCP.
type As func(ctx context.Context, c Caller, name string) (Caller, error)

// aMoment is how long a door's word about a caller is taken as it stands: the rest of a request may come hours later.
const aMoment = time.Second

// Aged reports whether a while has passed since a door let the caller in, so that what let it in may have ended.
func (c Caller) Aged() bool { return !c.Since.IsZero() && time.Since(c.Since) > aMoment }

// Known reports whether the caller is anybody.
func (c Caller) Known() bool { return c.Actor != "" && c.Tenant != "" }

// Here reports whether a program of this machine's own user calls, and not the terminal of a person elsewhere.
func (c Caller) Here() bool { return c.Kind == Local && c.Token == "" }

// Whence is whose limits a call counts for: the credential's; without one those of where it comes from.
func (c Caller) Whence() string {
	for _, s := range []string{c.Source, c.Token} {
		if s != "" {
			return s
		}
	}
	return c.Actor
}

// Chain is the caller and whom it acts for, as kind:name, nearest first.
func (c Caller) Chain() []string { return append([]string{string(c.Kind) + ":" + c.Name}, c.For...) }

// Prompts adds the caller to those on whose words somebody acts that works for chain already, and those on whose words the caller acts
// itself. Who is in that chain is bound by more than its denials, and is not added.
func (c Caller) Prompts(already [][]string, chain []string) [][]string {
	for _, p := range append([][]string{c.Chain()}, c.Prompted...) {
		own := !slices.ContainsFunc(p, func(who string) bool { return !slices.Contains(chain, who) })
		known := slices.ContainsFunc(already, func(q []string) bool { return slices.Equal(p, q) })
		if !own && !known {
			already = append(slices.Clip(already), p)
		}
	}
	return already
}

type callerKey struct{}
type mayKey struct{}
type noteKey struct{}

// WithCaller puts the caller into a context.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerFrom is the caller of this context; the zero Caller when there is none.
func CallerFrom(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// WithMay gives a context the caller's view of what they may do. The gate sets
// it; rooms ask it with May.
func WithMay(ctx context.Context, may func(right string, r Resource) bool) context.Context {
	return context.WithValue(ctx, mayKey{}, may)
}

// May reports whether the caller of ctx may do right to r. Rooms use it to
// leave out of lists what the caller may not see. Without a gate the answer is
// no.
func May(ctx context.Context, right string, r Resource) bool {
	may, _ := ctx.Value(mayKey{}).(func(string, Resource) bool)
	return may != nil && may(right, r)
}

// WithAllowed gives a context what the caller is allowed without an ask. The gate
// sets it; rooms ask it with Allowed.
func WithAllowed(ctx context.Context, allowed func(right string, r Resource) bool) context.Context {
	return context.WithValue(ctx, allowedKey{}, allowed)
}

// Allowed reports whether the caller of ctx is allowed to do right to r as it is:
// what would have to be asked for is not. Rooms use it where one call does several
// things, each of which is somebody's to allow. Without a gate the answer is no.
func Allowed(ctx context.Context, right string, r Resource) bool {
	allowed, _ := ctx.Value(allowedKey{}).(func(string, Resource) bool)
	return allowed != nil && allowed(right, r)
}

type allowedKey struct{}

// Notes are facts that a handler adds to the event of its call.
type Notes struct {
	Facts map[string]any
	Seals map[string][]string

	// Ends says that the gate will record an outcome, and Along what is written together with it.
	Ends  bool
	Along []func(*db.Tx) error
}

// Along writes something together with the outcome of this call, which costs no sync of its own. It says no where the gate records
// none: then it is the caller's to write.
func Along(ctx context.Context, write func(*db.Tx) error) bool {
	n, _ := ctx.Value(noteKey{}).(*Notes)
	if n == nil || !n.Ends {
		return false
	}
	n.Along = append(n.Along, write)
	return true
}

type firstKey struct{}

// WithFirst has the call that is made with this context write something together with its intent; when that fails the call is not made.
func WithFirst(ctx context.Context, write func(*db.Tx) error) context.Context {
	return context.WithValue(ctx, firstKey{}, write)
}

// First is what a call writes with its intent, and the context for what it calls itself, which does not.
func First(ctx context.Context) (func(*db.Tx) error, context.Context) {
	write, _ := ctx.Value(firstKey{}).(func(*db.Tx) error)
	if write == nil {
		return nil, ctx
	}
	return write, WithFirst(ctx, nil)
}

// Seal has the event of this call vouch for a row that confers authority: which row it is, and what it says from now on. Nothing
// said is a row that confers nothing any more.
func Seal(ctx context.Context, subject string, says ...string) {
	if n, _ := ctx.Value(noteKey{}).(*Notes); n != nil {
		n.Seal(subject, says...)
	}
}

// Seal is the same for whoever holds the notes.
func (n *Notes) Seal(subject string, says ...string) {
	if n.Seals == nil {
		n.Seals = map[string][]string{}
	}
	n.Seals[subject] = says
}

// WithNotes prepares a context for Note.
func WithNotes(ctx context.Context, n *Notes) context.Context {
	return context.WithValue(ctx, noteKey{}, n)
}

// Note adds a fact to the event that the gate records for this call: what
// changed, beyond what was asked for.
func Note(ctx context.Context, key string, value any) {
	if n, _ := ctx.Value(noteKey{}).(*Notes); n != nil {
		if n.Facts == nil {
			n.Facts = map[string]any{}
		}
		n.Facts[key] = value
	}
}
