package job

import (
	"context"
	"fmt"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/journal"
	"tandem/internal/op"
)

// What a queue merges may be pushed to a remote: by a person's word about the commit, or after each merge where a person said so once. A
// push is written down before it is begun. One whose end nobody wrote down is not begun again: tandem looks where the remote stands, and
// asks a person where that does not tell.

// EventPushed is the event of a push, whatever came of it.
const EventPushed = "queue.pushed"

// aims names the remote of a queue, with the address that it has now.
func (r *Room) aims(ctx context.Context, repo string, in wire.QueueIn) (*wire.Push, error) {
	if in.Push == "" {
		if in.Unasked {
			return nil, fault.New(fault.Invalid, "queue.protect", "no remote is named that would be pushed to").WithNext("name it: --push origin")
		}
		return nil, nil
	}
	url, err := r.Tools.Remote(ctx, repo, in.Push)
	return &wire.Push{Remote: in.Push, URL: url, Unasked: in.Unasked}, err
}

// push is a person's word that what waits is pushed.
func (r *Room) push(ctx context.Context, in wire.QueuePushIn) (*wire.Queue, error) {
	repo, _, err := r.located(ctx, in.Folder, in.Branch)
	if err != nil {
		return nil, err
	}
	tenant := op.CallerFrom(ctx).Tenant
	r.pushing.Lock() // what the row says of a push under way is not what is left of one
	defer r.pushing.Unlock()
	q, err := r.queue(ctx, tenant, repo, in.Branch)
	switch {
	case err != nil:
		return nil, err
	case q.Push == nil:
		return nil, fault.New(fault.Conflict, "queue.push", "no remote is set for %s", in.Branch).
			WithNext("set it: tandem queue protect %s --push origin", in.Branch)
	case q.Push.Waits == "":
		return nil, fault.New(fault.Conflict, "queue.push", "nothing waits to be pushed to %s", q.Push.Remote).WithNext("see it: tandem queue")
	case q.Push.Waits != in.Commit:
		return nil, fault.New(fault.Conflict, "queue.push", "%.12s waits by now, and you named %.12s", q.Push.Waits, in.Commit).
			WithNext("look again: tandem queue")
	}
	op.Note(ctx, "commit", in.Commit)
	return r.pushes(ctx, tenant, q, op.CallerFrom(ctx).Name)
}

// pushes pushes what waits, once, and writes down what came of it. Whoever calls it holds pushing.
func (r *Room) pushes(ctx context.Context, tenant string, q *wire.Queue, by string) (*wire.Queue, error) {
	commit := q.Push.Waits
	if now, err := r.Tools.Remote(ctx, q.Repo, q.Push.Remote); err != nil || now != q.Push.URL {
		return r.pushed(ctx, tenant, q, by, commit, fault.New(fault.Conflict, "queue.push",
			"the remote %s had the address %s when it was named, and has another one now", q.Push.Remote, q.Push.URL).
			WithNext("look at it, and name it again: tandem queue protect %s --push %s", q.Branch, q.Push.Remote))
	}
	if at, err := r.Tools.There(ctx, q.Repo, q.Push.URL, q.Branch); err != nil || at == commit {
		return r.pushed(ctx, tenant, q, by, commit, err)
	}
	begun, err := r.pushState(ctx, tenant, q, by, "begins to push", func(p *wire.Push) {
		if p.Waits == commit {
			p.Begun = commit
		}
	})
	if err != nil {
		return nil, err
	}
	if begun.Push == nil || begun.Push.Waits != commit { // another merge came meanwhile, and pushes what waits by now
		return begun, nil
	}
	r.Begun()
	if err = r.Tools.Push(ctx, q.Repo, q.Push.URL, q.Branch, commit); ctx.Err() != nil {
		return nil, ctx.Err() // what came of it is looked at when the server starts again
	}
	return r.pushed(ctx, tenant, q, by, commit, err)
}

