package job

import (
	"context"
	"slices"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
)

const (
	maxSteps = 200 // commits of a job that are listed
	maxViews = 50  // people whose last look is kept
)

// viewed is somebody's last look at all that the job changed.
type viewed struct {
	By     string    `json:"by"` // the actor
	Commit string    `json:"commit"`
	At     time.Time `json:"at"`
}

// span is what of a job is compared.
type span struct {
	from, to string // commits, or the files of one
	part     bool   // it is not all of it
	since    string
	steps    []wire.Step
}

// nothing says that a job has no commit to look at yet.
func (j *Job) nothing(name string) error {
	next := "wait for the end of its turn: tandem job wait " + j.ID
	if j.State == wire.Stopped {
		next = "see why it is stopped: tandem job show " + j.ID
	}
	return fault.New(fault.Conflict, name, "nothing of the job is committed yet").WithNext("%s", next)
}

// span is all that the job changed, one commit of it, or what came since another one. What came in from the branch is in none of them.
func (r *Room) span(ctx context.Context, j *Job, in wire.DiffIn) (s span, err error) {
	s = span{from: j.Base, to: j.Commit, part: in.Blanks}
	steps, err := r.Tools.Steps(ctx, j.Repo, j.Base, j.Commit, maxSteps)
	if err != nil {
		return s, err
	}
	for _, one := range steps {
		s.steps = append(s.steps, wire.Step{Commit: one.ID, Subject: one.Subject, At: one.At})
	}
	find := func(commit string) (int, error) {
		i := slices.IndexFunc(s.steps, func(one wire.Step) bool { return len(commit) >= 7 && strings.HasPrefix(one.Commit, commit) })
		if i < 0 {
			return 0, fault.New(fault.NotFound, "job.diff", "%.40q is no commit of the job", commit).
				WithNext("see its commits: tandem job diff %s --commits", j.ID)
		}
		return i, nil
	}
	switch {
	case in.Commit != "" && in.Since != "":
		return s, fault.New(fault.Invalid, "job.diff", "it is one commit, or what came since one, and not both")
	case in.Commit != "":
		i, err := find(in.Commit)
		if err != nil {
			return s, err
		}
		s.to, s.part = steps[i].ID, true
		first, came := steps[i].Parents[0], ""
		if len(steps[i].Parents) > 1 {
			came = steps[i].Parents[1]
		}
		s.from, err = r.Tools.Expected(ctx, j.Repo, first, came)
		return s, err
	case in.Since == wire.MyLook:
		if s.since = j.viewedBy(op.CallerFrom(ctx).Actor); s.since == "" {
			return s, fault.New(fault.Conflict, "job.diff", "you have not looked at all of it yet").
				WithNext("look: tandem job diff %s", j.ID)
		}
	case in.Since != "":
		i, err := find(in.Since)
		if err != nil {
			return s, err
		}
		s.since = s.steps[i].Commit
	default:
		return s, nil
	}
	s.part = true
	s.from, err = r.Tools.Expected(ctx, j.Repo, s.since, j.Base)
	return s, err
}

// viewedBy is the commit at which somebody looked last; "" for none.
func (j *Job) viewedBy(actor string) string {
	i := slices.IndexFunc(j.Views, func(v viewed) bool { return v.By == actor })
	if i < 0 {
		return ""
	}
	return j.Views[i].Commit
}

// viewed writes down that the caller looked at all of it.
func (r *Room) viewed(ctx context.Context, tx *db.Tx, in wire.ViewedIn) (*wire.Job, error) {
	c := op.CallerFrom(ctx)
	j, err := r.change(tx, c.Tenant, in.ID, func(j *Job) error {
		if j.Commit == "" {
			return j.nothing("job.viewed")
		}
		if j.Commit != in.Commit {
			return fault.New(fault.Conflict, "job.viewed", "the job is at %.12s by now, and you looked at %.12s", j.Commit, in.Commit).
				WithNext("look again: tandem job diff %s", j.ID)
		}
		j.Views = slices.DeleteFunc(j.Views, func(v viewed) bool { return v.By == c.Actor })
		if j.Views = append(j.Views, viewed{By: c.Actor, Commit: in.Commit, At: tx.Now()}); len(j.Views) > maxViews {
			j.Views = j.Views[1:]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	op.Note(ctx, "commit", in.Commit)
	op.Row(ctx, j.seal())
	j.unnamed()
	j.Comments, j.Reviews = nil, nil // as after any change
	return &j.Job, nil
}
