package source

import (
	"context"
	"sync"
	"time"

	"tandem/internal/db"
	"tandem/internal/source/wire"
)

// How often it looks by itself: the machine's clock may be set, and what failed is tried again.
const (
	longest = time.Minute
	follow  = 5 * time.Second // whether a bookmark moved
	again   = 10 * time.Second
	seldom  = time.Hour // the longest pause of an import that fails again and again
)

// Run imports what is due, one source after the other, and deletes what was revoked beside that, until ctx ends.
func (r *Room) Run(ctx context.Context) {
	defer r.Reads.Close()
	var both sync.WaitGroup
	both.Go(func() { r.loop(ctx, r.clean, "what was revoked is not deleted yet", r.clearAll) })
	both.Go(func() { r.loop(ctx, r.wake, "sources are not imported", r.pass) })
	both.Wait()
}

func (r *Room) loop(ctx context.Context, wake <-chan struct{}, failed string, pass func(context.Context) (time.Duration, error)) {
	for ctx.Err() == nil {
		wait, err := pass(ctx)
		if err != nil && ctx.Err() == nil {
			r.Log.Error(failed, "err", err)
			wait = again
		}
		select {
		case <-ctx.Done():
		case <-wake:
		case <-time.After(wait):
		}
	}
}

// clearAll deletes what was revoked.
func (r *Room) clearAll(ctx context.Context) (time.Duration, error) {
	rows, err := r.DB.Query(ctx, "SELECT "+columns+" FROM source WHERE home = ? AND state = 'revoked'", r.Home)
	all, err := db.Collect(rows, err, scanRow)
	for _, s := range all {
		if err == nil {
			err = r.clear(ctx, s)
		}
	}
	return longest, err
}

// resting is how long a source is still left alone.
func (r *Room) resting(nr int64) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rests[nr].until.Sub(r.DB.Now())
}

// tried notes how an import went: one that failed is left alone for a while, and longer each time.
func (r *Room) tried(nr int64, err error) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		delete(r.rests, nr)
		return longest
	}
	p := pause{last: min(seldom, max(again, 2*r.rests[nr].last))}
	p.until = r.DB.Now().Add(p.last)
	r.rests[nr] = p
	return p.last
}

// pass does what is due, and says when something is due again.
func (r *Room) pass(ctx context.Context) (wait time.Duration, err error) {
	rows, err := r.DB.Query(ctx, "SELECT "+columns+" FROM source "+
		"WHERE home = ? AND state <> 'revoked' AND (wanted > 0 OR every > 0 OR origin <> '')", r.Home)
	all, err := db.Collect(rows, err, scanRow)
	if err != nil {
		return again, err
	}
	wait = longest
	for _, s := range all {
		next := s.lookedAt.Add(time.Duration(s.Every) * time.Minute)
		switch now, rests := r.DB.Now(), r.resting(s.nr); {
		case s.State != wire.Active:
		case rests > 0:
			wait = min(wait, rests)
		case s.Waiting || s.Every > 0 && !now.Before(next) || r.moved(ctx, s):
			err := r.importNow(ctx, s)
			if err != nil && ctx.Err() == nil { // the others are not to wait for it
				r.Log.Error("a source is not imported yet", "source", s.Name, "err", err)
			}
			wait = min(wait, r.tried(s.nr, err))
			if s.Repo != "" {
				wait = min(wait, follow)
			}
		case s.Repo != "":
			wait = min(wait, follow)
		case s.Every > 0:
			wait = min(wait, max(time.Second, next.Sub(now)))
		}
	}
	return wait, nil
}

// clear deletes a source that was revoked, some files at a time.
func (r *Room) clear(ctx context.Context, s *binding) error {
	for {
		left := 0
		err := r.DB.Write(ctx, func(tx *db.Tx) error {
			rows, err := tx.Query("SELECT "+fileColumns+" FROM source_file WHERE tenant = ? AND place = ? LIMIT 20", s.tenant, s.nr)
			files, err := db.Collect(rows, err, scanFile)
			if err != nil {
				return err
			}
			left = len(files)
			for _, f := range files {
				if err := drop(tx, s.tenant, s.nr, f); err != nil {
					return err
				}
			}
			if left == 0 {
				_, err = tx.Exec("DELETE FROM source WHERE tenant = ? AND name = ? AND nr = ? AND state = 'revoked'", s.tenant, s.Name, s.nr)
			}
			return err
		})
		if err != nil || left == 0 {
			r.Forgot()
			return err
		}
	}
}