// pushed writes down what came of a push. A refusal is the queue's problem, and nothing waits less for it.
func (r *Room) pushed(ctx context.Context, tenant string, q *wire.Queue, by, commit string, failed error) (out *wire.Queue, err error) {
	problem := ""
	if failed != nil {
		f := fault.Public(failed)
		if problem = f.Msg; f.Next != "" {
			problem += "; " + f.Next
		}
	}
	err = r.DB.Write(ctx, func(tx *db.Tx) error {
		k, err := r.changeQueue(tx, tenant, q.Repo, q.Branch, func(q *wire.Queue) error {
			if q.Push == nil {
				return nil
			}
			if q.Push.Problem, q.Push.Begun = problem, ""; problem == "" {
				if q.Push.Pushed = commit; q.Push.Waits == commit {
					q.Push.Waits = ""
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		out = k.Queue
		return r.Journal.Tell(tx, journal.Event{Tenant: tenant, Type: EventPushed, Phase: journal.Done, Actor: by, Resource: at("").String()},
			map[string]any{"repo": q.Repo, "branch": q.Branch, "remote": q.Push.Remote, "url": q.Push.URL, "commit": commit, "problem": problem},
			k.seal())
	})
	return out, err
}

func (r *Room) pushState(ctx context.Context, tenant string, q *wire.Queue, by, did string, fn func(*wire.Push)) (
	out *wire.Queue, err error) {
	err = r.DB.Write(ctx, func(tx *db.Tx) error {
		out, err = r.setQueue(tx, tenant, q.Repo, q.Branch, by, did, func(q *wire.Queue) error {
			if q.Push != nil {
				fn(q.Push)
			}
			return nil
		})
		return err
	})
	return out, err
}

// pushOn pushes what waits in a queue whose remote is pushed to unasked. A push whose end is not known is a person's to begin again.
func (r *Room) pushOn(ctx context.Context, tenant, repo, branch, by string) {
	r.pushing.Lock()
	defer r.pushing.Unlock()
	q, err := r.queue(ctx, tenant, repo, branch)
	if err == nil && q.Push != nil && q.Push.Begun != "" {
		q, err = r.found(ctx, tenant, q, by)
	}
	if err == nil && q.Push != nil && q.Push.Unasked && q.Push.Waits != "" && q.Push.Begun == "" && q.Push.Problem == "" {
		_, err = r.pushes(ctx, tenant, q, by)
	}
	if err != nil && ctx.Err() == nil {
		r.Log.Error("push what a queue merged", "repo", repo, "branch", branch, "err", err)
	}
}

// found looks what became of a push whose end nobody wrote down.
func (r *Room) found(ctx context.Context, tenant string, q *wire.Queue, by string) (*wire.Queue, error) {
	there, err := r.Tools.There(ctx, q.Repo, q.Push.URL, q.Branch)
	if err == nil && there == q.Push.Begun {
		return r.pushed(ctx, tenant, q, by, there, nil)
	}
	return r.pushState(ctx, tenant, q, by, "does not know what became of a push", func(p *wire.Push) {
		p.Problem = fmt.Sprintf("a push of %.12s was begun, and the server ended before it heard what came of it; look at %s, then say whether "+
			"it is pushed again", p.Begun, p.Remote)
	})
}

// pushLeft goes on with the pushes that the server before this one left.
func (r *Room) pushLeft(ctx context.Context) {
	rows, err := r.tenantsOfQueues(ctx)
	if err != nil {
		r.Log.Error("look for pushes", "err", err)
		return
	}
	for _, tenant := range rows {
		all, err := r.queues(ctx, tenant)
		if err != nil {
			r.Log.Error("look for pushes", "err", err)
			continue
		}
		for _, q := range all {
			if q.Push != nil && q.Home == r.Owner.Home && (q.Push.Begun != "" || q.Push.Waits != "") {
				r.pushOn(ctx, tenant, q.Repo, q.Branch, "tandem")
			}
		}
	}
}
