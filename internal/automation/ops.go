package automation

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/op"
	"tandem/internal/session"
	"tandem/internal/tool"
	"tandem/internal/tool/box"
)

// Room is the service behind the operations of automations. The functions are what it does not own.
type Room struct {
	DB    *db.DB
	Log   *slog.Logger
	Vouch op.Vouch
	// Kept is what the journal says of what runs came past; nil is a room without one, where it is what the rows say.
	Kept  func(*db.Tx, op.Sealed) (bool, error)
	Rooms op.Invoker // through which steps act
	// Find is an operation of the table, nil when there is none of that name.
	Find func(name string) *op.Op
	// All are the operations of the table.
	All func() []*op.Op
	// Actor makes the service of that name, which acts for the caller, or has it act for the caller from now on.
	Actor func(ctx context.Context, tx *db.Tx, name string) (id string, err error)
	// Grant gives a service a right, in the name of the caller; Revoke takes it back, where it is that actor's.
	Grant  func(ctx context.Context, tx *db.Tx, g Grant) (id string, err error)
	Revoke func(ctx context.Context, tx *db.Tx, id, actor string) error
	// As is an actor as a caller, with whom it acts for.
	As func(ctx context.Context, tenant, actor string) (op.Caller, error)
	// Told is called in the change that made a run fail, or wait for somebody to look at it.
	Told func(tx *db.Tx, tenant string, r *wire.Run) error
	// Granted says whether sessions, and so the commands and turns of automations, may work in a folder.
	Granted func(ctx context.Context, tenant, folder string) (bool, error)
	// SwitchedOff is called in the change by which somebody switches off what another one had switched on.
	SwitchedOff func(tx *db.Tx, tenant, name, on, off string) error
	// Filling is called in the change by which a webhook came to know nearly as many messages as it can, or all of them.
	Filling func(tx *db.Tx, tenant, name, trigger string, known, most int64) error
	// Abandon ends an ask whose answer would do nothing any more.
	Abandon func(tx *db.Tx, tenant, asker, ask, why string) (bool, error)
	// Seal keeps what a webhook's sender signs with, Lend gives it to one call, and Drop forgets it.
	Seal func(tx *db.Tx, tenant, name, value, by string) error
	Lend func(ctx context.Context, tenant, name string, fn func(value []byte) error) error
	Drop func(tx *db.Tx, tenant, name string) error

	// Text is what an artifact of an automation says; plain when its bytes are that text.
	Text func(ctx context.Context, tenant, automation, id string) (text string, plain bool, err error)
	// Made is what an artifact of that name says, the newest version where none is named, for a caller who may read it; plain when its
	// bytes are that text.
	Made func(ctx context.Context, tx *db.Tx, name string, version int) (kind, text string, plain bool, err error)
	// Secret reports whether a text holds a secret that is kept here for a tenant, or for all.
	Secret func(tenant, text string) bool
	// Mark says whether what models had a hand in says so itself.
	Mark func() bool

	// Bookmark is the commit at which a bookmark of a served repository is, "" where it is not, as the caller of ctx sees it.
	Bookmark func(ctx context.Context, repo, name string) (commit string, err error)
	Hidden   []string // folders of tandem's own, in which nothing is watched

	// Head is the journal's newest event.
	Head func() int64

	Owner string // this server, among those that claim steps
	// AtOnce is how many steps of all runs are done at once.
	AtOnce func() int
	// Ours says whether this server does what is due: of several that share the database one does, also what was begun at another.
	Ours   func() bool
	Shared bool // there may be others

	Sandbox *tool.Sandbox
	// Errand lets run start a command in its box, where its folder is one that a person granted, and says what was set aside then.
	Errand func(ctx context.Context, e session.Errand, run func(context.Context, box.Box) error) (aside []string, err error)

	door    *door
	texts   *recent[string, meant]  // definitions, by their text
	folds   *recent[runKey, folded] // runs, as the last change left them
	mu      sync.Mutex
	dirty   map[runKey]bool                  // runs to be looked at
	crowded map[runKey]time.Time             // runs that have more to begin than there are places: when they were looked at last
	soonest time.Time                        // something is due that became known since the loop last looked
	sleeps  time.Time                        // until then the loop sleeps
	inHand  map[*job]context.CancelCauseFunc // steps that are being done, and what ends them
	// promised are places of steps that are being claimed, by tenant.
	promised map[string]int
	turns    map[string]bool      // that ended, and of which no step was told
	vacant   []seat               // sessions that were opened for steps that are over, and never prompted
	grew     bool                 // the journal, since events were last looked at
	listens  bool                 // some trigger waits for events
	heardTo  map[string]int64     // by trigger: up to which event; the worker's own
	rests    map[string]time.Time // by trigger that failed: until when no event is looked for
	waits    bool                 // something will be due by itself
	watches  bool                 // something is watched
	rewatch  bool                 // something else may be watched
	stirred  map[string]bool      // folders in which something changed; "" are bookmarks
	deaf     bool                 // this machine does not tell of folders
	watch    chan struct{}
	wake     chan struct{}
	working  sync.WaitGroup
}

