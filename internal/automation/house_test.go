package automation

import (
	"context"
	"crypto/ed25519"
	"database/sql"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tandem/internal/approval"
	artifact "tandem/internal/artifact/wire"
	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/gate"
	"tandem/internal/id"
	"tandem/internal/journal"
	"tandem/internal/op"
	servers "tandem/internal/owner"
	"tandem/internal/policy"
	"tandem/internal/provider"
	resource "tandem/internal/resource/wire"
	"tandem/internal/session"
	"tandem/internal/session/terminal"
	"tandem/internal/testenv"
)

// house is a room over a gate and a file, which can be killed: from that instant on it writes nothing and acts on nothing.
type house struct {
	t       *testing.T
	file    string
	outside *outside
	now     func() time.Time

	*Room
	gate   *gate.Gate
	cancel context.CancelFunc
	ended  chan struct{}
	plug   *plug
	shelf  shelf
	beside bool // there is another one on its file

	bookmark atomic.Pointer[string] // where the one bookmark is
}

// outside is what effects act on. It outlives every kill.
type outside struct {
	mu    sync.Mutex
	acted map[string]int
}

func (o *outside) act(what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.acted[what]++
}

func (o *outside) count(what string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.acted[what]
}

// plug is pulled at a point of the way that chance chose.
type plug struct {
	left   atomic.Int64
	dead   atomic.Bool
	pull   func()
	closed chan struct{} // the file is written no more
}

// point is a place on the way at which the power may go. It answers whether there is none.
func (p *plug) point() bool {
	if p.left.Add(-1) == 0 {
		p.dead.Store(true)
		p.pull()
	}
	if !p.dead.Load() {
		return false
	}
	<-p.closed
	return true
}

var (
	owner = op.Caller{Tenant: "t", Actor: "act_owner", Name: "owner", Kind: op.Person, Door: op.DoorSocket, Present: "pin", Request: "r"}
	errNo = fault.New(fault.Unavailable, "test", "no power")
)

// stubDoc marks the command that runs no program.
const stubDoc = "Act outside."

type markIn struct {
	Text string `json:"text"`
}

type markOut struct {
	Text string `json:"text"`
	Mood string `json:"mood"`
}

func newHouse(t *testing.T) *house { return newHouseAt(t, nil) }

// newHouseAt is a house with a clock.
func newHouseAt(t *testing.T, now func() time.Time) *house {
	h := &house{t: t, now: now, file: filepath.Join(t.TempDir(), "t.db"), outside: &outside{acted: map[string]int{}}}
	h.open(0)
	t.Cleanup(func() { h.close() })
	return h
}

