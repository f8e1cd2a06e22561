package gate

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tandem/internal/approval"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/owner"
	"tandem/internal/policy"
	"tandem/internal/secret"
	"tandem/internal/testenv"
)

type noteIn struct {
	Text string `json:"text"`
	Word string `json:"word,omitempty"`
}

type noteOut struct {
	N int64 `json:"n"`
}

// world is a gate over one file, with operations that count what they did.
type world struct {
	*Gate
	db     *db.DB
	acted  atomic.Int64
	act    func() error
	along  func(*db.Tx) error
	settle func(noteIn) (noteOut, bool, error)
}

func open(t *testing.T, file string) *world {
	t.Helper()
	ctx := context.Background()
	d, err := db.Open(ctx, file, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if _, err := d.Migrate(ctx, journal.Migrations, approval.Migrations, Migrations); err != nil {
		t.Fatal(err)
	}
	if err := d.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec("CREATE TABLE IF NOT EXISTS note (text TEXT)")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	seed := sha256.Sum256([]byte(file)) // a house keeps its key
	key := ed25519.NewKeyFromSeed(seed[:])
	j := journal.New(d, key)
	w := &world{db: d}
	at := func(in noteIn) op.Resource { return op.Resource{Kind: "resource", Path: "/" + in.Text} }
	var table op.Table
	if err := table.Add(
		op.State(op.Spec{Name: "note.add", Right: "resource.write", Doc: "Add a note.", Secret: []string{"word"}}, at,
			func(ctx context.Context, tx *db.Tx, in noteIn) (noteOut, error) {
				if in.Text == "bad" {
					return noteOut{}, fault.New(fault.Invalid, "note.add", "bad note")
				}
				if _, err := tx.Exec("INSERT INTO note (text) VALUES (?)", in.Text); err != nil {
					return noteOut{}, err
				}
				return noteOut{1}, nil
			}),
		op.Effect(op.Spec{Name: "note.send", Right: "resource.write", Doc: "Send a note out."}, at,
			func(ctx context.Context, _ noteIn) (noteOut, error) {
				if first, _ := op.First(ctx); first != nil {
					t.Error("what comes first would come again with what the call calls itself")
				}
				if w.along != nil && !op.Along(ctx, w.along) {
					t.Error("an effect has an outcome")
				}
				if w.act != nil {
					if err := w.act(); err != nil {
						return noteOut{}, err
					}
				}
				return noteOut{w.acted.Add(1)}, nil
			},
			func(_ context.Context, in noteIn) (noteOut, bool, error) {
				if w.settle == nil {
					return noteOut{}, false, nil
				}
				return w.settle(in)
			}),
		op.State(op.Spec{Name: "note.mint", Right: "resource.write", Doc: "Make a credential.", Once: true}, at,
			func(context.Context, *db.Tx, noteIn) (noteOut, error) { return noteOut{4711}, nil }),
		op.State(op.Spec{Name: "note.whisper", Right: "resource.write", Doc: "Answer a sealed word.", Sealed: true}, at,
			func(context.Context, *db.Tx, noteIn) (noteOut, error) { return noteOut{4711}, nil }),
		op.Effect(op.Spec{Name: "note.pass", Right: "resource.write", Doc: "Pass a sealed word on.", Sealed: true}, at,
			func(context.Context, noteIn) (noteOut, error) { return noteOut{4711}, nil }, nil),
		op.Read(op.Spec{Name: "note.decide", Right: "approval.decide", Doc: "Decide something.", Present: true, People: true}, at,
			func(context.Context, noteIn) (noteOut, error) { return noteOut{}, nil }),
	); err != nil {
		t.Fatal(err)
	}
	compiled, err := policy.Compile(policy.Source{Tenant: "t", Grants: policy.DefaultGrants()})
	if err != nil {
		t.Fatal(err)
	}
	w.Gate = New(&table, d, j, func(context.Context, string) (*policy.Compiled, error) { return compiled, nil },
		approval.New(d, approval.ByName), letting,
		slog.New(slog.NewTextHandler(io.Discard, nil)))
	return w
}

func as(kind op.Kind, name, key string) context.Context {
	return op.WithCaller(context.Background(), op.Caller{Tenant: "t", Actor: "act_" + name, Name: name, Kind: kind, Door: op.DoorSocket,
		Idempotency: key})
}

func (w *world) notes(t *testing.T) (n int) {
	t.Helper()
	if err := w.db.QueryRow(t.Context(), "SELECT count(*) FROM note").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (w *world) events(t *testing.T, phase string) []journal.Entry {
	t.Helper()
	all, err := w.journal.Read(t.Context(), "t", 0, 1000, journal.Filter{Phase: phase})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestStateChangeAndEventAreOne(t *testing.T) {
	w := open(t, filepath.Join(t.TempDir(), "a.db"))
	if _, err := w.Invoke(as(op.Agent, "builder", ""), "note.add", noteIn{Text: "a", Word: "hunter2"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Invoke(as(op.Agent, "builder", ""), "note.add", noteIn{Text: "bad"}); !fault.Is(err, fault.Invalid) {
		t.Fatalf("a failing change: %v", err)
	}
	done := w.events(t, journal.Done)
	if len(done) != 1 || w.notes(t) != 1 {
		t.Fatalf("%d events, %d notes, want one of each", len(done), w.notes(t))
	}
	if body := string(done[0].Payload); done[0].Actor != "builder" || strings.Contains(body, "hunter2") {
		t.Errorf("event = %+v %s", done[0], body)
	}
}

func TestAnIdempotencyKeyHappensOnce(t *testing.T) {
	w := open(t, filepath.Join(t.TempDir(), "a.db"))
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := w.Invoke(as(op.Agent, "builder", "k1"), "note.add", noteIn{Text: "a"}); err != nil {
				t.Errorf("a repeated call: %v", err)
			}
		})
	}
	wg.Wait()
	if n := w.notes(t); n != 1 {
		t.Errorf("%d notes", n)
	}
	if _, err := w.Invoke(as(op.Agent, "builder", "k1"), "note.add", noteIn{Text: "b"}); !fault.Is(err, fault.Conflict) {
		t.Errorf("the key for something else: %v", err)
	}
	if _, err := w.Invoke(as(op.Agent, "other", "k1"), "note.add", noteIn{Text: "b"}); err != nil {
		t.Errorf("another actor's key of the same name: %v", err)
	}
	for range 3 {
		if _, err := w.Invoke(as(op.Agent, "builder", "k2"), "note.send", noteIn{Text: "a"}); err != nil {
			t.Errorf("a repeated effect: %v", err)
		}
	}
	if n := w.acted.Load(); n != 1 {
		t.Errorf("the effect happened %d times", n)
	}
}

// On PostgreSQL transactions run side by side: nothing locks the row of a key that nobody has used yet.
func TestAnIdempotencyKeyHappensOnceSideBySide(t *testing.T) {
	w := open(t, testenv.Postgres(t))
	const keys, callers = 10, 8
	var wg sync.WaitGroup
	for i := range keys {
		for range callers {
			wg.Go(func() {
				key := fmt.Sprint("k", i)
				if _, err := w.Invoke(as(op.Agent, "builder", key), "note.add", noteIn{Text: "a"}); err != nil {
					t.Errorf("a change with %s: %v", key, err)
				}
				if _, err := w.Invoke(as(op.Agent, "builder", "e"+key), "note.send", noteIn{Text: "a"}); err != nil && !fault.Is(err, fault.Conflict) {
					t.Errorf("an effect with %s: %v", key, err)
				}
			})
		}
	}
	wg.Wait()
	if n := w.notes(t); n != keys {
		t.Errorf("%d notes for %d keys", n, keys)
	}
	if n := w.acted.Load(); n != keys {
		t.Errorf("%d effects for %d keys", n, keys)
	}
}

// Not every door catches panics (MCP's library does not): one in a handler fails its call and leaves the program alone. How far
// it came nobody knows, so that the same key does not do it again.
func TestAPanicIsOneCallsFailure(t *testing.T) {
	w := open(t, filepath.Join(t.TempDir(), "a.db"))
	w.act = func() error { panic("a handler's mistake") }
	_, err := w.Invoke(as(op.Agent, "builder", "k"), "note.send", noteIn{Text: "a"})
	if fault.KindOf(err) != fault.Internal || err == nil || !strings.Contains(err.Error(), "a handler's mistake") {
		t.Fatalf("err = %v", err)
	}
	if out := w.events(t, journal.Unknown); len(out) != 1 || strings.Contains(string(out[0].Payload), "mistake") {
		t.Errorf("unknown outcomes = %+v", out)
	}
	w.act = nil
	if _, err := w.Invoke(as(op.Agent, "builder", "k"), "note.send", noteIn{Text: "a"}); !fault.Is(err, fault.Conflict) {
		t.Errorf("the same key: %v", err)
	}
	if _, err := w.Invoke(as(op.Agent, "builder", "k2"), "note.send", noteIn{Text: "a"}); err != nil || w.acted.Load() != 1 {
		t.Errorf("a new key: %v, done %d times", err, w.acted.Load())
	}
	if n, err := w.Recover(t.Context(), nobody); n != 0 || err != nil {
		t.Errorf("%d intents are left open, %v", n, err)
	}
}

// Sealed words are not kept in the clear for a repetition: the same key does it once, and answers once.
func TestASealedAnswerIsNotKept(t *testing.T) {
	w := open(t, filepath.Join(t.TempDir(), "a.db"))
	for _, name := range []string{"note.whisper", "note.pass"} {
		if out, err := w.Invoke(as(op.Agent, "builder", name), name, noteIn{Text: "a"}); err != nil || out != (noteOut{4711}) {
			t.Errorf("%s: %v, %v", name, out, err)
		}
		if _, err := w.Invoke(as(op.Agent, "builder", name), name, noteIn{Text: "a"}); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s with the same key: %v", name, err)
		}
	}
	var kept int
	if err := w.db.QueryRow(t.Context(), "SELECT count(*) FROM gate_call WHERE answer LIKE '%4711%'").Scan(&kept); err != nil || kept != 0 {
		t.Errorf("%d answers are kept, %v", kept, err)
	}
}

// The answer to an idempotency key is kept in the clear. A credential is kept nowhere, so such a call takes none.
func TestACredentialIsNotKeptForRepetition(t *testing.T) {
	w := open(t, filepath.Join(t.TempDir(), "a.db"))
	if _, err := w.Invoke(as(op.Agent, "builder", "k"), "note.mint", noteIn{Text: "a"}); !fault.Is(err, fault.Invalid) {
		t.Errorf("with a key: %v", err)
	}
	if _, err := w.Invoke(as(op.Agent, "builder", ""), "note.mint", noteIn{Text: "a"}); err != nil {
		t.Errorf("without one: %v", err)
	}
	var kept int
	if err := w.db.QueryRow(t.Context(), "SELECT count(*) FROM gate_call").Scan(&kept); err != nil || kept != 0 {
		t.Errorf("%d answers are kept, %v", kept, err)
	}
}

// What an effect met outside is not called a failure of the database.
func TestAnEffectsNetworkIsNotTheDatabase(t *testing.T) {
	w := open(t, filepath.Join(t.TempDir(), "a.db"))
	w.act = func() error { return fmt.Errorf("fetch a page: %w", &net.OpError{Op: "dial", Err: io.EOF}) }
	if _, err := w.Invoke(as(op.Agent, "builder", ""), "note.send", noteIn{Text: "a"}); err == nil ||
		strings.Contains(err.Error(), "PostgreSQL") {
		t.Errorf("err = %v", err)
	}
}

func TestAFailedEffectMayBeTriedAgain(t *testing.T) {
	w := open(t, filepath.Join(t.TempDir(), "a.db"))
	w.act = func() error { return fault.New(fault.Unavailable, "note.send", "the other side is away") }
	if _, err := w.Invoke(as(op.Agent, "builder", "k"), "note.send", noteIn{Text: "a"}); !fault.Is(err, fault.Unavailable) {
		t.Fatalf("err = %v", err)
	}
	w.act = nil
	if _, err := w.Invoke(as(op.Agent, "builder", "k"), "note.send", noteIn{Text: "a"}); err != nil {
		t.Fatalf("the second try: %v", err)
	}
	if out := w.events(t, journal.Outcome); len(out) != 2 || out[0].Cause == 0 || out[1].Cause == out[0].Cause {
		t.Errorf("outcomes = %+v", out)
	}
}

// A crash between intent and outcome is found at the next start.
func TestACrashBetweenIntentAndOutcome(t *testing.T) {
	for _, c := range []struct {
		name    string
		settle  func(noteIn) (noteOut, bool, error)
		unknown int
		again   fault.Kind // what a repetition with the same key meets
	}{
		{"nothing tells", nil, 1, fault.Conflict},
		{"the room completes it", func(noteIn) (noteOut, bool, error) { return noteOut{7}, true, nil }, 0, fault.Internal},
		{"the room cannot tell", func(noteIn) (noteOut, bool, error) { return noteOut{}, false, errors.New("who knows") }, 1, fault.Conflict},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "a.db")
			w := open(t, file)
			hang := make(chan struct{})
			began := make(chan struct{})
			w.act = func() error { close(began); <-hang; return errors.New("never recorded") }
			go func() { w.Invoke(as(op.Agent, "builder", "k"), "note.send", noteIn{Text: "a"}) }()
			<-began
			w.db.Close() // as if the process ended here
			close(hang)

			w = open(t, file)
			w.settle = c.settle
			n, err := w.Recover(t.Context(), nobody)
			if err != nil || n != c.unknown {
				t.Fatalf("Recover = %d, %v; want %d unknown", n, err, c.unknown)
			}
			if got := len(w.events(t, journal.Unknown)); got != c.unknown {
				t.Errorf("%d unknown events", got)
			}
			_, err = w.Invoke(as(op.Agent, "builder", "k"), "note.send", noteIn{Text: "a"})
			if c.again == fault.Internal && err != nil || c.again != fault.Internal && !fault.Is(err, c.again) {
				t.Errorf("the same key again: %v", err)
			}
			if w.acted.Load() != 0 {
				t.Error("it was done again")
			}
			if n, err := w.Recover(t.Context(), nobody); n != 0 || err != nil {
				t.Errorf("a second Recover = %d, %v", n, err)
			}
		})
	}
}

