package gate

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/policy"
	"tandem/internal/testenv"
)

// A stream ends soon after whoever follows it would not be let in again, and
// until then shows what they may see now.
func TestAStreamEndsWithTheRightToIt(t *testing.T) {
	was := recheck
	recheck = time.Millisecond
	t.Cleanup(func() { recheck = was })
	w := open(t, filepath.Join(t.TempDir(), "a.db"))
	at := func(in noteIn) op.Resource { return op.Resource{Kind: "resource", Path: "/" + in.Text} }
	if err := w.table.Add(op.Stream(op.Spec{Name: "note.watch", Right: "resource.read", Doc: "Watch notes."}, at, nil)); err != nil {
		t.Fatal(err)
	}
	var rules atomic.Pointer[policy.Compiled]
	w.policies = func(context.Context, string) (*policy.Compiled, error) { return rules.Load(), nil }
	hide := func(paths ...string) {
		t.Helper()
		grants := policy.DefaultGrants()
		for _, p := range paths {
			grants = append(grants, policy.ScopedGrant{ID: "no" + p, Principal: policy.PrincipalRef{Kind: policy.Agent, ID: "builder"},
				Effect: policy.Deny, Source: policy.Direct,
				Scope:       policy.ResourceScope{Root: policy.ResourceRef{Kind: policy.KindResource, Path: p}},
				Permissions: []policy.AccessPermission{policy.CanView}})
		}
		c, err := policy.Compile(policy.Source{Tenant: "t", Grants: grants})
		if err != nil {
			t.Fatal(err)
		}
		rules.Store(c)
	}
	var revoked atomic.Bool
	w.guards.Still = func(context.Context, op.Caller) error {
		if revoked.Load() {
			return fault.New(fault.Unauthenticated, "identity", "the token was revoked")
		}
		return nil
	}
	watch := func() context.Context {
		t.Helper()
		ctx, err := w.Admit(as(op.Agent, "builder", ""), "note.watch", noteIn{Text: "a"})
		if err != nil {
			t.Fatal(err)
		}
		return ctx
	}
	ends := func(ctx context.Context, kind fault.Kind) {
		t.Helper()
		select {
		case <-ctx.Done():
			if err := context.Cause(ctx); !fault.Is(err, kind) {
				t.Errorf("it ended with %v", err)
			}
		case <-time.After(time.Minute):
			t.Fatal("the stream goes on")
		}
	}
	hide()
	follows := watch()
	hide("/b") // something else: the stream goes on, and does not show it any more
	other := op.Resource{Kind: "resource", Path: "/b"}
	testenv.Eventually(t, "what is hidden now is not shown", time.Minute, func() bool { return !op.May(follows, "resource.view", other) })
	if follows.Err() != nil {
		t.Fatalf("it ended: %v", context.Cause(follows))
	}
	hide("/a")
	ends(follows, fault.NotFound)
	hide()
	follows = watch()
	revoked.Store(true)
	ends(follows, fault.Unauthenticated)
}

// A session acts for somebody: when that one is disabled, it does nothing more.
func TestADisabledActorsSessionsStop(t *testing.T) {
	w := open(t, filepath.Join(t.TempDir(), "a.db"))
	w.guards.Still = func(context.Context, op.Caller) error {
		return fault.New(fault.Unauthenticated, "identity", "builder is disabled")
	}
	if _, err := w.Invoke(as(op.Session, "ses_1", ""), "note.add", noteIn{Text: "a"}); !fault.Is(err, fault.Unauthenticated) ||
		w.notes(t) != 0 {
		t.Errorf("%v, %d notes", err, w.notes(t))
	}
}
