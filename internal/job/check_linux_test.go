package job

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/session/checkout"
	"tandem/internal/testenv"
	"tandem/internal/tool"
)

// alone is a room with one job in review, whose repository is real and whose sessions are not asked.
type alone struct {
	*Room
	t    *testing.T
	repo string
	env  []string
	job  *Job
}

func newAlone(t *testing.T, check string) *alone { t.Helper(); return newAloneAt(t, check, "") }

// onBoth runs a test on each kind of database.
func onBoth(t *testing.T, test func(*testing.T, *alone)) {
	t.Run("sqlite", func(t *testing.T) { test(t, newAlone(t, "true")) })
	t.Run("postgres", func(t *testing.T) { test(t, newAloneAt(t, "true", testenv.Postgres(t))) })
}

func newAloneAt(t *testing.T, check, database string) *alone {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d, err := db.Open(t.Context(), cmp.Or(database, filepath.Join(home, "a.db")), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if _, err := d.Migrate(t.Context(), journal.Migrations, Migrations); err != nil {
		t.Fatal(err)
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	box, err := tool.FindSandbox(t.Context(), tool.AnySandbox)
	if err != nil || !box.Works() {
		t.Fatalf("checks run in a sandbox, and none works here: %v", err)
	}
	a := &alone{t: t, repo: filepath.Join(home, "app"), env: []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}}
	a.Room = New(d, journal.New(d, key), slog.New(slog.DiscardHandler), everybody)
	a.Tools, a.Box, a.Folder = checkout.Tools{Env: a.env}, box, filepath.Join(home, "jobs")
	if err := os.Mkdir(a.repo, 0o755); err != nil {
		t.Fatal(err)
	}
	a.git("init", "-q", "-b", "main")
	a.git("commit", "-q", "--allow-empty", "-m", "first")
	base := a.git("rev-parse", "HEAD")
	a.git("switch", "-q", "-c", "job")
	a.write("secret.txt", "hunter2\n")
	a.git("add", "-A")
	a.git("commit", "-q", "-m", "work")
	a.job = &Job{Tenant: "t", Job: wire.Job{ID: "job_1", State: wire.Checking, Task: "x", Check: check, Seconds: 60, Bound: 3, Repo: a.repo,
		Base: base, Onto: "main", Path: a.repo, Commit: a.git("rev-parse", "HEAD"), Verdict: wire.Unchecked}, Work: a.repo}
	if err := d.Write(t.Context(), func(tx *db.Tx) error { return a.insert(tx, a.job) }); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *alone) git(args ...string) string {
	a.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", a.repo, "-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
	cmd.Env = a.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		a.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (a *alone) write(name, text string) {
	a.t.Helper()
	at := filepath.Join(a.repo, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		a.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		a.t.Fatal(err)
	}
}

// What a check printed may be any of the files it ran on: whoever may not see one of these does not see it, nor is it in the journal.
func TestOutputIsForWhoSeesTheFiles(t *testing.T) {
	a := newAlone(t, "cat secret.txt")
	own, err := a.run(t.Context(), a.job, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.happened(t.Context(), a.job, Event{Kind: Checked, Own: own}); err != nil {
		t.Fatal(err)
	}
	as := func(file func(string) bool) *wire.Job {
		ctx := op.WithSight(op.WithCaller(t.Context(), op.Caller{Tenant: "t"}), op.Sight{File: file})
		j, err := a.read(ctx, wire.IDIn{ID: "job_1"})
		if err != nil || len(j.Evidence) != 1 {
			t.Fatalf("%+v %v", j, err)
		}
		return j
	}
	if e := as(func(string) bool { return true }).Evidence[0]; e.Output != "hunter2\n" || e.Hidden {
		t.Errorf("who sees all: %+v", e)
	}
	if e := as(func(path string) bool { return filepath.Base(path) != "secret.txt" }).Evidence[0]; e.Output != "" || !e.Hidden {
		t.Errorf("who does not see the file: %+v", e)
	}
	events, err := a.Journal.Read(t.Context(), "t", 0, 10, journal.Filter{})
	if err != nil || len(events) == 0 {
		t.Fatalf("%v %v", events, err)
	}
	text, err := json.Marshal(events)
	if err != nil || strings.Contains(string(text), "hunter2") || !strings.Contains(string(text), `"green"`) {
		t.Errorf("the journal: %s %v", text, err)
	}
}

// A merge that somebody else overtook is not a success.
func TestAnOvertakenMergeIsRefused(t *testing.T) {
	a := newAlone(t, "")
	caller := op.WithSight(op.WithCaller(t.Context(), op.Caller{Tenant: "t", Name: "ann", Kind: op.Person}),
		op.Sight{File: func(string) bool { return true }})
	if err := a.DB.Write(caller, func(tx *db.Tx) error {
		_, err := a.change(tx, "t", "job_1", func(j *Job) error { j.State = wire.Review; return nil })
		return err
	}); err != nil {
		t.Fatal(err)
	}
	a.Told = func(*db.Tx, string, wire.Job, wire.State) error { return errStale } // as if it had moved before this transaction
	if j, err := a.merge(caller, wire.MergeIn{ID: "job_1", Commit: a.job.Commit}); !fault.Is(err, fault.Conflict) {
		t.Errorf("%+v %v", j, err)
	}
}

// What a check writes is bounded.
func TestACheckThatFillsTheDiskIsEnded(t *testing.T) {
	for where, line := range map[string]string{"its files": "yes > big", "its temporary folder": "cat /dev/zero > $TMPDIR/big"} {
		a := newAlone(t, line)
		a.Disk = 1 << 20
		e, err := a.run(t.Context(), a.job, "run", nil)
		if err != nil || !e.Full || e.Late || e.Verdict != wire.Red || e.Seconds > 50 {
			t.Errorf("%s: %+v %v", where, e, err)
		}
	}
}

// A check that locks its folder is in nobody's way, also where tandem is not root. Root is kept from nothing, so somebody else runs this.
func TestALockedFolderIsTakenAway(t *testing.T) {
	if at := os.Getenv("TANDEM_TEST_LOCKED"); at != "" {
		locked := filepath.Join(at, "place", "a", "b")
		if err := os.MkdirAll(locked, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{locked, filepath.Dir(locked)} {
			if err := os.Chmod(dir, 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := clear(filepath.Join(at, "place")); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(filepath.Join(at, "place")); !os.IsNotExist(err) {
			t.Errorf("it is still there: %v", err)
		}
		return
	}
	at := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	cmd.Env = []string{"TANDEM_TEST_LOCKED=" + at}
	if os.Getuid() == 0 {
		bin := filepath.Join(at, "test")
		data, err := os.ReadFile(os.Args[0])
		if err == nil {
			err = os.WriteFile(bin, data, 0o755)
		}
		for dir := at; err == nil && dir != os.TempDir() && len(dir) > 1; dir = filepath.Dir(dir) {
			err = os.Chmod(dir, 0o777)
		}
		if err != nil {
			t.Fatal(err)
		}
		cmd.Path, cmd.Dir = bin, at
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The server of a copy had been started more often than the one that takes it in, so its fences are higher. Its jobs are stopped all the
// same, and are this server's: a restore used to fail with an open job.
func TestJobsOfACopyAreStopped(t *testing.T) {
	a := newAlone(t, "true")
	err := a.DB.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec("UPDATE job SET owner = 'srv_of_the_copy', fence = 40")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = a.DB.Write(t.Context(), func(tx *db.Tx) error {
		n, err := a.Restored(tx)
		if n != 1 {
			t.Errorf("%d jobs were open", n)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	j, err := a.get(t.Context(), "t", "job_1")
	if err != nil || j.State != wire.Stopped {
		t.Fatalf("%+v %v", j, err)
	}
	if err := a.settle(t.Context(), j, Event{Kind: Resume}); err != nil {
		t.Errorf("it does not go on: %v", err)
	}
}

// What somebody started does not go on when they may do nothing here any more.
func TestAJobEndsWithWhoStartedIt(t *testing.T) {
	a := newAlone(t, "echo ran > ../ran")
	a.people.Still = func(context.Context, op.Caller) error {
		return fault.New(fault.Unauthenticated, "identity", "what let t in has ended")
	}
	if err := a.step(t.Context(), a.job, &worker{woken: make(chan struct{}, 1)}); err != nil {
		t.Fatal(err)
	}
	j, err := a.get(t.Context(), "t", "job_1")
	if err != nil || j.State != wire.Stopped || !strings.Contains(j.Reason, "may do nothing here any more") {
		t.Fatalf("%+v %v", j, err)
	}
	if evidence, err := a.evidence(t.Context(), "t", "job_1"); err != nil || len(evidence) > 0 {
		t.Errorf("the check ran: %+v %v", evidence, err)
	}
	a.stands(func(j *Job) { j.State, j.Prompt = wire.SentBack, "once more" })
	if err := a.step(t.Context(), a.job, &worker{woken: make(chan struct{}, 1)}); err != nil {
		t.Fatal(err)
	}
	if j, err := a.get(t.Context(), "t", "job_1"); err != nil || j.State != wire.Stopped {
		t.Errorf("what was sent back goes on: %+v %v", j, err)
	}
}