// Somebody who writes into the database has nothing finished that the gate did not begin, nor anything twice.
func TestAnIntentIsTheGatesOwn(t *testing.T) {
	w := open(t, filepath.Join(t.TempDir(), "a.db"))
	asked := 0
	w.settle = func(noteIn) (noteOut, bool, error) { asked++; return noteOut{7}, true, nil }
	const columns = "seq, tenant, op, caller, input, key, server, sig"
	var kept, real openIntent
	row := func(i *openIntent) []any {
		return []any{&i.seq, &i.tenant, &i.op, &i.caller, &i.input, &i.key, &i.server, &i.sig}
	}
	w.act = func() error {
		return w.db.QueryRow(t.Context(), "SELECT "+columns+" FROM gate_intent").Scan(row(&kept)...)
	}
	if _, err := w.Invoke(as(op.Agent, "builder", "k"), "note.send", noteIn{Text: "a"}); err != nil {
		t.Fatal(err)
	}
	put := func(how string, i openIntent) {
		t.Helper()
		if err := w.db.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec("INSERT INTO gate_intent ("+columns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?)", i.seq, i.tenant, i.op, i.caller,
				i.input, i.key, i.server, i.sig)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		before := len(w.events(t, journal.Unknown))
		n, err := w.Recover(op.WithCaller(t.Context(), op.Caller{Tenant: "t", Name: "tandem", Kind: op.Local}), nobody)
		told := w.events(t, journal.Unknown)
		if n != 1 || err != nil || asked != 0 || len(told) != before+1 || told[0].Actor == "builder" || told[len(told)-1].Actor == "builder" {
			t.Errorf("%s: %d unknown, %v, asked %d times, told %+v", how, n, err, asked, told)
		}
	}
	put("put back after it ended", kept)
	for how, change := range map[string]func(i *openIntent){
		"another input":     func(i *openIntent) { i.input = `{"text":"b"}` },
		"another caller":    func(i *openIntent) { i.caller = strings.ReplaceAll(i.caller, "builder", "owner") },
		"another operation": func(i *openIntent) { i.op = "note.pass" },
		"another tenant":    func(i *openIntent) { i.tenant = "other" },
		"another place":     func(i *openIntent) { i.seq = 4711 },
		"another server":    func(i *openIntent) { i.server = "srv_b" },
		"another key":       func(i *openIntent) { i.key = "k2" },
		"no signature":      func(i *openIntent) { i.sig = nil },
		"no caller":         func(i *openIntent) { i.caller = "{" },
	} {
		forged := kept
		change(&forged)
		put(how, forged)
	}

	// and one that was begun and cut off is finished
	hang, began := make(chan struct{}), make(chan struct{})
	w.act = func() error { close(began); <-hang; return errors.New("never recorded") }
	done := make(chan struct{})
	go func() { defer close(done); w.Invoke(as(op.Agent, "builder", "k3"), "note.send", noteIn{Text: "c"}) }()
	<-began
	if err := w.db.QueryRow(t.Context(), "SELECT "+columns+" FROM gate_intent").Scan(row(&real)...); err != nil {
		t.Fatal(err)
	}
	if n, err := w.Recover(t.Context(), nobody); n != 0 || err != nil || asked != 1 {
		t.Errorf("a real one: %d unknown, %v, asked %d times", n, err, asked)
	}
	close(hang)
	<-done
}

