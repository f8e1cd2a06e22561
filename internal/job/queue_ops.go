package job

import (
	"context"
	"path/filepath"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
)

// queueOps are the operations of merge queues.
func (r *Room) queueOps() []op.Op {
	all := func(wire.QueueIn) op.Resource { return at("") }
	return []op.Op{
		wire.QueueList.Read(op.Spec{Right: "job.list", Masked: true, Method: "GET", Path: "/queues",
			Doc: "List merge queues: which jobs wait, in their order, and what holds them up."},
			func(wire.QueueListIn) op.Resource { return at("") }, r.listQueues),
		wire.QueueAdd.Effect(op.Spec{Right: "job.write", Present: true, People: true, Method: "POST", Path: "/queues/jobs/{id}", MCP: "-",
			Doc: "Have a job merged when its turn comes: what it is together with its branch is checked first.\n" +
				"Needs a person present, and is bound to the commit that the person saw."},
			func(in wire.QueueAddIn) op.Resource { return at(in.ID) }, r.enqueue, nil),
		wire.QueueEvict.State(op.Spec{Right: "job.prompt", Method: "DELETE", Path: "/queues/jobs/{id}",
			Doc: "Take a job out of its queue; it is in review then."},
			func(in wire.IDIn) op.Resource { return at(in.ID) },
			func(ctx context.Context, tx *db.Tx, in wire.IDIn) (*wire.Job, error) {
				return r.move(ctx, tx, in.ID, Event{Kind: Unqueued, Text: op.CallerFrom(ctx).Name + " took it out of the queue"})
			}),
		wire.QueuePriority.State(op.Spec{Right: "job.prompt", Method: "POST", Path: "/queues/jobs/{id}/priority",
			Doc: "Let a queued job come sooner or later than others."},
			func(in wire.QueuePriorityIn) op.Resource { return at(in.ID) },
			func(ctx context.Context, tx *db.Tx, in wire.QueuePriorityIn) (*wire.Job, error) {
				if err := inBounds(in.Priority); err != nil {
					return nil, err
				}
				return r.move(ctx, tx, in.ID, Event{Kind: Ranked, Priority: in.Priority})
			}),
		wire.QueueProtect.Effect(op.Spec{Right: "job.write", Present: true, People: true, Method: "POST", Path: "/queues/protect", MCP: "-",
			Doc: "Protect a branch: jobs get into it through its queue alone, and a move by somebody else pauses the queue."},
			all, r.protect, nil),
		wire.QueuePush.Effect(op.Spec{Right: "job.write", Present: true, People: true, Method: "POST", Path: "/queues/push", MCP: "-",
			Doc: "Push what a queue merged to its remote, once. Needs a person present, and is bound to the commit that waits."},
			func(wire.QueuePushIn) op.Resource { return at("") }, r.push, nil),
		wire.QueuePause.Effect(op.Spec{Right: "job.prompt", Method: "POST", Path: "/queues/pause",
			Doc: "Pause a queue: nothing is merged until somebody lets it go on."},
			all, func(ctx context.Context, in wire.QueueIn) (*wire.Queue, error) {
				return r.set(ctx, in, func(q *wire.Queue, _ string) {
					q.Paused, q.Reason = true, op.CallerFrom(ctx).Name+" paused it"
				})
			}, nil),
		wire.QueueResume.Effect(op.Spec{Right: "job.write", Present: true, People: true, Method: "POST", Path: "/queues/resume", MCP: "-",
			Doc: "Let a paused queue go on, from where its branch stands now."},
			all, func(ctx context.Context, in wire.QueueIn) (*wire.Queue, error) {
				return r.set(ctx, in, func(q *wire.Queue, tip string) {
					q.Paused, q.Reason = false, ""
					if q.Protected {
						q.Tip = tip
					}
				})
			}, nil),
	}
}

// protect lets jobs into a branch through its queue alone, and says where that is pushed to.
func (r *Room) protect(ctx context.Context, in wire.QueueIn) (*wire.Queue, error) {
	repo, _, err := r.located(ctx, in.Folder, in.Branch)
	if err != nil {
		return nil, err
	}
	push, err := r.aims(ctx, repo, in)
	if err != nil {
		return nil, err
	}
	c := op.CallerFrom(ctx)
	if err := r.DB.Write(ctx, func(tx *db.Tx) error { return r.anew(tx, c.Tenant, repo, in.Branch, c.Name) }); err != nil {
		return nil, err
	}
	return r.set(ctx, in, func(q *wire.Queue, tip string) {
		q.Protected, q.Tip = !in.Off, tip
		switch {
		case in.Off:
			q.Push = nil
		case push != nil && q.Push != nil && q.Push.URL == push.URL:
			q.Push.Remote, q.Push.Unasked = push.Remote, push.Unasked
		case push != nil:
			q.Push = push
		}
	})
}

