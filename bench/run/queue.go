package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"tandem/internal/client"
	"tandem/internal/provider/scripted"
)

// How much is measured of a merge queue: approved jobs that wait, and how long the check of each lasts.
const (
	queuedJobs = 8
	checkLasts = "0.5"
)

// merging measures a merge queue: as many approved jobs one after the other, and in trains.
func merging(int) (section, error) {
	s := section{title: "The merge queue", how: fmt.Sprintf("%d approved jobs of one repository wait in a paused queue, each with a check of "+
		"%s s in its box; from the moment at which the queue goes on until all are merged. One job at a time each is brought together with "+
		"the branch and checked by itself; in a train of four (the setting `queue_train`) the four are checked once, together. No job is red. "+
		"The jobs are made by a scripted model; SQLite with synchronous=FULL.", queuedJobs, checkLasts)}
	model := &scripted.Server{}
	if err := model.Start("127.0.0.1:0"); err != nil {
		return s, err
	}
	defer model.Close()
	took := map[string]time.Duration{}
	for _, train := range []string{"1", "4"} {
		p, err := startProgram("TANDEM_QUEUE_TRAIN=" + train)
		if err != nil {
			return s, err
		}
		b := &merges{side: &side{model: model, p: p}}
		took[train], err = b.measure()
		if err := errors.Join(err, p.stop()); err != nil {
			return s, fmt.Errorf("trains of %s: %w", train, err)
		}
	}
	each := func(train string) string { return span(took[train] / queuedJobs) }
	s.figures = []figure{
		{what: "a merged job, one at a time", value: each("1")},
		{what: "a merged job, in trains of four", value: each("4"),
			compared: fmt.Sprintf("one at a time %s, so %.1f × as many", each("1"), float64(took["1"])/float64(took["4"]))},
	}
	return s, nil
}

type merges struct {
	*side
	c, present *client.Client
}

type benchJob struct{ ID, State, Reason, Commit string }

func (b *merges) measure() (time.Duration, error) {
	if err := b.furnish(); err != nil {
		return 0, err
	}
	ctx := context.Background()
	b.c = client.Socket(filepath.Join(b.p.dir, "data", "tandem.sock"))
	b.present = b.c.WithPIN(benchPIN)
	if err := errors.Join(b.repository(), b.present.Call(ctx, "grant.add",
		obj{"principal": "session:*", "resource": "folder:/", "permissions": []string{"edit"}}, nil)); err != nil {
		return 0, err
	}
	for i := range queuedJobs {
		task := fmt.Sprintf(`make %d [[tool write {"path":"f%d.txt","content":"x\n"}]] [[say done]]`, i, i)
		if err := b.c.Call(ctx, "job.start", obj{"task": task, "folder": b.folder, "onto": "main", "agent": "fake/scripted-1",
			"check": "sh check.sh"}, nil); err != nil {
			return 0, err
		}
	}
	ready, err := b.until("in review")
	if err != nil {
		return 0, err
	}
	queue := obj{"folder": b.folder, "branch": "main"}
	if err := b.c.Call(ctx, "queue.pause", queue, nil); err != nil {
		return 0, err
	}
	for _, j := range ready {
		if err := b.present.Call(ctx, "queue.add", obj{"id": j.ID, "commit": j.Commit}, nil); err != nil {
			return 0, err
		}
	}
	began := time.Now()
	if err := b.present.Call(ctx, "queue.resume", queue, nil); err != nil {
		return 0, err
	}
	_, err = b.until("merged")
	return time.Since(began), err
}

// repository makes one whose branch nobody has checked out.
func (b *merges) repository() error {
	if err := os.WriteFile(filepath.Join(b.folder, "check.sh"), []byte("sleep "+checkLasts+"\n"), 0o644); err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"},
		{"-c", "user.name=b", "-c", "user.email=b@example.org", "commit", "-qm", "first"}, {"switch", "-q", "--detach"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = b.folder, []string{"HOME=" + b.p.dir, "PATH=" + os.Getenv("PATH")}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %v: %w\n%s", args, err, out)
		}
	}
	return nil
}

// until waits until all jobs stand there.
func (b *merges) until(state string) ([]benchJob, error) {
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		var out struct{ Jobs []benchJob }
		if err := b.c.Call(context.Background(), "job.list", obj{"limit": 100}, &out); err != nil {
			return nil, err
		}
		there := 0
		for _, j := range out.Jobs {
			switch j.State {
			case state:
				there++
			case "stopped":
				return nil, fmt.Errorf("%s is stopped: %s", j.ID, j.Reason)
			}
		}
		if there == queuedJobs {
			return out.Jobs, nil
		}
	}
	return nil, fmt.Errorf("not all jobs are %s", state)
}
