package peer

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/approval"
	"tandem/internal/board"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/gate"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/policy"
	"tandem/internal/space"
	"tandem/internal/testenv"
)

// house is a daemon without its doors: real gate, journal, policy and storage.
type house struct {
	t     *testing.T
	dir   string
	db    *db.DB
	gate  *gate.Gate
	peers *Room
	space *space.Room
	addr  func() (string, string)
	knows func(ctx context.Context, host string) (Server, error)
	opens func(ctx context.Context, tenant string) error

	folder string // where callers run; empty is dir
}

// late lets the rooms be made before the gate that they call.
type late struct{ to **gate.Gate }

func (l late) Invoke(ctx context.Context, name string, in any) (any, error) {
	return (*l.to).Invoke(ctx, name, in)
}

func newHouse(t *testing.T) *house {
	h := &house{t: t, dir: t.TempDir()}
	h.start()
	t.Cleanup(h.stop)
	return h
}

func (h *house) start() {
	h.t.Helper()
	ctx := context.Background()
	must := func(err error) {
		h.t.Helper()
		if err != nil {
			h.t.Fatal(err)
		}
	}
	var err error
	h.db, err = db.Open(ctx, filepath.Join(h.dir, "tandem.db"), nil)
	must(err)
	_, err = h.db.Migrate(ctx, journal.Migrations, identity.Migrations, approval.Migrations, gate.Migrations, space.Migrations,
		board.Migrations, Migrations)
	must(err)
	_, err = identity.New(ctx, h.db)
	must(err)
	jkey, err := journal.Key(filepath.Join(h.dir, "journal.key"))
	must(err)
	key, err := Key(filepath.Join(h.dir, "space.key"))
	must(err)
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	call := late{&h.gate}
	h.space = space.New(h.db, call)
	boards := board.New(h.db, h.space)
	h.peers = New(ctx, Config{DB: h.db, Invoke: call, Key: key, Log: log, Addr: h.addr, Server: h.knows, Open: h.opens})
	var table op.Table
	for _, ops := range [][]op.Op{h.space.Ops(), boards.Ops(), h.peers.Ops()} {
		must(table.Add(ops...))
	}
	for _, o := range table.All() {
		if _, err := policy.ParseRight(o.Right); err != nil && !o.Public {
			h.t.Fatalf("%s: %v", o.Name, err)
		}
	}
	compiled, err := policy.Compile(policy.Source{Tenant: identity.LocalTenant, Grants: policy.DefaultGrants()})
	must(err)
	h.gate = gate.New(&table, h.db, journal.New(h.db, jkey), func(context.Context, string) (*policy.Compiled, error) { return compiled, nil },
		approval.New(h.db, approval.ByName), open, log)
	must(h.peers.Start(ctx))
}

func (h *house) stop() {
	h.peers.Stop()
	if err := h.db.Close(); err != nil {
		h.t.Error(err)
	}
}

// restart is a clean stop and start on the same files.
func (h *house) restart() {
	h.stop()
	h.start()
}

func (h *house) as(name string) context.Context { return h.asIn(h.t.Context(), name) }

func (h *house) asIn(ctx context.Context, name string) context.Context {
	folder := h.folder
	if folder == "" {
		folder = h.dir
	}
	return op.WithCaller(ctx, op.Caller{Tenant: identity.LocalTenant, Actor: "act_" + name, Name: name, Kind: op.Agent, Door: op.DoorSocket,
		Request: "req",
		Client:  op.Client{Folder: folder}})
}

// do runs an operation as an actor and fails the test when it fails.
func do[Out any](h *house, who, name string, in any) Out {
	h.t.Helper()
	out, err := h.gate.Invoke(h.as(who), name, in)
	if err != nil {
		h.t.Fatalf("%s %s: %v (%s)", who, name, err, fault.Public(err).Next)
	}
	return out.(Out)
}

// refused runs an operation that must fail with that kind, and returns its
// sentence and next step.
func (h *house) refused(who, name string, in any, kind fault.Kind) string {
	h.t.Helper()
	out, err := h.gate.Invoke(h.as(who), name, in)
	if err == nil {
		h.t.Fatalf("%s %s was allowed: %+v", who, name, out)
	}
	if fault.KindOf(err) != kind {
		h.t.Fatalf("%s %s: %s: %v, want %s", who, name, fault.KindOf(err), err, kind)
	}
	return err.Error() + "\n" + fault.Public(err).Next
}

func (h *house) contains(text string, want ...string) {
	h.t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			h.t.Fatalf("%q is not in:\n%s", w, text)
		}
	}
}

// eventually waits for what happens in the background.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	testenv.Eventually(t, what, time.Minute, ok) // a busy machine is slow, not wrong
}

// open lets everybody pass whom the policy lets pass.
var open = gate.Guards{Still: func(context.Context, op.Caller) error { return nil },
	Caution: func(context.Context, op.Caller, *op.Op, any) (string, error) { return "", nil }, Kin: policy.NoKin,
	Past: func(string) bool { return false }}
