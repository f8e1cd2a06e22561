package loop

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tandem/internal/approval"
	"tandem/internal/connector"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/gate"
	"tandem/internal/journal"
	"tandem/internal/models"
	"tandem/internal/op"
	"tandem/internal/owner"
	"tandem/internal/policy"
	"tandem/internal/policy/book"
	"tandem/internal/provider/scripted"
	"tandem/internal/repo/kin"
	"tandem/internal/session"
	"tandem/internal/session/aside"
	"tandem/internal/testenv"
	"tandem/internal/tool"
	"tandem/internal/tool/builtin"
	"tandem/internal/tool/confine"
)

// house is a whole tandem below its doors: real database, journal, policy, approvals, gate, tools and driver, and a model
// that plays scripts.
type house struct {
	t      testing.TB
	dir    string // granted
	file   string // of the database
	model  *scripted.Server
	db     *db.DB
	room   *session.Room
	run    *Runner
	gate   *gate.Gate
	rules  *book.Book
	jn     *journal.Journal
	box    *tool.Sandbox
	cancel context.CancelFunc
	ended  chan error
	barred atomic.Bool // whoever calls was disabled since
	shut   atomic.Bool // the tenant is suspended
	plans  plans
}

// The commands of tests under Landlock are started by this very program.
func TestMain(m *testing.M) {
	if confine.Called(os.Args) {
		os.Exit(confine.Main(os.Args, os.Stderr))
	}
	os.Exit(m.Run())
}

var (
	local  = op.Caller{Tenant: "local", Actor: "act_local", Name: "local", Kind: op.Local, Door: op.DoorSocket, Request: "req"}
	person = op.Caller{Tenant: "local", Actor: "act_owner", Name: "owner", Kind: op.Person, Present: "pin", Door: op.DoorSocket,
		Request: "req"}
)

func newHouse(t testing.TB) *house { return newHouseOn(t, "") }

// newHouseOn builds the house on a database; "" is a file of its own.
func newHouseOn(t testing.TB, dsn string) *house { return newHouseWith(t, dsn, tool.AnySandbox) }

// newHouseWith builds it with a kind of sandbox.
func newHouseWith(t testing.TB, dsn string, kind tool.SandboxKind) *house {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, dir: filepath.Join(dir, "code"), file: filepath.Join(dir, "t.db"), model: &scripted.Server{}}
	if dsn != "" {
		h.file = dsn
	}
	if err := os.MkdirAll(h.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if h.box, err = tool.FindSandbox(t.Context(), kind); err != nil {
		t.Fatal(err)
	}
	if err := h.model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.model.Close() })
	h.open()
	t.Cleanup(h.close)
	h.do(person, "folder.grant", session.FolderIn{Path: h.dir})
	h.do(local, "provider.add", models.ProviderAddIn{ID: "fake", Base: h.model.URL(), Wire: "anthropic", Keyless: true})
	return h
}

// open starts the house on its file, as a start of the server does.
func (h *house) open() {
	h.t.Helper()
	ctx := context.Background()
	must := func(err error) {
		if err != nil {
			h.t.Fatal(err)
		}
	}
	var err error
	h.db, err = db.Open(ctx, h.file, nil)
	must(err)
	_, err = h.db.Migrate(ctx, journal.Migrations, approval.Migrations, gate.Migrations, session.Migrations, connector.Migrations,
		book.Migrations)
	must(err)
	key := ed25519.NewKeyFromSeed(make([]byte, 32))
	h.jn = journal.New(h.db, key)
	h.jn.Rows = append(h.jn.Rows, func(ctx context.Context) ([]op.Sealed, error) { return session.Rows(ctx, h.db) },
		func(ctx context.Context) ([]op.Sealed, error) { return models.Rows(ctx, h.db) })
	_, err = h.jn.Recall(ctx, "")
	must(err)
	reg, err := tool.NewRegistry(h.plans.of(builtin.All(nil, func() builtin.Search { return builtin.Search{} }))...)
	must(err)
	none := func(context.Context, string, string, func([]byte) error) error {
		return fault.New(fault.NotFound, "secret", "none")
	}
	known := models.New(h.db, models.Keys{Lend: none, Env: func(string, string) string { return "" },
		Reach: func(string) http.RoundTripper { return nil },
		Drop:  func(*db.Tx, string, string) error { return nil }}, h.jn.Vouch())
	h.room = session.New(h.db, h.jn, reg, h.box, known, none,
		func(context.Context, *db.Tx, string, string) error { return nil }, aside.Home{Folder: filepath.Join(filepath.Dir(h.dir), "aside")})
	log := slog.New(slog.NewTextHandler(testWriter{h.t}, &slog.HandlerOptions{Level: slog.LevelError}))
	h.run = New(h.room, log)
	h.room.Drive(session.DriverModel, h.run)
	h.run.Connectors = connector.New(h.db, connector.Keys{Lend: none, Drop: func(*db.Tx, string, string) error { return nil }}, nil, nil)
	asks := approval.New(h.db, approval.ByName)
	var table op.Table
	must(table.Add(slices.Concat(known.Ops(), h.room.Ops())...))
	must(table.Add(h.run.Ops()...))
	must(table.Add(asks.Ops()...))
	must(table.Add(h.run.Connectors.Ops()...))
	h.rules = book.New(h.db, nil, nil)
	must(table.Add(h.rules.Ops()...))
	guards := open
	guards.Still = func(context.Context, op.Caller) error {
		if h.barred.Load() {
			return fault.New(fault.Unauthenticated, "identity", "what let you in has ended")
		}
		return nil
	}
	guards.Whose = func(ctx context.Context, tenant string, r op.Resource) []string {
		return h.room.Whose(ctx, tenant, strings.TrimPrefix(r.Path, "/"))
	}
	policies := func(ctx context.Context, tenant string) (*policy.Compiled, error) {
		if h.shut.Load() {
			return nil, fault.New(fault.Denied, "tenant", "the tenant is suspended").With("reason", "tenant suspended")
		}
		return h.rules.Policy(ctx, tenant)
	}
	h.gate = gate.New(&table, h.db, h.jn, policies, asks, guards, log)
	h.run.Through(h.gate, h.jn)
	h.run.Patience = 2 * time.Second
	if _, err := h.gate.Recover(ctx, nobody); err != nil {
		h.t.Fatal(err)
	}
	ctx, h.cancel = context.WithCancel(ctx)
	h.ended = make(chan error, 1)
	go h.room.Flush(ctx)
	go func(r *Runner, ended chan error) { ended <- r.Run(ctx) }(h.run, h.ended)
}