// Who puts an intent back that the gate signed, and rewrites the journal's row that says how it ended, has its room asked again whether it
// happened. What is known of it is in THREATS: the rewritten row is named.
func TestAnIntentThatIsPutBackIsNamed(t *testing.T) {
	w := open(t, filepath.Join(t.TempDir(), "a.db"))
	asked := 0
	w.settle = func(noteIn) (noteOut, bool, error) { asked++; return noteOut{7}, true, nil }
	sql := func(query string) {
		t.Helper()
		if err := w.db.Write(t.Context(), func(tx *db.Tx) error { _, err := tx.Exec(query); return err }); err != nil {
			t.Fatal(err)
		}
	}
	sql("CREATE TABLE stolen (seq BIGINT, tenant TEXT, op TEXT, caller TEXT, input TEXT, key TEXT, server TEXT, sig BLOB)")
	sql("CREATE TRIGGER steal AFTER INSERT ON gate_intent BEGIN INSERT INTO stolen SELECT seq, tenant, op, caller, input, key, server, sig " +
		"FROM gate_intent; END")
	if _, err := w.Invoke(as(op.Agent, "builder", "k"), "note.send", noteIn{Text: "a"}); err != nil {
		t.Fatal(err)
	}
	sql("DROP TRIGGER steal")
	found := func() (said string) {
		r, err := w.journal.Verify(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Findings {
			said += f.What + "\n"
		}
		return said
	}
	if said := found(); said != "" {
		t.Fatalf("before: %s", said)
	}
	sql("INSERT INTO gate_intent (seq, tenant, op, caller, input, key, server, sig) SELECT * FROM stolen")
	sql("UPDATE journal_event SET cause = 0 WHERE cause > 0")
	ctx := op.WithCaller(t.Context(), op.Caller{Tenant: "t", Name: "tandem", Kind: op.Local})
	if n, err := w.Recover(ctx, nobody); n != 0 || err != nil || asked != 1 || w.acted.Load() != 1 {
		t.Errorf("put back: %d unknown, %v, asked %d times, done %d times", n, err, asked, w.acted.Load())
	}
	if said := found(); !strings.Contains(said, "entry") {
		t.Errorf("verify does not name the entry that was rewritten: %q", said)
	}
}

// Two servers on one database: what the one is about is not settled by the other, before its lease has ended; and of what it did on its
// own machine nothing here tells.
func TestRecoverLeavesWhatALivingServerDoes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.db")
	w, other := open(t, file), open(t, file)
	w.Server = "srv_a"
	hang, began, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	w.act = func() error { close(began); <-hang; return nil }
	go func() { _, err := w.Invoke(as(op.Agent, "builder", "k"), "note.send", noteIn{Text: "a"}); done <- err }()
	<-began
	asked := 0
	other.settle = func(noteIn) (noteOut, bool, error) { asked++; return noteOut{7}, true, nil }
	seen := func(who owner.Others) func(context.Context) (owner.Others, error) {
		return func(context.Context) (owner.Others, error) { return who, nil }
	}
	living := owner.Others{Living: map[string]bool{"srv_a": true}}
	if n, err := other.Recover(t.Context(), seen(living)); n != 0 || err != nil || asked != 0 {
		t.Fatalf("while it lives: %d, %v, asked %d times", n, err, asked)
	}
	far := owner.Others{Far: map[string]bool{"srv_a": true}}
	if n, err := other.Recover(t.Context(), seen(far)); n != 1 || err != nil || asked != 0 {
		t.Fatalf("on another machine: %d, %v, asked %d times", n, err, asked)
	}
	close(hang)
	<-done
	if _, err := other.Invoke(as(op.Agent, "builder", "k"), "note.send", noteIn{Text: "a"}); err == nil && asked != 0 {
		t.Error("this machine was asked about another one")
	}
}

