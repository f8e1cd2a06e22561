// Package doortest is the exam that every door sits: whatever its wire looks like, it tells who may not come in, what changes
// something, what went wrong and what happened once. It owns the questions and a small house to ask them about; the door is the
// candidate's.
package doortest

import (
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/gate"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/policy"
)

// Inside is a word of the house that no door may tell: it stands in errors that are not faults.
const Inside = "the-cellar-key-hangs-behind-the-stove"

// House is a gate over a few operations that count what they did.
type House struct {
	Gate  *gate.Gate
	acted atomic.Int64
}

type thingIn struct {
	Name  string `json:"name"`
	Count int    `json:"count,omitempty"`
}

type thingOut struct {
	Name string `json:"name"`
	N    int64  `json:"n"`
}

type failIn struct {
	Kind string `json:"kind"`
}

// rules ask before anything is sent and keep agents from what is hidden.
const rules = `@id("ask") @ask("somebody has to look") forbid (principal is Agent, action == Action::"execute", resource is Resource);
@id("hidden") forbid (principal is Agent, action, resource in Resource::"/hidden");`

// NewHouse makes one.
func NewHouse(t *testing.T) *House {
	t.Helper()
	d, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "door.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if _, err := d.Migrate(t.Context(), journal.Migrations, approval.Migrations, gate.Migrations); err != nil {
		t.Fatal(err)
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	h := &House{}
	var table op.Table
	if err := table.Add(h.ops()...); err != nil {
		t.Fatal(err)
	}
	compiled, err := policy.Compile(policy.Source{Tenant: "local", Grants: policy.DefaultGrants(), Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	guards := gate.Guards{Still: func(context.Context, op.Caller) error { return nil },
		Caution: func(context.Context, op.Caller, *op.Op, any) (string, error) { return "", nil },
		Whose:   func(context.Context, string, op.Resource) []string { return nil }, Kin: policy.NoKin, Past: func(string) bool { return false }}
	h.Gate = gate.New(&table, d, journal.New(d, key), func(context.Context, string) (*policy.Compiled, error) { return compiled, nil },
		approval.New(d, approval.ByName), guards, slog.New(slog.DiscardHandler))
	return h
}

func (h *House) ops() []op.Op {
	at := func(in thingIn) op.Resource { return op.Resource{Kind: "resource", Path: "/" + in.Name} }
	hidden := func(thingIn) op.Resource { return op.Resource{Kind: "resource", Path: "/hidden"} }
	spec := func(name, right, method, path string) op.Spec {
		return op.Spec{Name: name, Right: right, Doc: "Do something to a thing.", Method: method, Path: path}
	}
	act := func(_ context.Context, in thingIn) (thingOut, error) { return thingOut{in.Name, h.acted.Add(1)}, nil }
	state := func(_ context.Context, _ *db.Tx, in thingIn) (thingOut, error) {
		return thingOut{in.Name, h.acted.Add(1)}, nil
	}
	people := spec("thing.people", "resource.write", "POST", "/thing/people")
	people.People = true
	return []op.Op{
		op.Read(spec("thing.look", "resource.read", "GET", "/thing/look"), at,
			func(_ context.Context, in thingIn) (thingOut, error) { return thingOut{in.Name, h.acted.Load()}, nil }),
		op.State(spec("thing.write", "resource.write", "POST", "/thing/write"), at, state),
		op.Call(spec("thing.pass", "resource.read", "POST", "/thing/pass"), at, act),
		op.Effect(spec("thing.send", "resource.execute", "POST", "/thing/send"), at, act, nil),
		op.State(spec("thing.hide", "resource.write", "POST", "/thing/hide"), hidden, state),
		op.State(people, at, state),
		op.State(spec("thing.fail", "resource.write", "POST", "/thing/fail"),
			func(failIn) op.Resource { return op.Resource{Kind: "resource", Path: "/fail"} },
			func(_ context.Context, _ *db.Tx, in failIn) (thingOut, error) { return thingOut{}, failure(in.Kind) }),
	}
}

// failure is what thing.fail fails with: a fault of a kind, a panic, or an error that is nobody's business.
func failure(kind string) error {
	switch kind {
	case "panic":
		panic(Inside)
	case fault.Internal.String():
		return errors.New(Inside)
	}
	return fault.New(fault.Parse(kind), "thing.fail", "it is %s: %w", kind, errors.New("as it was told")).
		WithNext("try %s again", kind).With("fact", "fact-"+kind)
}

// Builder is an agent with everyday rights.
func Builder() op.Caller {
	return op.Caller{Tenant: "local", Actor: "act_builder", Name: "builder", Kind: op.Agent, Door: op.DoorHTTP, Request: "req_1"}
}