// open starts the house on its file, with so many points until the power goes; 0 is never.
func (h *house) open(points int64) {
	h.t.Helper()
	ctx := context.Background()
	d, err := db.Open(ctx, h.file, h.now)
	h.must(err)
	_, err = d.Migrate(ctx, journal.Migrations, approval.Migrations, gate.Migrations, Migrations)
	h.must(err)
	h.must(d.Write(ctx, func(tx *db.Tx) error { _, err := tx.Exec("CREATE TABLE IF NOT EXISTS mark (text TEXT)"); return err }))
	level := slog.LevelError
	if points > 0 {
		level++ // what breaks when the power goes is no news
	}
	log := slog.New(slog.NewTextHandler(h.t.Output(), &slog.HandlerOptions{Level: level}))
	p := &plug{closed: make(chan struct{})}
	p.pull = func() {
		go func() { d.Close(); close(p.closed) }() //nolint:errcheck // as a kill: nothing that is under way is written any more
	}
	p.left.Store(points)
	r := New(d, log)
	h.Room, h.plug, r.Shared = r, p, h.beside
	j := journal.New(d, ed25519.NewKeyFromSeed(make([]byte, 32)))
	var table op.Table
	asks := approval.New(d, approval.ByName)
	for _, o := range slices.Concat(r.Ops(), h.tools(p), asks.Ops()) {
		if o.Name == string(wire.Command) && o.Doc != stubDoc {
			continue
		}
		h.must(table.Add(o))
	}
	grants := policy.DefaultGrants()
	own := grants[0]
	own.ID, own.Principal, own.Source = "own", policy.PrincipalRef{Kind: policy.Service, ID: "*"}, policy.Direct
	own.Scope.Root.Kind, own.Permissions = policy.KindAutomation, []policy.AccessPermission{policy.CanExecute}
	gates := own
	gates.ID, gates.Effect, gates.Scope.Root.Path = "gates", policy.Ask, "/all/gate"
	higher := gates
	higher.ID, higher.Scope.Root.Path = "higher", "/all/escalated"
	asked := own
	asked.ID, asked.Effect, asked.Scope.Root.Kind, asked.Scope.Root.Path = "asked", policy.Ask, policy.KindResource, "/asked"
	asked.Permissions = []policy.AccessPermission{policy.CanEdit}
	second := grants[0] // a person beside the owner, who switches automations on, too
	second.ID, second.Principal, second.Source = "second", policy.PrincipalRef{Kind: policy.Person, ID: "second"}, policy.Direct
	makes := own
	makes.ID, makes.Scope.Root.Kind = "makes", policy.KindArtifact
	compiled, err := policy.Compile(policy.Source{Tenant: "t", Grants: append(grants, own, gates, higher, asked, second, makes)})
	h.must(err)
	h.gate = gate.New(&table, d, j, func(context.Context, string) (*policy.Compiled, error) { return compiled, nil }, asks,
		gate.Guards{Caution: func(context.Context, op.Caller, *op.Op, any) (string, error) { return "", nil },
			Still: func(context.Context, op.Caller) error { return nil }, Kin: policy.NoKin, Past: func(string) bool { return false }}, log)
	r.Text = h.shelf.text
	r.Bookmark = func(context.Context, string, string) (string, error) {
		if at := h.bookmark.Load(); at != nil {
			return *at, nil
		}
		return "", nil
	}
	r.Rooms, r.Find, r.Owner = tripping{h.gate, p}, table.Get, fmt.Sprint("own_", rand.Int64())
	r.Actor = func(_ context.Context, _ *db.Tx, name string) (string, error) { return "act_" + name, nil }
	r.Grant = func(context.Context, *db.Tx, Grant) (string, error) { return "g", nil }
	r.Abandon = asks.Abandon
	r.Revoke = func(context.Context, *db.Tx, string, string) error { return nil }
	r.As = func(_ context.Context, tenant, actor string) (op.Caller, error) {
		if p.point() {
			return op.Caller{}, errNo
		}
		return op.Caller{Tenant: tenant, Actor: actor, Name: strings.TrimPrefix(actor, "act_"), Kind: op.Service, For: []string{"person:owner"},
			Door: op.DoorInside}, nil
	}
	_, err = h.gate.Recover(ctx, func(context.Context) (servers.Others, error) { return servers.Others{}, nil })
	h.must(err)
	ctx, h.cancel = context.WithCancel(ctx)
	h.ended = make(chan struct{})
	go func(ended chan struct{}) { r.Run(ctx); close(ended) }(h.ended)
}

// close ends the house, as a kill does when the plug was pulled.
func (h *house) close() {
	h.cancel()
	<-h.ended
	h.DB.Close()
}

// tripping is the gate with a point before and behind each call.
type tripping struct {
	gate *gate.Gate
	plug *plug
}

func (t tripping) Invoke(ctx context.Context, name string, in any) (any, error) {
	if t.plug.point() {
		return nil, errNo
	}
	out, err := t.gate.Invoke(ctx, name, in)
	if t.plug.point() {
		return nil, errNo
	}
	return out, err
}

