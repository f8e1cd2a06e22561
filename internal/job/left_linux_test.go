package job

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/session"
)

// A crash between the workspace and its row leaves a worktree that nobody wrote down. It goes, unless somebody worked in it.
func TestAWorkspaceThatNobodyWroteDownGoes(t *testing.T) {
	for what, c := range map[string]struct {
		touch func(a *alone, path string)
		stays bool
	}{
		"unused": {touch: func(*alone, string) {}},
		"half made": {touch: func(a *alone, path string) {
			a.git("worktree", "lock", "--reason", "initializing", path)
			os.Remove(path + "/secret.txt")
		}},
		"folder gone": {touch: func(a *alone, path string) {
			if err := os.RemoveAll(path); err != nil {
				a.t.Fatal(err)
			}
		}},
		"written in": {stays: true, touch: func(a *alone, path string) {
			if err := os.WriteFile(path+"/new", nil, 0o600); err != nil {
				a.t.Fatal(err)
			}
		}},
		"committed in": {stays: true, touch: func(a *alone, path string) { a.git("-C", path, "commit", "-q", "--allow-empty", "-m", "x") }},
	} {
		t.Run(what, func(t *testing.T) {
			a := newAlone(t, "")
			a.TakeBack = func(context.Context, string, string) error { return nil } // there is no row
			a.job = &Job{Tenant: "t", Try: 1, Opening: true, Before: wire.Planned, Job: wire.Job{ID: "job_000001", State: wire.Stopped,
				Agent: "m/m", Folder: filepath.Join(a.repo, "gone")}}
			if err := a.DB.Write(t.Context(), func(tx *db.Tx) error { return a.insert(tx, a.job) }); err != nil {
				t.Fatal(err)
			}
			seat := a.job.seat(1)
			path := a.repo + "-" + seat
			a.git("worktree", "add", "-q", "-b", "tandem/"+seat, path, "HEAD")
			c.touch(a, path)
			j := a.rest()
			left := a.git("worktree", "list") + a.git("branch", "--list", "tandem/*")
			if got := strings.Contains(left, seat); got != c.stays || j.Stays != c.stays {
				t.Errorf("left: %s; the job says %q", left, j.Reason)
			}
		})
	}
}

// In a folder that is no repository nothing was opened, and nothing is said to be left. While the database is away nothing is given up.
func TestNothingIsLeftWhereNothingWasOpened(t *testing.T) {
	a := newAlone(t, "")
	a.job = &Job{Tenant: "t", Try: 1, Opening: true, Before: wire.Planned, Job: wire.Job{ID: "job_000001", State: wire.Stopped,
		Agent: "m/m", Folder: t.TempDir(), Reason: "no repository"}}
	if err := a.DB.Write(t.Context(), func(tx *db.Tx) error { return a.insert(tx, a.job) }); err != nil {
		t.Fatal(err)
	}
	if j := a.rest(); j.Stays || j.Opening || j.Reason != "no repository" {
		t.Errorf("%+v", j)
	}
	a.stands(func(j *Job) { j.Opening, j.Folder = true, a.repo })
	a.TakeBack = func(context.Context, string, string) error {
		return fault.New(fault.Unavailable, "db", "the database is away")
	}
	if err := a.step(t.Context(), a.job, nil); !fault.Is(err, fault.Unavailable) {
		t.Errorf("it goes on after %v", err)
	}
	a.TakeBack = func(context.Context, string, string) error { return nil }
	if j := a.rest(); j.Stays || j.Opening {
		t.Errorf("%+v", j)
	}
}

