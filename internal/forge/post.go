package forge

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/forge/wire"
	jobs "tandem/internal/job/wire"
	"tandem/internal/op"
)

// maxPush bounds how long a push lasts.
const maxPush = 10 * time.Minute

// chosen is the forge that a job is posted to: where it is posted already, the one that is named, or the only one.
func (r *Room) chosen(ctx context.Context, tenant, name string, p *pull) (*wire.Forge, error) {
	if p != nil && (p.Number > 0 || name == "") {
		if name != "" && name != p.Forge {
			return nil, fault.New(fault.Conflict, "forge.post", "the job is posted at %s already", p.Ref()).
				WithNext("see it: tandem job pull %s", p.Job)
		}
		f, err := r.load(ctx, tenant, p.Forge)
		if err == nil {
			err = p.other("forge.post", f)
		}
		if err == nil || p.Number > 0 {
			return f, err
		}
	}
	if name == "" {
		all, err := r.all(ctx, tenant)
		if err != nil {
			return nil, err
		}
		if len(all) != 1 {
			return nil, fault.New(fault.Invalid, "forge.post", "%d forges were added here: say which is meant", len(all)).
				WithNext("see them: tandem forge list")
		}
		name = all[0].Name
	}
	return r.load(ctx, tenant, name)
}

// drafted is what would be posted of a job.
func (r *Room) drafted(ctx context.Context, tenant string, f *wire.Forge, j *jobs.Job, p *pull) (*wire.Drafted, error) {
	title := strings.TrimPrefix(j.Title(), j.From+": ")
	d := &wire.Drafted{Forge: f.Name, Where: f.URL + "/" + f.Repo, Commit: j.Commit, Branch: "tandem/" + j.ID, Base: j.Onto,
		Title: fault.Clip(title, 200)}
	var b strings.Builder
	if in, is := wire.ParseIssue(j.From); is && in.Name == f.Name {
		fmt.Fprintf(&b, "Closes #%d\n\n", in.Number)
	}
	switch {
	case j.Check == "":
		b.WriteString("No check ran.\n")
	case j.Verdict == jobs.Unchecked:
		fmt.Fprintf(&b, "The check `%s` has not run on these files (%.12s here).\n", j.Check, j.Commit)
	default:
		fmt.Fprintf(&b, "The check `%s` is %s on these files (%.12s here).\n", j.Check, j.Verdict, j.Commit)
	}
	if len(j.Altered) > 0 {
		fmt.Fprintf(&b, "Changed of what the check consists of: `%s`\n", strings.Join(j.Altered, "`, `"))
	}
	fmt.Fprintf(&b, "\nAn agent (%s) wrote it; %s looked at it. %s\n", j.Agent, op.CallerFrom(ctx).Name, j.ID)
	d.Text = b.String()
	if p != nil && p.Number > 0 && p.Where == where(f) {
		if d.Base = p.Base; p.State != wire.Closed { // one that was closed there stays so: another one is opened
			d.Number = p.Number
		}
		return d, nil
	}
	// A job on top of another one is posted on top of that one's pull request.
	below, err := r.below(ctx, tenant, f, j)
	if below != nil {
		d.Base = below.Branch
	}
	return d, err
}

// below is the pull request of the job that another one stands on; nil where there is none.
func (r *Room) below(ctx context.Context, tenant string, f *wire.Forge, j *jobs.Job) (*pull, error) {
	all, err := r.pulls(ctx, tenant, "forge = ? AND state = ?", f.Name, string(wire.Open))
	for _, q := range all {
		if (q.Local == j.Onto || j.Held && q.Job == j.On) && q.Repo == j.Repo && q.Where == where(f) {
			return q, err
		}
	}
	return nil, err
}

func (r *Room) draft(ctx context.Context, in wire.DraftIn) (*wire.Drafted, error) {
	tenant := op.CallerFrom(ctx).Tenant
	p, err := r.known(ctx, tenant, in.ID)
	if err != nil {
		return nil, err
	}
	f, err := r.chosen(ctx, tenant, in.Forge, p)
	if err != nil {
		return nil, err
	}
	j, err := op.Do(ctx, r.Rooms, jobs.Get, jobs.IDIn{ID: in.ID})
	if err != nil {
		return nil, err
	}
	if j.Commit == "" {
		return nil, fault.New(fault.Conflict, "forge.post", "the job has no commit yet").WithNext("see where it stands: tandem job show %s", j.ID)
	}
	return r.drafted(ctx, tenant, f, j, p)
}

