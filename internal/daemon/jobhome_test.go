package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/session"
	"tandem/internal/session/checkout"
)

// A job is changed, and its diff read, on the machine that has its files. Other servers of the cluster say which that is.
func TestAJobIsAskedForAtItsHome(t *testing.T) {
	w := newWard(t, "")
	w.sql(`INSERT INTO job (tenant, id, state, body, owner, fence, home, created_at, updated_at)
		VALUES ('local', 'job_far', 'stopped', '{"id":"job_far","state":"stopped"}', 'srv_far', 1, 'hom_far', 1, 1)`)
	away, ops := w.findHome(nil), w.rooms.job.Ops()
	ctx := op.WithCaller(t.Context(), op.Caller{Tenant: "local"})
	for name, want := range map[string]bool{string(wire.Stop): true, string(wire.Merge): true, string(wire.QueueEvict): true,
		string(wire.Diff): true, string(wire.Get): false} {
		i := slices.IndexFunc(ops, func(o op.Op) bool { return o.Name == name })
		if err := away(ctx, &ops[i], op.Resource{Kind: "job", Path: "/job_far"}); fault.Is(err, fault.Unavailable) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A checkout that was made for a session is taken away where none works in it, with its row; one that nobody vouches for stays.
func TestACheckoutOfNobodyIsTakenBack(t *testing.T) {
	w := newWard(t, "")
	app := filepath.Join(t.TempDir(), "app")
	w.must(os.Mkdir(app, 0o700))
	w.must(os.Mkdir(app+"-mine", 0o700))
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "--allow-empty",
		"-m", "first"}} {
		cmd := exec.Command("git", append([]string{"-C", app}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "GIT_CONFIG_NOSYSTEM=1"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	w.present("folder.grant", map[string]any{"path": app}, nil)
	var made session.Checkout
	w.must(w.Call(t.Context(), "session.checkout", session.CheckoutIn{Directory: app, Name: "fix", Kind: checkout.Worktree}, &made))
	for _, path := range []string{app + "-mine", made.Path, made.Path} {
		w.must(w.rooms.session.TakeBack(t.Context(), "local", path))
	}
	if _, err := os.Stat(app + "-mine"); err != nil {
		t.Errorf("a folder of the person's was taken away: %v", err)
	}
	if _, err := os.Stat(made.Path); !os.IsNotExist(err) {
		t.Errorf("the checkout is still there: %v", err)
	}
	if said := w.finds(); said != "" {
		t.Errorf("the journal does not know of it: %s", said)
	}
}
