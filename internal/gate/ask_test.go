package gate

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"tandem/internal/approval"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/policy"
	"tandem/internal/testenv"
)

// askHouse is a gate over one operation of each class, and a policy that the test changes.
type askHouse struct {
	*Gate
	t       *testing.T
	policy  atomic.Pointer[policy.Compiled]
	acted   atomic.Int32
	failing atomic.Bool
}

type thingIn struct {
	Name   string `json:"name"`
	Secret string `json:"secret,omitempty"`
}

type thingOut struct {
	N int `json:"n"`
}

func askExam(t *testing.T, test func(h *askHouse)) {
	t.Run("sqlite", func(t *testing.T) { test(openAskHouse(t, filepath.Join(t.TempDir(), "a.db"))) })
	t.Run("postgres", func(t *testing.T) { test(openAskHouse(t, testenv.Postgres(t))) })
}

func openAskHouse(t *testing.T, dsn string) *askHouse {
	t.Helper()
	d, err := db.Open(t.Context(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	thing := db.Migrations{Room: "thing", FS: fstest.MapFS{
		"schema/0001_thing.sql": {Data: []byte("CREATE TABLE thing (name TEXT NOT NULL);\n")}}}
	if _, err := d.Migrate(t.Context(), journal.Migrations, approval.Migrations, Migrations, thing); err != nil {
		t.Fatal(err)
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	h := &askHouse{t: t}
	at := func(in thingIn) op.Resource { return op.Resource{Kind: "resource", Path: "/" + in.Name} }
	spec := func(name, right string) op.Spec {
		return op.Spec{Name: name, Right: right, Doc: "Do something to a thing.", Secret: []string{"secret"}}
	}
	act := func(context.Context, thingIn) (thingOut, error) {
		if h.failing.Load() {
			return thingOut{}, fault.New(fault.Unavailable, "thing", "it is out of order")
		}
		return thingOut{int(h.acted.Add(1))}, nil
	}
	asks := approval.New(d, approval.ByName)
	var table op.Table
	err = table.Add(append(asks.Ops(),
		op.State(spec("thing.write", "resource.write"), at, func(_ context.Context, tx *db.Tx, in thingIn) (thingOut, error) {
			if h.failing.Load() {
				return thingOut{}, errors.New("the room fails")
			}
			_, err := tx.Exec("INSERT INTO thing (name) VALUES (?)", in.Name)
			return thingOut{}, err
		}),
		op.Effect(spec("thing.send", "resource.execute"), at, act, nil),
		op.Read(spec("thing.look", "resource.read"), at, act),
		op.Touching(op.Effect(spec("thing.run", "tool.call"), func(thingIn) op.Resource { return op.Resource{Kind: "tool", Path: "/bash"} }, act,
			nil),
			func(_ context.Context, in thingIn) op.Touch {
				touch := op.Touch{Tool: "bash", Paths: []string{"/code"}, Shell: in.Name}
				if in.Name == "exposed" {
					touch.Caution = "it sees more than it should"
				}
				return touch
			}))...)
	if err != nil {
		t.Fatal(err)
	}
	h.Gate = New(&table, d, journal.New(d, key), func(context.Context, string) (*policy.Compiled, error) { return h.policy.Load(), nil }, asks,
		letting, slog.New(slog.DiscardHandler))
	h.rules(`@id("look") @ask("somebody has to look") forbid (principal is Agent, action, resource is Resource);`)
	return h
}

func (h *askHouse) rules(text string) {
	h.t.Helper()
	c, err := policy.Compile(policy.Source{Tenant: "local", Grants: policy.DefaultGrants(), Rules: text})
	if err != nil {
		h.t.Fatal(err)
	}
	h.policy.Store(c)
}

func (h *askHouse) as(kind op.Kind, name, present string) context.Context {
	return op.WithCaller(h.t.Context(), op.Caller{Tenant: "local", Actor: "act_" + name, Name: name, Kind: kind, Present: present,
		Door: op.DoorSocket, Request: "req"})
}

func (h *askHouse) builder() context.Context { return h.as(op.Agent, "builder", "") }

// pending makes a call that has to wait, and gives the ask's id.
func (h *askHouse) pending(ctx context.Context, name string, in any) string {
	h.t.Helper()
	_, err := h.Invoke(ctx, name, in)
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Pending || f.Data["approval"] == "" || f.Next == "" {
		h.t.Fatalf("%s does not wait: %v", name, err)
	}
	return f.Data["approval"]
}

func (h *askHouse) approve(askID string) {
	h.t.Helper()
	seen, err := h.Invoke(h.as(op.Person, "ann", "pin"), "approval.get", approval.IDIn{ID: askID})
	if err != nil {
		h.t.Fatal(err)
	}
	a := seen.(*approval.Ask)
	answer := approval.DecideIn{ID: askID, Verdict: approval.Approve, Digest: a.Digest, Pages: a.PageDigests()}
	if _, err := h.Invoke(h.as(op.Person, "ann", "pin"), "approval.decide", answer); err != nil {
		h.t.Fatal(err)
	}
}

func (h *askHouse) things() (n int) {
	h.t.Helper()
	if err := h.db.QueryRow(h.t.Context(), "SELECT count(*) FROM thing").Scan(&n); err != nil {
		h.t.Fatal(err)
	}
	return n
}

func (h *askHouse) asked() (n int) {
	h.t.Helper()
	if err := h.db.QueryRow(h.t.Context(), "SELECT count(*) FROM journal_event WHERE tenant = 'local' AND phase = 'asked'").
		Scan(&n); err != nil {
		h.t.Fatal(err)
	}
	return n
}

func TestACallPassesOnceForEachApproval(t *testing.T) {
	askExam(t, func(h *askHouse) {
		for _, name := range []string{"thing.write", "thing.send", "thing.look"} {
			in := thingIn{Name: "a", Secret: "hunter2"}
			ask := h.pending(h.builder(), name, in)
			if again := h.pending(h.builder(), name, in); again != ask {
				t.Errorf("%s asks twice: %s and %s", name, ask, again)
			}
			if other := h.pending(h.builder(), name, thingIn{Name: "a", Secret: "other"}); other == ask {
				t.Errorf("%s: another secret is the same ask", name)
			}
			h.approve(ask)
			if _, err := h.Invoke(h.as(op.Agent, "reviewer", ""), name, in); !fault.Is(err, fault.Pending) {
				t.Errorf("%s: somebody else's approval lets reviewer pass: %v", name, err)
			}
			h.pending(h.builder(), name, thingIn{Name: "b", Secret: "hunter2"})
			if _, err := h.Invoke(h.builder(), name, in); err != nil {
				t.Errorf("%s after approval: %v", name, err)
			}
			if next := h.pending(h.builder(), name, in); next == ask {
				t.Errorf("%s: the approval is still there", name)
			}
		}
		if h.things() != 1 || h.acted.Load() != 2 {
			t.Errorf("%d rows, %d acts", h.things(), h.acted.Load())
		}
		if n := h.asked(); n != 15 {
			t.Errorf("%d asks are in the journal", n)
		}
		out, err := h.Invoke(h.as(op.Person, "ann", ""), "approval.list", approval.ListIn{State: "all"})
		text, _ := json.Marshal(out)
		if err != nil || strings.Contains(string(text), "hunter2") {
			t.Errorf("the inbox shows a secret: %v", err)
		}
	})
}

// A change that fails keeps its approval; an effect that was tried has used it.
func TestFailureAndApproval(t *testing.T) {
	askExam(t, func(h *askHouse) {
		in := thingIn{Name: "a"}
		h.approve(h.pending(h.builder(), "thing.write", in))
		h.approve(h.pending(h.builder(), "thing.send", in))
		h.failing.Store(true)
		for _, name := range []string{"thing.write", "thing.send"} {
			if _, err := h.Invoke(h.builder(), name, in); err == nil || fault.Is(err, fault.Pending) {
				t.Errorf("%s: %v", name, err)
			}
		}
		h.failing.Store(false)
		if _, err := h.Invoke(h.builder(), "thing.write", in); err != nil {
			t.Errorf("the approval of a change that failed is gone: %v", err)
		}
		h.pending(h.builder(), "thing.send", in)
	})
}

// The policy is read again when the call comes back: what is forbidden by then stays forbidden, what is free needs no approval.
func TestPolicyIsReadAgain(t *testing.T) {
	askExam(t, func(h *askHouse) {
		in := thingIn{Name: "a"}
		h.approve(h.pending(h.builder(), "thing.write", in))
		h.rules(`forbid (principal is Agent, action, resource is Resource);`)
		if _, err := h.Invoke(h.builder(), "thing.write", in); !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Denied) {
			t.Errorf("an approval outlives a prohibition: %v", err)
		}
		h.rules("")
		if _, err := h.Invoke(h.builder(), "thing.write", in); err != nil {
			t.Errorf("a free call waits: %v", err)
		}
	})
}

func TestOneApprovalManyCallers(t *testing.T) {
	askExam(t, func(h *askHouse) {
		for _, name := range []string{"thing.write", "thing.send", "thing.look"} {
			h.acted.Store(0)
			before := h.things()
			h.approve(h.pending(h.builder(), name, thingIn{Name: "a"}))
			var passed atomic.Int32
			var wg sync.WaitGroup
			for range 16 {
				wg.Go(func() {
					_, err := h.Invoke(h.builder(), name, thingIn{Name: "a"})
					switch {
					case err == nil:
						passed.Add(1)
					case !fault.Is(err, fault.Pending) && !fault.Is(err, fault.Conflict):
						t.Errorf("%s: %v", name, err)
					}
				})
			}
			wg.Wait()
			if passed.Load() != 1 || int(h.acted.Load())+h.things()-before != 1 {
				t.Errorf("%s passed %d times, acted %d times", name, passed.Load(), int(h.acted.Load())+h.things()-before)
			}
		}
	})
}

// What a tool's call touches decides, argument by argument.
func TestToolArgumentsDecide(t *testing.T) {
	h := openAskHouse(t, filepath.Join(t.TempDir(), "a.db"))
	h.rules(`@id("push") forbid (principal is Agent, action, resource is Tool) when { context.commands.contains("git push") };`)
	for line, want := range map[string]fault.Kind{"git log": fault.Pending, "git push -f": fault.Denied,
		"cat /home/u/.ssh/id_rsa": fault.Denied} {
		_, err := h.Invoke(h.builder(), "thing.run", thingIn{Name: line})
		if !fault.Is(err, want) {
			t.Errorf("%s: %v", line, err)
		}
	}
	ask := h.pending(h.builder(), "thing.run", thingIn{Name: "git log"})
	h.approve(ask)
	if _, err := h.Invoke(h.builder(), "thing.run", thingIn{Name: "git log -p"}); !fault.Is(err, fault.Pending) {
		t.Errorf("another line passes with the approval: %v", err)
	}
	if _, err := h.Invoke(h.builder(), "thing.run", thingIn{Name: "git log"}); err != nil {
		t.Error(err)
	}
}

// An idempotency key repeats the answer of the call that passed; it does not need the approval again.
func TestIdempotencyAndApproval(t *testing.T) {
	h := openAskHouse(t, filepath.Join(t.TempDir(), "a.db"))
	c := op.CallerFrom(h.builder())
	c.Idempotency = "k1"
	ctx := op.WithCaller(t.Context(), c)
	in := thingIn{Name: "a"}
	h.approve(h.pending(ctx, "thing.send", in))
	first, err := h.Invoke(ctx, "thing.send", in)
	if err != nil {
		t.Fatal(err)
	}
	again, err := h.Invoke(ctx, "thing.send", in)
	if err != nil || again != first || h.acted.Load() != 1 {
		t.Errorf("repeated: %v %v, %d acts", again, err, h.acted.Load())
	}
}
