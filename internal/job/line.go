package job

import (
	"context"
	"time"
)

// line is a queue in which somebody waits, by its tenant, repository and branch.
type line struct{ tenant, repo, branch string }

func (j *Job) line() line { return line{j.Tenant, j.Repo, j.Onto} }

// lookAgain is how long a queue that lost a wake-up stands still.
const lookAgain = 2 * time.Second

// waits has a job that is not the next one wait until it is woken. It does not look by itself: each look reads the whole queue, and with a
// thousand jobs in it these looks were all that a server did. One look for all of them finds out who leads, should a wake-up get lost.
func (r *Room) waits(ctx context.Context, j *Job, w *worker) {
	at := j.line()
	r.mu.Lock()
	if _, watched := r.lines[at]; !watched {
		r.all.Go(func() { r.watchLine(ctx, at) })
	}
	r.lines[at]++
	r.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-w.woken:
	}
	r.mu.Lock()
	r.lines[at]--
	r.mu.Unlock()
}

// watchLine wakes who leads a queue, again and again, while somebody waits in it.
func (r *Room) watchLine(ctx context.Context, at line) {
	every := time.NewTicker(lookAgain)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
		case <-every.C:
		}
		r.mu.Lock()
		over := ctx.Err() != nil || r.lines[at] == 0
		if over {
			delete(r.lines, at)
		}
		r.mu.Unlock()
		if over {
			return
		}
		if id := r.leader(ctx, at); id != "" && !r.rests(id) {
			r.wake(at.tenant, id)
		}
	}
}

// rests says that a job waits after a step that failed: it is tried again less and less often, and not at every look at its queue.
func (r *Room) rests(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.live[id]
	return w != nil && w.rests
}

// leader is who leads a queue; "" where nobody can say now.
func (r *Room) leader(ctx context.Context, at line) string {
	q, err := r.queue(ctx, at.tenant, at.repo, at.branch)
	if err != nil {
		return "" // it is looked at again
	}
	id, err := r.first(ctx, at, q.Train)
	if err != nil {
		return ""
	}
	return id
}
