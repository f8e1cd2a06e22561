package job

import (
	"testing"

	"tandem/internal/db"
	"tandem/internal/job/wire"
	"tandem/internal/session"
	"tandem/internal/session/checkout"
)

// A job that names its branch begins there. In a folder that was detached, as a queue wants it, jobs were for no branch, and began at what
// happened to be checked out.
func TestAJobBeginsAtItsBranch(t *testing.T) {
	a := newAlone(t, "")
	a.git("branch", "-f", "main", "job")
	a.git("switch", "-q", "--detach", "main~1")
	tools := checkout.Tools{Env: a.env}
	far := &sessions{tools: tools, keys: map[string]*session.Turn{}, after: func(string) {}}
	a.Rooms, a.TakeBack = far, far.takeBack
	const id = "job_000001"
	a.job = &Job{Tenant: "t", Job: wire.Job{ID: id, State: wire.Planned, Task: "x", Bound: 3}}
	if err := a.DB.Write(t.Context(), func(tx *db.Tx) error { return a.insert(tx, a.job) }); err != nil {
		t.Fatal(err)
	}
	for onto, want := range map[string]string{"main": a.git("rev-parse", "main"), "": a.git("rev-parse", "HEAD")} {
		a.stands(func(j *Job) {
			j.State, j.Folder, j.Agent, j.Onto, j.Commit, j.Base, j.Path, j.Session = wire.Planned, a.repo, "m/m", onto, "", "", "", ""
		})
		if err := a.open(t.Context(), a.job, nil); err != nil {
			t.Fatal(err)
		}
		j, err := a.get(t.Context(), "t", id)
		if err != nil || j.Base != want || j.Onto != onto || a.git("-C", j.Path, "rev-parse", "HEAD") != want {
			t.Errorf("for %q it begins at %.12s, for %q: %s (%v)", onto, j.Base, j.Onto, j.Reason, err)
		}
	}
	a.stands(func(j *Job) {
		j.State, j.Onto, j.Commit, j.Base, j.Path, j.Session = wire.Planned, "gone", "", "", "", ""
	})
	if err := a.open(t.Context(), a.job, nil); err != nil {
		t.Fatal(err)
	}
	if j, err := a.get(t.Context(), "t", id); err != nil || j.State != wire.Stopped {
		t.Errorf("for a branch that is not there it is %s: %s (%v)", j.State, j.Reason, err)
	}
}