type testWriter struct{ t testing.TB }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

// close stops the house in good order.
func (h *house) close() {
	h.t.Helper()
	h.cancel()
	if err := <-h.ended; err != nil {
		h.t.Error(err)
	}
	h.db.Close()
}

func (h *house) restart() { h.t.Helper(); h.close(); h.open() }

// try runs an operation as somebody.
func (h *house) try(as op.Caller, name string, in any) (any, error) {
	return h.gate.Invoke(op.WithCaller(context.Background(), as), name, in)
}

func (h *house) do(as op.Caller, name string, in any) any {
	h.t.Helper()
	out, err := h.try(as, name, in)
	if err != nil {
		h.t.Fatalf("%s: %v", name, err)
	}
	return out
}

// session opens one in the granted folder.
func (h *house) session() *session.Session {
	h.t.Helper()
	return h.do(local, "session.create", session.CreateIn{Directory: h.dir, Model: "fake/scripted-1"}).(*session.Session)
}

func (h *house) prompt(s *session.Session, text string) *session.Turn {
	h.t.Helper()
	return h.do(local, "session.prompt", session.PromptIn{ID: s.ID, Text: text}).(*session.Turn)
}

// until waits for a turn's state.
func (h *house) until(turn *session.Turn, want ...session.TurnState) *session.Turn {
	h.t.Helper()
	var t *session.Turn
	testenv.Within(2*time.Minute, func() bool {
		var err error
		if t, err = h.room.Turn(context.Background(), "local", turn.ID); err != nil {
			h.t.Fatal(err)
		}
		return slices.Contains(want, t.State) || t.State.Ended()
	})
	if !slices.Contains(want, t.State) {
		h.t.Fatalf("turn is %s (%s), not %v", t.State, t.Reason, want)
	}
	return t
}

// said is the last text of the assistant.
func (h *house) said(s *session.Session) string {
	h.t.Helper()
	ms, err := h.room.Messages(context.Background(), "local", s.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	out := ""
	for _, m := range ms {
		for _, b := range m.Blocks {
			if m.Role == session.RoleAssistant && b.Text != "" {
				out = b.Text
			}
		}
	}
	return out
}

func (h *house) write(name, text string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) read(name string) string {
	b, err := os.ReadFile(filepath.Join(h.dir, name))
	if err != nil {
		return "(" + name + " is not there)"
	}
	return string(b)
}

// yes is what a person who looked at an ask whole answers with.
func (h *house) yes(ask string) approval.DecideIn {
	h.t.Helper()
	a := h.do(person, "approval.get", approval.IDIn{ID: ask}).(*approval.Ask)
	return approval.DecideIn{ID: ask, Verdict: approval.Approve, Digest: a.Digest, Pages: a.PageDigests()}
}

// decide answers the ask that a turn waits for.
func (h *house) decide(turn *session.Turn, verdict approval.Verdict, feedback string) {
	h.t.Helper()
	var a *approval.Ask
	testenv.Eventually(h.t, "something is asked", 2*time.Minute, func() bool {
		t := h.until(turn, session.Waiting, session.Running)
		if t.Ask != "" {
			a = h.do(person, "approval.get", approval.IDIn{ID: t.Ask}).(*approval.Ask)
		}
		return a != nil && a.State == approval.Pending
	})
	h.do(person, "approval.decide", approval.DecideIn{ID: a.ID, Verdict: verdict, Feedback: feedback, Digest: a.Digest,
		Pages: a.PageDigests()})
}

// open lets everybody pass whom the policy lets pass.
var open = gate.Guards{Still: func(context.Context, op.Caller) error { return nil },
	Caution: func(context.Context, op.Caller, *op.Op, any) (string, error) { return "", nil }, Kin: new(kin.Finder).Of,
	Past: func(string) bool { return false }}

// nobody lives beside the server that starts.
func nobody(context.Context) (owner.Others, error) { return owner.Others{}, nil }