// enqueue has a job merged when its turn comes.
func (r *Room) enqueue(ctx context.Context, in wire.QueueAddIn) (*wire.Job, error) {
	if err := inBounds(in.Priority); err != nil {
		return nil, err
	}
	c := op.CallerFrom(ctx)
	j, err := r.get(ctx, c.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	if err := j.looked("queue.add", in.Commit); err != nil {
		return nil, err
	}
	if err := r.whole(ctx, j); err != nil {
		return nil, err
	}
	if checkedOut, err := r.Tools.Out(ctx, j.Repo, j.Onto); err != nil {
		return nil, err
	} else if checkedOut {
		return nil, fault.New(fault.Conflict, "queue.add",
			"the branch %s is checked out in %s, and a queue does not move it under somebody's files",
			j.Onto, j.Repo).WithNext("leave the branch there, and type it again: git -C %s switch --detach", j.Repo)
	}
	var out *Job
	if err = r.DB.Write(ctx, func(tx *db.Tx) (err error) {
		out, err = r.change(tx, c.Tenant, in.ID, func(j *Job) error {
			return j.Apply(Event{Kind: Queue, Commit: in.Commit, By: c.Name, Priority: in.Priority}, tx.Now())
		})
		if err != nil {
			return err
		}
		return r.vouchFor(tx, c, out, map[string]any{"event": Queue, "from": j.State, "state": out.State, "commit": in.Commit})
	}); err != nil {
		return nil, err
	}
	r.wake(out.Tenant, out.ID)
	out.unnamed()
	out.masksStack(ctx)
	out.Comments, out.Reviews = nil, nil
	return &out.Job, nil
}

// located is the repository of a queue, and where its branch stands.
func (r *Room) located(ctx context.Context, folder, branch string) (repo, tip string, err error) {
	if !filepath.IsAbs(folder) || branch == "" {
		return "", "", fault.New(fault.Invalid, "queue", "a queue is named by a folder and a branch")
	}
	if repo, err = r.Tools.Top(ctx, folder); err != nil {
		return "", "", err
	}
	if tip = r.tip(ctx, repo, branch); tip == "" {
		err = fault.New(fault.NotFound, "queue", "%s has no branch %.100q", repo, branch).WithNext("see them: git -C %s branch", repo)
	}
	return repo, tip, err
}

// set changes a queue, and wakes who waits in it.
func (r *Room) set(ctx context.Context, in wire.QueueIn, fn func(q *wire.Queue, tip string)) (*wire.Queue, error) {
	repo, tip, err := r.located(ctx, in.Folder, in.Branch)
	if err != nil {
		return nil, err
	}
	tenant := op.CallerFrom(ctx).Tenant
	var q *wire.Queue
	if err := r.DB.Write(ctx, func(tx *db.Tx) error {
		by := op.CallerFrom(ctx).Name
		q, err = r.setQueue(tx, tenant, repo, in.Branch, by, "set", func(q *wire.Queue) error {
			fn(q, tip)
			return nil
		})
		return err
	}); err != nil {
		return nil, err
	}
	r.others(ctx, &Job{Tenant: tenant, Job: wire.Job{Repo: repo, Onto: in.Branch}})
	return q, nil
}

// masked takes the names of jobs out of a queue that the caller may not see.
func masked(ctx context.Context, q *wire.Queue) {
	see := func(id string) string {
		if !op.May(ctx, "job.list", at(id)) {
			return ""
		}
		return id
	}
	if q.Train != nil {
		for i := range q.Train.Cars {
			q.Train.Cars[i].Job = see(q.Train.Cars[i].Job)
		}
	}
	if q.Suspect != nil {
		q.Suspect.Job = see(q.Suspect.Job)
	}
}

func (r *Room) listQueues(ctx context.Context, _ wire.QueueListIn) (wire.QueueListOut, error) {
	tenant := op.CallerFrom(ctx).Tenant
	out := wire.QueueListOut{Queues: []*wire.Queue{}}
	known, err := r.queues(ctx, tenant)
	if err != nil {
		return out, err
	}
	line, err := r.waiting(ctx, tenant, "", "")
	if err != nil {
		return out, err
	}
	for _, j := range line {
		if !op.May(ctx, "job.list", at(j.ID)) {
			continue
		}
		i := 0
		for i < len(known) && (known[i].Repo != j.Repo || known[i].Branch != j.Onto || known[i].Home != j.Home) {
			i++
		}
		if i == len(known) {
			known = append(known, &wire.Queue{Repo: j.Repo, Branch: j.Onto, Home: j.Home})
		}
		j.Comments = nil
		j.masksStack(ctx)
		known[i].Jobs = append(known[i].Jobs, &j.Job)
	}
	for _, q := range known {
		masked(ctx, q)
		if len(q.Jobs) > 0 || op.May(ctx, "job.list", at("")) {
			out.Queues = append(out.Queues, q)
		}
	}
	return out, nil
}
