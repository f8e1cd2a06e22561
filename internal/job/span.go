package job

import (
	"cmp"
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
	maxViews = 100 // last looks that are kept: of people, and of their programs
)

// viewed is the last look of a person at all that the job changed, or of a program of theirs: nobody knows who read what that was shown.
type viewed struct {
	By     string    `json:"by"`             // the actor
	Of     string    `json:"of,omitempty"`   // the person, as kind:name
	Self   bool      `json:"self,omitempty"` // it was the person
	Commit string    `json:"commit"`
	At     time.Time `json:"at"`
}

// span is what of a job is compared.
type span struct {
	from, to string          // commits, or the files of one
	carried  map[string]bool // files that may hold what was written into one that the caller does not see
	part     bool            // it is not all of it
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
	base := j.Base
	if in.Stack && in.Since != "" {
		return s, fault.New(fault.Invalid, "job.diff", "it is a stack whole, or what came since a look at the job, and not both")
	} else if in.Stack {
		if base, err = r.ground(ctx, j); err != nil {
			return s, err
		}
	}
	s = span{from: base, to: j.Commit, part: in.Blanks || base != j.Base}
	steps, err := r.Tools.Steps(ctx, j.Repo, base, j.Commit, maxSteps)
	if err != nil {
		return s, err
	}
	for _, one := range steps {
		s.steps = append(s.steps, wire.Step{Commit: one.ID, Subject: one.Subject, At: one.At})
	}
	seen := func(file string) bool { return sees(ctx, j.Repo, file) }
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
		if len(steps[i].Parents) == 0 { // the branch was begun anew, and holds nothing of what the job stood on
			return s, fault.New(fault.Conflict, "job.diff", "%.12s is the first commit of its history: there is nothing to compare it with", s.to).
				WithNext("look at it with git: git -C %s show %s", quoted(j.Repo), s.to)
		}
		first, came := steps[i].Parents[0], ""
		if len(steps[i].Parents) > 1 {
			came = steps[i].Parents[1]
		}
		s.from, s.carried, err = r.Tools.Expected(ctx, j.Repo, first, came, seen)
		return s, err
	case in.Since == wire.MyLook:
		if s.since = cmp.Or(j.viewedBy(op.CallerFrom(ctx))); s.since == "" {
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
	s.from, s.carried, err = r.Tools.Expected(ctx, j.Repo, s.since, j.Base, seen)
	return s, err
}

// looker is the person who looks, or for whom a program does; "" for what works for itself.
func looker(c op.Caller) (person string, self bool) {
	switch {
	case c.Door == op.DoorMCP || c.Session != "":
	case c.Kind == op.Person:
		return string(op.Person) + ":" + c.Name, c.Present != "" || c.Door == op.DoorPanel
	case c.Kind == op.Local && len(c.For) > 0:
		return c.For[0], false
	}
	return "", false
}

// viewedBy is the commit at which the person looked last, and the one that a program of theirs was shown last; "" for none. To the person
// themselves only their own looks count.
func (j *Job) viewedBy(c op.Caller) (looked, shown string) {
	person, self := looker(c)
	for _, v := range j.Views {
		switch {
		case v.Of == "" && v.By == c.Actor: // from before it was written down who that was
			shown = cmp.Or(shown, v.Commit)
		case v.Of != person || person == "":
		case v.Self:
			looked = v.Commit
		default:
			shown = v.Commit
		}
	}
	if self {
		shown = ""
	}
	return looked, shown
}

// viewed writes down that the caller looked at all of it. What is written down already is no change, and no event.
func (r *Room) viewed(ctx context.Context, tx *db.Tx, in wire.ViewedIn) (*wire.Job, error) {
	c := op.CallerFrom(ctx)
	now := viewed{By: c.Actor, Commit: in.Commit, At: tx.Now()}
	if now.Of, now.Self = looker(c); now.Of == "" {
		return nil, fault.New(fault.Denied, "job.viewed", "a look is a person's, and %s is none", c.Name).
			WithNext("read the diff: tandem job diff %s", in.ID)
	}
	if in.Myself && !now.Self {
		return nil, fault.New(fault.Denied, "job.viewed", "that it was you who looked needs a person who is present").
			With("presence", "required").WithNext("say it on a terminal with the PIN, or in the panel: tandem job diff %s --looked", in.ID)
	}
	j, err := r.change(tx, c.Tenant, in.ID, func(j *Job) error {
		if j.Commit == "" {
			return j.nothing("job.viewed")
		}
		if j.Commit != in.Commit {
			return fault.New(fault.Conflict, "job.viewed", "the job is at %.12s by now, and you looked at %.12s", j.Commit, in.Commit).
				WithNext("look again: tandem job diff %s", j.ID)
		}
		same := func(v viewed) bool { return v.Of == now.Of && v.Self == now.Self }
		if slices.ContainsFunc(j.Views, func(v viewed) bool { return same(v) && v.Commit == now.Commit }) {
			return fault.New(fault.Conflict, "job.viewed", "it is written down already that you looked at %.12s", in.Commit).
				WithNext("when more came: tandem job diff %s --since-look", j.ID)
		}
		j.Views = slices.DeleteFunc(j.Views, same)
		if j.Views = append(j.Views, now); len(j.Views) > maxViews {
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
	j.masksStack(ctx)
	j.Comments, j.Reviews = nil, nil // as after any change
	return &j.Job, nil
}
