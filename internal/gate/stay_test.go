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

// Who waited for something heard of it after the right to hear it was taken back. Whatever took a while is asked about again before it is
// answered, whichever operation it is.
func TestAWaitEndsWithTheRightToIt(t *testing.T) {
	was := waited
	waited = 0
	t.Cleanup(func() { waited = was })
	w := open(t, filepath.Join(t.TempDir(), "a.db"))
	at := func(in noteIn) op.Resource { return op.Resource{Kind: "resource", Path: "/" + in.Text} }
	began, come := make(chan struct{}), make(chan struct{})
	wait := func(context.Context, noteIn) (noteOut, error) {
		began <- struct{}{}
		<-come
		return noteOut{N: 1}, nil
	}
	for _, o := range []op.Op{
		op.Read(op.Spec{Name: "note.wait", Right: "resource.read", Method: "GET", Path: "/wait", Doc: "Wait for notes."}, at, wait),
		op.Call(op.Spec{Name: "note.hear", Right: "resource.read", Method: "POST", Path: "/hear", Doc: "Wait for notes."}, at, wait)} {
		if err := w.table.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	var rules atomic.Pointer[policy.Compiled]
	w.policies = func(context.Context, string) (*policy.Compiled, error) { return rules.Load(), nil }
	set := func(more ...policy.ScopedGrant) {
		t.Helper()
		c, err := policy.Compile(policy.Source{Tenant: "t", Grants: append(policy.DefaultGrants(), more...)})
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
	none := policy.ScopedGrant{ID: "none", Principal: policy.PrincipalRef{Kind: policy.Agent, ID: "builder"}, Effect: policy.Deny,
		Source: policy.Direct, Scope: policy.ResourceScope{Root: policy.ResourceRef{Kind: policy.KindResource, Path: "/"}},
		Permissions: []policy.AccessPermission{policy.CanRead}}
	for _, name := range []string{"note.wait", "note.hear"} {
		for what, c := range map[string]struct {
			then func()
			kind fault.Kind
		}{
			"nothing":                   {func() {}, 0},
			"a denial":                  {func() { set(none) }, fault.Denied},
			"the end of what let it in": {func() { revoked.Store(true) }, fault.Unauthenticated},
		} {
			if name == "note.hear" && c.kind == fault.Unauthenticated {
				c.kind = 0 // whoever is not told what it began would begin it again
			}
			set()
			revoked.Store(false)
			ctx := as(op.Agent, "builder", "")
			caller := op.CallerFrom(ctx)
			caller.Since = time.Now().Add(-time.Hour)
			ended := make(chan error, 1)
			go func() {
				_, err := w.Invoke(op.WithCaller(ctx, caller), name, noteIn{Text: "a"})
				ended <- err
			}()
			<-began
			c.then()
			come <- struct{}{}
			if err := <-ended; c.kind == 0 && err != nil || c.kind != 0 && !fault.Is(err, c.kind) {
				t.Errorf("%s, and meanwhile %s: %v", name, what, err)
			}
		}
	}
}
