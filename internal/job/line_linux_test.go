package job

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/testenv"
)

// runs has a server go on, and counts how often each job is looked at.
func (s *station) runs() (looks func(id string) int) {
	var mu sync.Mutex
	seen := map[string]int{}
	r := s.server()
	r.Step = func(j *Job) {
		mu.Lock()
		defer mu.Unlock()
		seen[j.ID]++
	}
	ctx, cancel := context.WithCancel(s.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	s.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			s.t.Error(err)
		}
	})
	return func(id string) int {
		mu.Lock()
		defer mu.Unlock()
		return seen[id]
	}
}

func (s *station) pauses(paused bool) {
	s.t.Helper()
	if _, err := s.set(op.WithCaller(s.t.Context(), op.Caller{Tenant: "t"}), wire.QueueIn{Folder: s.repo, Branch: "main"},
		func(q *wire.Queue, _ string) { q.Paused = paused }); err != nil {
		s.t.Fatal(err)
	}
}

// Of those who wait in a queue one looks. Each of them looked every two seconds, and at all: a queue of hundreds kept its server from work.
func TestThoseWhoWaitInAQueueDoNotLook(t *testing.T) {
	s := newStation(t)
	for _, n := range []string{"a", "b", "c", "d"} {
		s.add(n, "true", map[string]string{n + ".txt": n})
	}
	s.pauses(true)
	looks := s.runs()
	testenv.Eventually(t, "the first looks again and again", time.Minute, func() bool { return looks("job_a") > 4 })
	for _, id := range s.jobs[1:] {
		if n := looks(id); n != 1 {
			t.Errorf("%s was looked at %d times while it waited, want once", id, n)
		}
	}
}

// Where git cannot say where the branch stands, since the machine is too busy for it, nothing is decided by that: an approved job left its
// queue because "the branch is not there any more", and a protected one was paused because somebody had moved it.
func TestABusyMachineDecidesNothing(t *testing.T) {
	for _, protected := range []bool{false, true} {
		t.Run(fmt.Sprint("protected ", protected), func(t *testing.T) {
			s := newStation(t)
			s.add("a", "true", map[string]string{"a.txt": "a"})
			if _, err := s.set(op.WithCaller(t.Context(), op.Caller{Tenant: "t"}), wire.QueueIn{Folder: s.repo, Branch: "main"},
				func(q *wire.Queue, tip string) { q.Protected, q.Tip = protected, tip }); err != nil {
				t.Fatal(err)
			}
			git, err := exec.LookPath("git")
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\ncase \"$*\" in\n*rev-parse*) kill -9 $$ ;;\nesac\nexec "+git+
				" \"$@\"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			path := os.Getenv("PATH")
			t.Setenv("PATH", dir+string(os.PathListSeparator)+path)
			if err := s.advance(t.Context(), s.read("job_a"), &worker{woken: make(chan struct{}, 1)}); err == nil {
				t.Error("nobody said that git could not say")
			}
			q, err := s.queue(t.Context(), "t", s.repo, "main")
			if j := s.read("job_a"); err != nil || j.State != wire.Queued || q.Paused {
				t.Errorf("it is %s: %s; the queue: %s %v", j.State, j.Reason, q.Reason, err)
			}
			t.Setenv("PATH", path)
			s.serve()
			s.judge(map[string]string{"a": ""})
		})
	}
}

// A queue goes on by itself where nobody was told that its first one left.
func TestAQueueGoesOnAfterALostWakeUp(t *testing.T) {
	s := newStation(t)
	for _, n := range []string{"a", "b"} {
		s.add(n, "true", map[string]string{n + ".txt": n})
	}
	s.pauses(true)
	looks := s.runs()
	testenv.Eventually(t, "both wait", time.Minute, func() bool { return looks("job_a") > 1 && looks("job_b") > 0 })
	if err := s.DB.Write(t.Context(), func(tx *db.Tx) error { // past the room, which so wakes nobody
		_, err := tx.Exec(`UPDATE job SET state = 'stopped', body = replace(body, '"queued"', '"stopped"') WHERE id = 'job_a'`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	s.base = nil // nor does this room, which lets the queue go on
	s.pauses(false)
	testenv.Eventually(t, "the second is merged", time.Minute, func() bool { return s.read("job_b").State == wire.Merged })
}