// Grant is what an automation's actor is given when it is switched on.
type Grant struct {
	Actor     string
	Resource  string
	Ask       bool // a person says yes each time
	Approvers []string
}

// New makes the room; its functions are given before its first use.
func New(d *db.DB, log *slog.Logger) *Room {
	return &Room{DB: d, Log: log, AtOnce: func() int { return AtOnce }, dirty: map[runKey]bool{}, crowded: map[runKey]time.Time{},
		inHand: map[*job]context.CancelCauseFunc{}, promised: map[string]int{}, turns: map[string]bool{},
		grew: true, listens: true, heardTo: map[string]int64{}, rests: map[string]time.Time{},
		stirred: map[string]bool{}, watch: make(chan struct{}, 1),
		texts: newRecent[string, meant](keptDefinitions), folds: newRecent[runKey, folded](keptFolds),
		door: newDoor(), wake: make(chan struct{}, 1), Ours: func() bool { return true },
		Granted: func(context.Context, string, string) (bool, error) { return true, nil }}
}

func at(name string) op.Resource { return op.Resource{Kind: "automation", Path: "/" + name} }

func named(in wire.NameIn) op.Resource { return at(in.Name) }

// Ops is this room's front door.
func (r *Room) Ops() []op.Op {
	ops := []op.Op{
		wire.Add.State(op.Spec{Right: "automation.write", Method: "POST", Path: "/automation",
			Doc: "Store a definition of an automation, as a version frozen by its digest.\nIt begins nothing: " +
				"a person looks at it and switches it on."},
			func(in wire.AddIn) op.Resource { return at(nameIn(in.Text)) }, r.add),
		wire.Draft.Call(op.Spec{Right: "automation.write", Method: "POST", Path: "/automation-drafts", Waits: true,
			Doc: "Have the default model write a definition from a sentence, in one turn with a budget, and store it, switched off.\n" +
				"What is no definition, too large or asks for more than the caller may is refused, and nothing is stored."},
			func(in wire.DraftIn) op.Resource { return at(in.Name) }, r.draft),
		wire.List.Read(op.Spec{Right: "automation.list", Masked: true, Method: "GET", Path: "/automation",
			Doc: "List automations: whether each is switched on, what begins it, and how many runs are open."},
			func(struct{}) op.Resource { return at("") }, r.list),
		wire.Show.Read(op.Spec{Right: "automation.read", Method: "GET", Path: "/automation/{name}",
			Doc: "Read a version of an automation: its text, and what it may do when it is switched on."},
			func(in wire.ShowIn) op.Resource { return at(in.Name) }, r.show),
		wire.On.State(op.Spec{Right: "automation.admin", Present: true, People: true, MCP: "-", Method: "POST", Path: "/automation/{name}/on",
			Doc: "Switch on the version that was looked at. Needs a person present.\nIt makes the automation's own actor, " +
				"which acts for that person, and grants it what the version needs."},
			func(in wire.OnIn) op.Resource { return at(in.Name) }, r.on),
		wire.Off.State(op.Spec{Right: "automation.write", Method: "POST", Path: "/automation/{name}/off",
			Doc: "Switch an automation off: its grants are taken back, and its open runs are paused."}, named, r.off),
		wire.Remove.State(op.Spec{Right: "automation.delete", Method: "DELETE", Path: "/automation/{name}", MCP: "-",
			Doc: "Remove an automation that is switched off, with its versions and its runs. What it did stays in the journal."},
			named, r.remove),
	}
	return append(append(ops, r.runOps()...), r.hookOps()...)
}
