package journal

import (
	"context"
	"strings"
	"time"
)

// Latest is the newest event that this process knows of, without asking the database.
func (j *Journal) Latest() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.latest
}

// LatestAbout is the newest event that this process knows of and that may be about a kind of resource: one of another server counts,
// whatever it is about.
func (j *Journal) LatestAbout(kind string) int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return max(j.about[kind], j.others)
}

// wrote notes an event of this process. Where numbers are missing before it, other servers have written, or their writers are about to
// say so.
func (j *Journal) wrote(seq int64, resource string) {
	kind, _, _ := strings.Cut(resource, ":")
	j.mu.Lock()
	defer j.mu.Unlock()
	j.about[kind] = max(j.about[kind], seq)
	if seq > j.latest+1 {
		j.others = seq
	}
	j.rouse(seq)
}

// advance notes what the database says of its size: what came to it meanwhile may be of anybody.
func (j *Journal) advance(seq int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if seq > j.latest {
		j.others = seq
	}
	j.rouse(seq)
}

// rouse wakes who waits; the lock is held.
func (j *Journal) rouse(seq int64) {
	if seq <= j.latest {
		return
	}
	j.latest = seq
	close(j.moved)
	j.moved = make(chan struct{})
}

// poll is how soon another server's events are seen on a shared database.
const poll = 250 * time.Millisecond

// due says whether it is time to ask a shared database again: one of all who
// wait asks for all of them.
func (j *Journal) due(now time.Time) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if now.Sub(j.asked) < poll {
		return false
	}
	j.asked = now
	return true
}

// Wait returns once an event after the given sequence number exists, or with
// the context's error.
func (j *Journal) Wait(ctx context.Context, after int64) error { return j.wait(ctx, after, j.Latest) }

// WaitAbout is Wait for an event about a kind of resource: what is written about others wakes nobody. It may return for one of another
// server that is about something else.
func (j *Journal) WaitAbout(ctx context.Context, after int64, kind string) error {
	return j.wait(ctx, after, func() int64 { return j.LatestAbout(kind) })
}

func (j *Journal) wait(ctx context.Context, after int64, newest func() int64) error {
	shared := j.db.Path() == "" // other servers may write to it too; of a file's entries this process knows all, once it knows one
	for first := true; ; first = false {
		j.mu.Lock()
		moved := j.moved
		j.mu.Unlock()
		if newest() > after {
			return nil
		}
		if shared && (first || j.due(time.Now())) || j.Latest() == 0 {
			size, err := j.Head(ctx)
			if err != nil {
				return err
			}
			j.advance(size) // for everybody: this may be the only one who asks
			if newest() > after {
				return nil
			}
		}
		var again <-chan time.Time
		if shared {
			again = time.After(poll)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-moved:
		case <-again:
		}
	}
}