// post pushes the job's commit to a branch of its own, and opens a pull request for it, or brings the one that it has up to date.
func (r *Room) post(ctx context.Context, in wire.PostIn) (*wire.Pull, error) {
	c := op.CallerFrom(ctx)
	p, err := r.known(ctx, c.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	f, err := r.chosen(ctx, c.Tenant, in.Forge, p)
	if err != nil {
		return nil, err
	}
	if !op.Allowed(ctx, "forge.post", at(f.Name)) {
		return nil, fault.New(fault.Denied, "forge.post", "you may not post to %s", f.Name)
	}
	if p != nil && p.State == wire.Merged {
		return nil, fault.New(fault.Conflict, "forge.post", "the pull request %s is %s", p.Ref(), p.State).
			WithNext("see it: tandem job pull %s", in.ID)
	}
	if len(in.Title) > 300 || len(in.Text) > 60<<10 {
		return nil, fault.New(fault.Invalid, "forge.post", "a title has at most 300 bytes, a text 60 KiB")
	}
	j, err := r.Work(ctx, "forge.post", in.ID, in.Commit, false)
	if err != nil {
		return nil, err
	}
	d, err := r.drafted(ctx, c.Tenant, f, j, p)
	if err != nil {
		return nil, err
	}
	d.Title, d.Text = cmp.Or(in.Title, d.Title), cmp.Or(in.Text, d.Text)
	op.Note(ctx, "commit", j.Commit)
	op.Note(ctx, "forge", d.Where)
	if p == nil || p.Number == 0 && p.Where != where(f) {
		p = &pull{Pull: wire.Pull{Job: j.ID, Forge: f.Name, Branch: d.Branch, By: c.Name}, Local: "tandem/" + called(j.ID), Repo: j.Repo,
			Where: where(f)}
	}
	p.State, p.Number, p.Base = wire.Open, d.Number, d.Base
	err = r.visit(ctx, c.Tenant, f, func(l *lent) error { return r.deliver(ctx, c.Tenant, l, j, d, p) })
	if err != nil {
		return nil, err
	}
	return &p.Pull, nil
}

// called is the name of a job's first session, and so of its branch.
func called(id string) string { return "job-" + id[len(id)-6:] }

// deliver is the visit of a post. It is written down before anything is sent; one that was cut off is said again, and finds what it did.
func (r *Room) deliver(ctx context.Context, tenant string, l *lent, j *jobs.Job, d *wire.Drafted, p *pull) error {
	ctx, cancel := context.WithTimeout(ctx, maxPush)
	defer cancel()
	refs, err := l.remote.refs(ctx)
	if err != nil {
		return err
	}
	as, err := r.alone(ctx, tenant, refs, j, d, p)
	if err != nil {
		return err
	}
	if err := r.DB.Write(ctx, func(tx *db.Tx) error { return r.send(ctx, tx, tenant, p) }); err != nil {
		return err
	}
	if from := refs["refs/heads/"+d.Branch]; from != as {
		have := make([]string, 0, len(refs))
		for _, id := range refs {
			have = append(have, id)
		}
		if err := l.remote.push(ctx, d.Branch, from, as, func(w io.Writer) error {
			return r.Tools.Pack(ctx, j.Repo, as, have, w)
		}); err != nil {
			return err
		}
	}
	if p.Number == 0 {
		found, err := l.Find(ctx, d.Branch, d.Base)
		if err == nil && found == nil {
			found, err = l.Open(ctx, d.Branch, d.Base, d.Title, d.Text)
		}
		if err != nil {
			return err
		}
		if found.Number < 1 {
			return fault.New(fault.Unavailable, "forge.post", "%s did not say which number the pull request has", d.Forge).
				WithNext("say it again: tandem job post %s", j.ID)
		}
		p.Number, p.URL = found.Number, page(found.URL)
	} else {
		now, err := l.Pull(ctx, p.Number)
		if err == nil {
			err = p.same(now)
		}
		if err == nil {
			err = l.Edit(ctx, p.Number, d.Title, d.Text)
		}
		if err != nil {
			return err
		}
	}
	p.Title, p.Commit, p.Problem, p.Checks, p.Moved = d.Title, j.Commit, "", nil, r.DB.Now()
	return r.DB.Write(ctx, func(tx *db.Tx) error { return r.send(ctx, tx, tenant, p) })
}