func TestNobodyButAPersonPresentDecides(t *testing.T) {
	w := open(t, filepath.Join(t.TempDir(), "a.db"))
	for _, kind := range []op.Kind{op.Agent, op.Session, op.Service, op.Local, ""} {
		c := op.Caller{Tenant: "t", Actor: "a", Name: "a", Kind: kind, Present: "pin", Decides: true, Door: op.DoorSocket}
		if _, err := w.Invoke(op.WithCaller(t.Context(), c), "note.decide", noteIn{Text: "a"}); err == nil {
			t.Errorf("%q decided", kind)
		}
	}
	person := op.Caller{Tenant: "t", Actor: "p", Name: "owner", Kind: op.Person, Door: op.DoorHTTP}
	if _, err := w.Invoke(op.WithCaller(t.Context(), person), "note.decide", noteIn{Text: "a"}); !fault.Is(err, fault.Denied) {
		t.Errorf("a person who is not present: %v", err)
	}
	person.Present = "passkey"
	if _, err := w.Invoke(op.WithCaller(t.Context(), person), "note.decide", noteIn{Text: "a"}); err != nil {
		t.Errorf("a person who is present: %v", err)
	}
	person.Door = op.DoorMCP
	if _, err := w.Invoke(op.WithCaller(t.Context(), person), "note.decide", noteIn{Text: "a"}); !fault.Is(err, fault.Denied) {
		t.Errorf("a person's token over MCP: %v", err)
	}
	if _, err := w.Invoke(t.Context(), "note.add", noteIn{Text: "a"}); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("a stranger: %v", err)
	}
}