// tools are operations of each class: a row, and two effects on what is outside.
func (h *house) tools(p *plug) []op.Op {
	at := func(markIn) op.Resource { return op.Resource{Kind: "resource", Path: "/mark"} }
	effect := func(what string) error {
		if p.point() {
			return errNo
		}
		h.outside.act(what)
		p.point()
		return nil
	}
	return []op.Op{
		op.State(op.Spec{Name: "mark.add", Right: "resource.write", Doc: "Add a mark."}, at,
			func(_ context.Context, tx *db.Tx, in markIn) (markOut, error) {
				_, err := tx.Exec("INSERT INTO mark (text) VALUES (?)", in.Text)
				return markOut{Text: in.Text, Mood: "good"}, err
			}),
		op.Effect(op.Spec{Name: "mark.send", Right: "resource.write", Doc: "Send a mark out."}, at,
			func(_ context.Context, in markIn) (markOut, error) {
				return markOut{Text: in.Text + "!", Mood: "sent"}, effect("send " + in.Text)
			}, nil),
		op.Effect(op.Spec{Name: "mark.ask", Right: "resource.write", Doc: "Send a mark out, when a person says so."},
			func(markIn) op.Resource { return op.Resource{Kind: "resource", Path: "/asked"} },
			func(_ context.Context, in markIn) (markOut, error) {
				return markOut{Text: in.Text}, effect("ask " + in.Text)
			}, nil),
		op.Effect(op.Spec{Name: "mark.fail", Right: "resource.write", Doc: "Fail, after acting."}, at,
			func(_ context.Context, in markIn) (markOut, error) {
				h.outside.act("fail " + in.Text)
				return markOut{}, fault.New(fault.Invalid, "mark.fail", "it fails")
			}, nil),
		resource.Get.Read(op.Spec{Right: "resource.read", Doc: "Read a key, which is there once something is marked."},
			func(resource.KeyIn) op.Resource { return op.Resource{Kind: "resource", Path: "/mark"} },
			func(ctx context.Context, in resource.KeyIn) (*resource.Resource, error) {
				var n int
				err := h.DB.QueryRow(ctx, "SELECT count(*) FROM mark WHERE text = ?", in.Key).Scan(&n)
				if err == nil && n == 0 {
					err = fault.New(fault.NotFound, "test", "there is no such key")
				}
				return &resource.Resource{Key: in.Key, Value: []byte("7")}, err
			}),
		session.SessionCreate.State(op.Spec{Right: "session.create", Doc: "Open a session."}, atSession[session.CreateIn],
			func(_ context.Context, tx *db.Tx, in session.CreateIn) (*session.Session, error) {
				return &session.Session{ID: id.New("ses"), Title: in.Title, Config: in.Config}, nil
			}),
		terminal.SessionOpen.Effect(op.Spec{Right: "session.create", Doc: "Open an agent."}, atSession[terminal.OpenIn],
			func(_ context.Context, in terminal.OpenIn) (terminal.Seat, error) {
				seat := terminal.Seat{Name: in.Name, Session: id.New("ses")}
				return seat, effect(fmt.Sprintf("open %s in %s, narrow %v", in.Agent, in.Cwd, in.Narrow))
			}, nil),
		terminal.SessionClose.Effect(op.Spec{Right: "session.prompt", Doc: "Close an agent."}, atSession[terminal.NameIn],
			func(context.Context, terminal.NameIn) (terminal.Seat, error) { return terminal.Seat{}, effect("close") }, nil),
		session.SessionPrompt.State(op.Spec{Right: "session.prompt", Doc: "Prompt it."}, atSession[session.PromptIn],
			func(_ context.Context, tx *db.Tx, in session.PromptIn) (*session.Turn, error) {
				if strings.Contains(in.Text, "Never") {
					return nil, fault.New(fault.Denied, "test", "it is not prompted")
				}
				word := "Two"
				if strings.Contains(in.Text, "Three") {
					word = "Three"
				}
				_, err := tx.Exec("INSERT INTO mark (text) VALUES (?)", "asked "+word)
				return &session.Turn{ID: id.New("turn"), Session: in.ID, State: session.Queued}, err
			}),
		session.SessionTurns.Read(op.Spec{Right: "session.read", Doc: "Read turns."}, atSession[session.TurnIn],
			func(_ context.Context, in session.TurnIn) (session.TurnsOut, error) {
				return session.TurnsOut{Turns: []*session.Turn{{ID: in.Turn, State: session.Done, Usage: provider.Usage{Input: 5, Output: 2}}}}, nil
			}),
		session.SessionMessages.Read(op.Spec{Right: "session.read", Doc: "Read messages."}, atSession[session.IDIn], h.messages),
		artifact.Keep.State(op.Spec{Right: "artifact.run", Doc: "Keep what a step made."},
			func(artifact.KeepIn) op.Resource { return op.Resource{Kind: "artifact", Path: "/all"} }, h.shelf.keep),
		wire.Command.Effect(op.Spec{Right: "automation.run", Doc: stubDoc},
			func(in wire.CommandIn) op.Resource { return commandsOf(in.Name) },
			func(_ context.Context, in wire.CommandIn) (wire.CommandOut, error) {
				return wire.CommandOut{Out: "ran " + in.Argv[1]}, effect("run " + in.Argv[1])
			}, nil),
	}
}

