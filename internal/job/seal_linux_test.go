package job

import (
	"encoding/json"
	"strings"
	"testing"

	"tandem/internal/db"
	"tandem/internal/job/prepare"
	"tandem/internal/job/wire"
	"tandem/internal/journal"
	"tandem/internal/op"
)

// typed is what somebody types into the database.
func (a *alone) typed(query string, args ...any) {
	a.t.Helper()
	if err := a.DB.Write(a.t.Context(), func(tx *db.Tx) error { _, err := tx.Exec(query, args...); return err }); err != nil {
		a.t.Fatal(err)
	}
}

// vouch has the journal vouch for a job as it is, as every move of it does.
func (a *alone) vouch(id string) {
	a.t.Helper()
	if err := a.DB.Write(a.t.Context(), func(tx *db.Tx) error {
		j, err := scan(tx.QueryRow(columns+"tenant = ? AND id = ?", "t", id))
		if err != nil {
			return err
		}
		return a.vouchFor(tx, op.Caller{Tenant: "t", Name: "ann"}, j, map[string]any{"event": "queue"})
	}); err != nil {
		a.t.Fatal(err)
	}
}

// A line of SQL that says that a person allowed a lock file has nothing fetched: the registry is not asked, and the job waits for a
// person as before. What a person said is fetched, and taking the seal of it out of the database is seen at the next start.
func TestALockFileIsFetchedByAPersonsWordAlone(t *testing.T) {
	r := newRegistry(t)
	old := r.module(t, "example.com/greet", "v1.0.0", "package greet\n\nconst Word = \"hello\"\n")
	newer := r.module(t, "example.com/greet", "v1.1.0", "package greet\n\nconst Word = \"hello\"\n")
	base := map[string]string{"go.mod": "module example.org/app\n\ngo 1.21\n\nrequire example.com/greet v1.0.0\n", "go.sum": old,
		"app.go": "package app\n\nimport \"example.com/greet\"\n\nconst fits = 1 / (len(greet.Word) - 4)\n"}
	a := fetching(t, "go build ./...", r, prepare.Go, base)
	a.Vouch = a.Journal.Vouch()
	up := map[string]string{"go.mod": strings.ReplaceAll(base["go.mod"], "v1.0.0", "v1.1.0"), "go.sum": newer}
	j := a.next(up)
	if j.State != wire.Stopped || j.Lock == nil || len(j.Locks) != 1 || r.count() != 0 {
		t.Fatalf("it is %s: %s, %+v, and the registry was asked %v", j.State, j.Reason, j.Lock, r.asked)
	}
	a.typed("INSERT INTO job_lock (tenant, repo, digest, by_name, at) VALUES ('t', ?, ?, 'ann', 1)", a.repo, j.Locks[0])
	if j = a.next(up); j.State != wire.Stopped || j.Lock == nil || r.count() != 0 {
		t.Errorf("by a line of SQL it is %s: %s, and the registry was asked %v", j.State, j.Reason, r.asked)
	}

	says := lockSeal("t", a.repo, j.Locks[0], "ann")
	if err := a.DB.Write(t.Context(), func(tx *db.Tx) error {
		return a.Journal.Tell(tx, journal.Event{Tenant: "t", Type: "job.prepare", Phase: journal.Done, Actor: "ann", Resource: "job:/job_1"},
			map[string]any{}, says)
	}); err != nil {
		t.Fatal(err)
	}
	if j = a.next(up); j.State != wire.Review || j.Verdict != wire.Green || r.count() != 2 {
		t.Errorf("by a person's word it is %s: %s\n%s\n%v", j.State, j.Reason, a.said(), r.asked)
	}

	a.typed("DELETE FROM journal_seal WHERE subject = ?", says.Subject)
	report, err := a.Journal.Verify(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(report.Findings)
	if err != nil || !strings.Contains(string(text), "vouches for the "+strings.Replace(says.Subject, ":", " ", 1)+", and its seal is gone") {
		t.Errorf("verify finds %s %v", text, err)
	}
}

// A job that a line of SQL puts into a queue, approved and green, is not taken along, and a train that a line of SQL makes does not move
// the branch. Without the seals it would.
func TestATrainTakesNoForgedEntry(t *testing.T) {
	s := newStation(t)
	s.Train, s.seal = 4, true
	s.add("a", "true", map[string]string{"a.txt": "a\n"})
	s.add("b", "true", map[string]string{"b.txt": "b\n"})
	s.vouch("job_a")
	s.vouch("job_b")
	real := s.jobs
	s.add("forged", "true", map[string]string{"forged.txt": "x\n"})
	s.jobs = real
	s.typed("DELETE FROM journal_seal WHERE subject = 'job:job_forged'")
	s.serve()
	for _, id := range real {
		if j := s.read(id); j.State != wire.Merged {
			t.Errorf("%s is %s: %s", id, j.State, j.Reason)
		}
	}
	if files := s.git("ls-tree", "--name-only", "main"); strings.Contains(files, "forged.txt") || !strings.Contains(files, "b.txt") {
		t.Errorf("main has %s", files)
	}

	s.add("c", "true", map[string]string{"c.txt": "c\n"})
	s.vouch("job_c")
	c := s.read("job_c")
	evil, before := s.read("job_forged").Commit, s.git("rev-parse", "main")
	s.git("worktree", "add", "-q", "--detach", s.repo+"-evil", "main")
	s.git("-C", s.repo+"-evil", "merge", "-q", "--no-edit", evil, c.Commit)
	evil = s.git("-C", s.repo+"-evil", "rev-parse", "HEAD")
	body, err := json.Marshal(&wire.Queue{Repo: s.repo, Branch: "main",
		Train: &wire.Train{Base: before, Green: 1, Cars: []wire.Car{{Job: c.ID, From: c.Commit, Commit: evil}}}})
	if err != nil {
		t.Fatal(err)
	}
	s.Rooms = nobody{}
	moved := func(sealed bool) bool {
		t.Helper()
		s.Sealed = sealed
		s.typed("DELETE FROM job_queue")
		s.typed("INSERT INTO job_queue (tenant, home, repo, branch, body, updated_at) VALUES ('t', ?, ?, 'main', ?, 1)", s.Owner.Home, s.repo,
			string(body))
		for range 6 {
			if j := s.read(c.ID); j.State == wire.Queued {
				if err := s.advance(t.Context(), j, &worker{woken: make(chan struct{}, 1)}); err != nil {
					t.Fatal(err)
				}
			}
		}
		return s.git("rev-parse", "main") != before
	}
	if moved(true) {
		t.Errorf("a train by a line of SQL moved main to %s", s.git("rev-parse", "main"))
	}
	if !moved(false) || !strings.Contains(s.git("ls-tree", "--name-only", "main"), "forged.txt") {
		t.Error("the same train moves nothing where rows count by themselves: this test shows nothing")
	}
}
