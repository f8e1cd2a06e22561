package job

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
)

// afar is a room whose repository has a remote that counts what it is given.
type afar struct {
	*alone
	ctx    context.Context
	remote string
}

func newAfar(t *testing.T, unasked bool) *afar {
	t.Helper()
	a := &afar{alone: newAlone(t, "true")}
	a.remote = filepath.Join(filepath.Dir(a.repo), "remote.git")
	a.git("init", "-q", "--bare", a.remote)
	hook := "#!/bin/sh\necho x >> " + a.remote + "/count\n"
	if err := os.WriteFile(filepath.Join(a.remote, "hooks", "post-receive"), []byte(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	a.git("remote", "add", "origin", a.remote)
	a.git("push", "-q", a.remote, "main")
	a.ctx = op.WithCaller(t.Context(), op.Caller{Tenant: "t", Name: "ann", Kind: op.Person})
	a.protect(wire.QueueIn{Folder: a.repo, Branch: "main", Push: "origin", Unasked: unasked})
	if err := os.Remove(filepath.Join(a.remote, "count")); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *afar) protect(in wire.QueueIn) {
	a.t.Helper()
	if _, err := a.Room.protect(a.ctx, in); err != nil {
		a.t.Fatal(err)
	}
}

// merges has the queue merge its job.
func (a *afar) merges(ctx context.Context) {
	a.t.Helper()
	a.stands(func(j *Job) { j.State, j.ApprovedBy, j.Verdict, j.Approved = wire.Queued, "bob", wire.Green, j.Commit })
	if err := a.step(ctx, a.job, &worker{woken: make(chan struct{}, 1)}); err != nil {
		a.t.Log(err)
	}
	if j, err := a.get(a.t.Context(), "t", "job_1"); err != nil || j.State != wire.Merged {
		a.t.Fatalf("it is %s: %v", j.State, err)
	}
}

func (a *afar) state() wire.Push {
	a.t.Helper()
	q, err := a.queue(a.t.Context(), "t", a.repo, "main")
	if err != nil || q.Push == nil {
		a.t.Fatalf("%+v %v", q, err)
	}
	return *q.Push
}

// far says where the remote's branch stands, and how often it was given something.
func (a *afar) far() (at string, pushes int) {
	a.t.Helper()
	out, err := exec.Command("git", "--git-dir="+a.remote, "rev-parse", "main").Output()
	if err != nil {
		a.t.Fatal(err)
	}
	count, _ := os.ReadFile(filepath.Join(a.remote, "count")) // not there yet
	return strings.TrimSpace(string(out)), strings.Count(string(count), "x")
}

func (a *afar) says(commit string) (*wire.Queue, error) {
	return a.push(a.ctx, wire.QueuePushIn{Folder: a.repo, Branch: "main", Commit: commit})
}

// What a queue merged waits for a person, who names the commit, and is pushed once.
func TestWhatIsMergedIsPushedByAWord(t *testing.T) {
	a := newAfar(t, false)
	if _, err := a.says(a.job.Commit); !fault.Is(err, fault.Conflict) {
		t.Errorf("before anything is merged: %v", err)
	}
	a.merges(t.Context())
	a.pushLeft(t.Context()) // nor does a restart push it
	if _, n := a.far(); n != 0 || a.state().Waits != a.job.Commit {
		t.Errorf("%d pushes unasked: %+v", n, a.state())
	}
	if _, err := a.says(a.job.Base); !fault.Is(err, fault.Conflict) {
		t.Errorf("another commit: %v", err)
	}
	if q, err := a.says(a.job.Commit); err != nil || q.Push.Pushed != a.job.Commit || q.Push.Waits != "" || q.Push.Problem != "" {
		t.Errorf("%+v %v", q, err)
	}
	if at, n := a.far(); at != a.job.Commit || n != 1 {
		t.Errorf("the remote stands at %s after %d pushes", at, n)
	}
	if _, err := a.says(a.job.Commit); !fault.Is(err, fault.Conflict) {
		t.Errorf("twice: %v", err)
	}
}

// A person may have each merge pushed without being asked. A push that the remote refuses is told, waits, and is not tried again by itself.
func TestWhatIsMergedIsPushedUnasked(t *testing.T) {
	for _, refuses := range []bool{false, true} {
		a := newAfar(t, true)
		if refuses {
			hook := filepath.Join(a.remote, "hooks", "pre-receive")
			if err := os.WriteFile(hook, []byte("#!/bin/sh\necho frozen for the release >&2\nexit 1\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		a.merges(t.Context())
		a.pushLeft(t.Context())
		at, n := a.far()
		switch p := a.state(); {
		case refuses && (n != 0 || p.Waits != a.job.Commit || !strings.Contains(p.Problem, "frozen for the release")):
			t.Errorf("refused: %d pushes, %+v", n, p)
		case !refuses && (at != a.job.Commit || n != 1 || p.Waits != "" || p.Pushed != a.job.Commit):
			t.Errorf("%d pushes, %+v", n, p)
		}
	}
}

// A server that dies while it pushes is followed by one that does not push again: it looks where the remote stands, and asks where
// that does not tell.
func TestNothingIsPushedTwice(t *testing.T) {
	for _, arrived := range []bool{false, true} {
		a := newAfar(t, true)
		ctx, die := context.WithCancel(t.Context())
		a.Begun = func() {
			if arrived {
				a.git("push", "-q", a.remote, a.job.Commit+":refs/heads/main")
			}
			die()
		}
		a.merges(ctx)
		if p := a.state(); p.Begun != a.job.Commit {
			t.Fatalf("it is not written down: %+v", p)
		}
		a.Begun = func() {}
		a.pushLeft(t.Context())
		a.pushLeft(t.Context())
		p := a.state()
		_, n := a.far()
		if arrived {
			if n != 1 || p.Pushed != a.job.Commit || p.Waits != "" || p.Problem != "" || p.Begun != "" {
				t.Errorf("it arrived: %d pushes, %+v", n, p)
			}
			continue
		}
		if n != 0 || !strings.Contains(p.Problem, "was begun") || p.Waits != a.job.Commit {
			t.Errorf("it did not arrive: %d pushes, %+v", n, p)
		}
		if q, err := a.says(a.job.Commit); err != nil || q.Push.Pushed != a.job.Commit || q.Push.Problem != "" {
			t.Errorf("a person says so: %+v %v", q, err)
		}
		if _, n := a.far(); n != 1 {
			t.Errorf("%d pushes", n)
		}
	}
}

// Whoever works in the repository can write its configuration. That neither redirects a push nor names programs that run with it.
func TestAPushGoesWhereAPersonSaid(t *testing.T) {
	a := newAfar(t, true)
	trap := filepath.Join(filepath.Dir(a.repo), "trap")
	for _, kv := range [][2]string{{"remote.origin.receivepack", "touch " + trap + "; git-receive-pack"}, {"core.sshCommand", "touch " + trap},
		{"url.ext::sh -c touch% " + trap + "% .insteadOf", a.remote}, {"core.hooksPath", filepath.Dir(a.repo)}, {"push.gpgSign", "true"}} {
		a.git("config", kv[0], kv[1])
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(a.repo), "pre-push"), []byte("#!/bin/sh\ntouch "+trap+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	a.merges(t.Context())
	if at, n := a.far(); at != a.job.Commit || n != 1 {
		t.Errorf("%d pushes: %+v", n, a.state())
	}
	if _, err := os.Stat(trap); err == nil {
		t.Error("a program of the repository's configuration ran")
	}
	a.git("config", "remote.origin.url", trap)
	if err := a.DB.Write(t.Context(), func(tx *db.Tx) error {
		_, err := a.changeQueue(tx, "t", a.repo, "main", func(q *wire.Queue) error { q.Push.Waits = a.job.Base; return nil })
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if q, err := a.says(a.job.Base); err != nil || !strings.Contains(q.Push.Problem, "another one now") {
		t.Errorf("to another address: %+v %v", q, err)
	}
	for _, url := range []string{"ext::sh -c date", "fd::3", "--upload-pack=x"} {
		a.git("config", "remote.origin.url", url)
		if _, err := a.Tools.Remote(t.Context(), a.repo, "origin"); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// An address with a token in it was told to every member, and written into the journal with each push.
func TestAnAddressWithAPasswordIsRefused(t *testing.T) {
	a := newAfar(t, false)
	a.git("remote", "set-url", "origin", "https://ann:word@example.org/app.git")
	_, err := a.Room.protect(a.ctx, wire.QueueIn{Folder: a.repo, Branch: "main", Push: "origin"})
	if !fault.Is(err, fault.Invalid) || strings.Contains(err.Error(), "word@") {
		t.Errorf("%v", err)
	}
}