func atSession[In any](In) op.Resource { return op.Resource{Kind: "session", Path: "/all"} }

// messages answers for every turn of which a row tells that it was asked.
func (h *house) messages(ctx context.Context, _ session.IDIn) (out session.MessagesOut, err error) {
	rows, err := h.DB.Query(ctx, "SELECT turn FROM automation_step WHERE turn <> ''")
	turns, err := db.Collect(rows, err, func(rows *sql.Rows) (t string, err error) { return t, rows.Scan(&t) })
	for _, t := range turns {
		out.Messages = append(out.Messages, &session.Message{Turn: t, Role: session.RoleAssistant,
			Blocks: []provider.Block{{Kind: provider.Text, Text: `{"words": ["x", "y"]}`}}})
	}
	return out, err
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// do calls an operation as the owner.
func do[In, Out any](h *house, d op.Def[In, Out], in In) Out {
	h.t.Helper()
	out, err := op.Do(op.WithCaller(context.Background(), owner), h.gate, d, in)
	h.must(err)
	return out
}

// begin stores a definition, switches it on and begins a run.
func (h *house) begin(text string, input map[string]any) string {
	h.t.Helper()
	a := do(h, wire.Add, wire.AddIn{Text: text})
	do(h, wire.On, wire.OnIn{Name: a.Name, Digest: a.Latest})
	return do(h, wire.Begin, wire.BeginIn{Name: a.Name, Input: input}).ID
}

// until waits for a state of a run.
func (h *house) until(id, what string, is func(*wire.Run) bool) *wire.Run {
	h.t.Helper()
	var got *wire.Run
	testenv.Eventually(h.t, what, testPatience, func() bool {
		got = do(h, wire.Trace, wire.RunIn{ID: id})
		return is(got)
	})
	return got
}

func (h *house) write(q string) error {
	return h.DB.Write(context.Background(), func(tx *db.Tx) error { _, err := tx.Exec(q); return err })
}

// testPatience is how long a test waits for what must come, on a machine that is ten times slower.
const testPatience = 2 * time.Minute

// switchOn stores a definition and switches it on.
func (h *house) switchOn(text string) {
	h.t.Helper()
	a := do(h, wire.Add, wire.AddIn{Text: text})
	do(h, wire.On, wire.OnIn{Name: a.Name, Digest: a.Latest})
}

// deliver brings a message of a webhook whose signature was right; the same mark is the same message.
func (h *house) deliver(name, trigger, mark, body string) wire.Delivery {
	h.t.Helper()
	out, err := op.Do(op.WithCaller(context.Background(), h.self(name)), h.gate, wire.Deliver, wire.DeliverIn{Name: name, Trigger: trigger,
		Hook: "whk_" + name, Mark: mark, Body: body})
	h.must(err)
	return out
}

// self is an automation as a caller.
func (h *house) self(name string) op.Caller {
	return op.Caller{Tenant: "t", Actor: "act_automation." + name, Name: "automation." + name, Kind: op.Service, For: []string{"person:owner"},
		Door: op.DoorInside, Request: "r"}
}