// Who comments binds the agent by their own denials when it hears of the comment, and not before.
func TestACommentThatWaitsBindsNobody(t *testing.T) {
	a := newAlone(t, "")
	a.stands(func(j *Job) {
		j.State, j.Session, j.Caller = wire.Review, "ses_1", op.Caller{Tenant: "t", Name: "ann", Kind: op.Person}
	})
	as := func(name string) context.Context {
		return op.WithSight(op.WithCaller(t.Context(), op.Caller{Tenant: "t", Name: name, Kind: op.Person}),
			op.Sight{File: func(string) bool { return true }})
	}
	if _, err := a.comment(as("bob"), wire.CommentIn{ID: "job_1", File: "secret.txt", Commit: a.job.Commit, Text: "hm"}); err != nil {
		t.Fatal(err)
	}
	j, err := a.get(t.Context(), "t", "job_1")
	if err != nil || len(j.Caller.Prompted) != 0 {
		t.Errorf("it is bound by %v: %v", j.Caller.Prompted, err)
	}
	if err := a.DB.Write(t.Context(), func(tx *db.Tx) error {
		_, err := a.back(as("cem"), tx, wire.BackIn{ID: "job_1"})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if j, err = a.get(t.Context(), "t", "job_1"); err != nil || len(j.Caller.Prompted) != 2 {
		t.Errorf("it is bound by %v: %v", j.Caller.Prompted, err)
	}
}

// There is always room for another comment once the agent heard some, and what it hears names the commit that each is about.
func TestCommentsMakeRoom(t *testing.T) {
	j := &Job{Job: wire.Job{ID: "job_1", Commit: "bbbb"}}
	for range maxComments {
		if err := j.remark(wire.Comment{File: "a", Text: "x", Commit: "aaaa"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.remark(wire.Comment{File: "a", Text: "x"}); !fault.Is(err, fault.Exhausted) {
		t.Errorf("more than the agent can hear: %v", err)
	}
	j.heard(Event{Sent: true})
	j.heard(Event{Answered: []int64{7}})
	for i, gone := range []int64{7, 1, 2} {
		if err := j.remark(wire.Comment{File: "a", Text: "x", Commit: []string{"aaaa", "bbbb", "bbbb"}[i]}); err != nil {
			t.Fatal(err)
		}
		for _, c := range j.Comments {
			if c.N == gone {
				t.Errorf("%d is still there", gone)
			}
		}
	}
	if last := j.Comments[len(j.Comments)-1]; last.N != maxComments+3 || len(j.Comments) != maxComments {
		t.Errorf("the last of %d is %d", len(j.Comments), last.N)
	}
	if said := j.remarks(""); !strings.Contains(said, "commit aaaa and has") || strings.Count(said, "about commit bbbb") != 1 {
		t.Error(said)
	}
}

// What a turn moved is named also when the job went on before its turn was ended.
func TestAResumeBeforeTheEndOfTheTurnNamesWhatItMoved(t *testing.T) {
	a := newAlone(t, "")
	a.stands(func(j *Job) {
		j.State, j.Session, j.Agent, j.Turns, j.Flight, j.Prompt = wire.Working, "ses_1", "m/m", 1, "turn_1", "do it"
	})
	if err := a.before(t.Context(), a.job); err != nil {
		t.Fatal(err)
	}
	a.git("branch", "of-the-agent")
	a.stop(false)
	first, err := a.get(t.Context(), "t", "job_1")
	if err != nil {
		t.Fatal(err)
	}
	a.stands(func(j *Job) {
		if err := j.Apply(Event{Kind: Resume}, time.Now()); err != nil {
			t.Error(err)
		}
	})
	if err := a.after(t.Context(), first, Event{Kind: Hushed}); err != nil { // it was about to be ended
		t.Fatal(err)
	}
	a.Rooms = &script{do: map[string]func(context.Context, any) (any, error){
		"session.cancel": func(context.Context, any) (any, error) { return session.CancelOut{}, nil },
		"session.prompt": func(context.Context, any) (any, error) { return nil, fault.New(fault.Denied, "session", "no") }}}
	if j := a.rest(); len(j.Moved) != 1 || j.Moved[0].Ref != "refs/heads/of-the-agent" {
		t.Errorf("it names %v", j.Moved)
	}
	if left, err := filepath.Glob(a.Folder + "/*.refs"); len(left) > 0 || err != nil {
		t.Errorf("left: %v %v", left, err)
	}
}

// Jobs and queues of a database from before there were homes are the first server's.
func TestQueuesFromBeforeHomesAreKept(t *testing.T) {
	before := fstest.MapFS{}
	for _, name := range []string{"schema/0001_job.sql", "schema/0002_queue.sql"} {
		data, err := schema.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		before[name] = &fstest.MapFile{Data: data}
	}
	d, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Migrate(t.Context(), db.Migrations{Room: "job", FS: before}); err != nil {
		t.Fatal(err)
	}
	if err := d.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(`INSERT INTO job_queue (tenant, repo, branch, body, updated_at) VALUES ('t', '/r', 'main',
			'{"repo":"/r","branch":"main","protected":true,"tip":"aa"}', 1)`)
		if err == nil {
			_, err = tx.Exec(`INSERT INTO job (tenant, id, state, body, owner, fence, created_at, updated_at) VALUES ('t', 'job_1', 'stopped',
				'{"id":"job_1","state":"stopped"}', 'srv_1', 1, 1, 1)`)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Migrate(t.Context(), Migrations); err != nil {
		t.Fatal(err)
	}
	r := New(d, nil, nil, everybody)
	if q, err := r.queue(t.Context(), "t", "/r", "main"); err != nil || !q.Protected || q.Tip != "aa" || q.Home != "" {
		t.Errorf("%+v %v", q, err)
	}
	if j, err := r.get(t.Context(), "t", "job_1"); err != nil || j.Home != "" || j.State != wire.Stopped {
		t.Errorf("%+v %v", j, err)
	}
}