func TestStrangersAreCountedNotListed(t *testing.T) {
	w := open(t, filepath.Join(t.TempDir(), "a.db"))
	noon := time.Date(2026, 1, 1, 12, 0, 30, 0, time.UTC)
	for i := range 5000 {
		w.Strangers.Add([]string{"10.0.0.1", "10.0.0.2"}[i%2], noon)
	}
	if err := w.Sweep(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	if got := w.events(t, journal.Denied); len(got) != 2 {
		t.Errorf("%d events for two sources", len(got))
	}
}

// An input of megabytes is named in its event, not copied into it.
func TestLongInputsAreNamedInTheirEvent(t *testing.T) {
	w := open(t, filepath.Join(t.TempDir(), "a.db"))
	if _, err := w.Invoke(as(op.Local, "local", ""), "note.send", noteIn{Text: "a", Word: strings.Repeat("x", 3<<20)}); err != nil {
		t.Fatal(err)
	}
	for _, e := range w.events(t, "") {
		if len(e.Payload) > 1000 || !strings.Contains(string(e.Payload), "omitted_bytes") {
			t.Errorf("event %d holds %d bytes: %.200s", e.Seq, len(e.Payload), e.Payload)
		}
	}
}

// A secret that turns up in an input, an answer or an error is not recorded
// and not returned.
func TestSecretsDoNotPassTheGate(t *testing.T) {
	w := open(t, filepath.Join(t.TempDir(), "a.db"))
	w.Redact = secret.NewRedactor()
	w.Redact.Learn([]byte("hunter2-hunter2"))
	w.act = func() error { return fault.New(fault.Conflict, "x", "it said hunter2-hunter2") }
	_, err := w.Invoke(as(op.Local, "local", "k1"), "note.send", noteIn{Text: "hunter2-hunter2"})
	if fault.KindOf(err) != fault.Conflict || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the error: %v", err)
	}
	all := w.events(t, "")
	if len(all) != 2 {
		t.Fatalf("%d events", len(all))
	}
	for _, e := range all {
		if strings.Contains(e.Resource+string(e.Payload), "hunter2") {
			t.Errorf("event %d: %s %s", e.Seq, e.Resource, e.Payload)
		}
	}
}

// nobody lives beside the server that starts.
func nobody(context.Context) (owner.Others, error) { return owner.Others{}, nil }

// Whom an assertion narrows is not told what the same person was answered without it.
func TestAKeyIsBoundToWhatNarrowsItsCaller(t *testing.T) {
	sent := func(chain ...string) string {
		var row op.Op
		row.Name = "note.add"
		digest, err := (&call{op: &row, in: noteIn{Text: "a"}, caller: op.Caller{For: chain}}).sent()
		if err != nil {
			t.Fatal(err)
		}
		return digest
	}
	if sent() != sent("person:ann") || sent() == sent("person:ann", "assertion:1f") || sent("assertion:1f") == sent("assertion:2f") {
		t.Error("a key is bound to the call alone")
	}
}
