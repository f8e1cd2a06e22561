package automation

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"maps"
	"time"

	"tandem/internal/automation/spec"
	"tandem/internal/automation/watch"
	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/op"
)

// How often something is looked at that a trigger watches.
const (
	slowly   = 30 * time.Second       // a bookmark, and a folder that is not heard
	surely   = 5 * time.Minute        // a folder that is: the kernel may have lost something
	atMost   = 500 * time.Millisecond // between two looks at one thing, however much happens
	rounds   = atMost / 5             // between two times that all is gone through
	reread   = time.Second            // what is watched, where nobody said that it is something else
	longLook = time.Minute            // one look
	waitsFor = 10                     // times that files have to be quiet; then a run begins although they are not
)

// watcher is a trigger that watches something, and where its next look stands. Only the watching goroutine touches it.
type watcher struct {
	tenant, name, id, actor, what string
	t                             *spec.Trigger
	live                          string // the version that t is of
	switched                      int64  // on, when: who switches it on again wants it looked at now
	runs                          int    // of the automation that may be open

	due      time.Time
	looked   time.Time
	differs  [sha256.Size]byte // of what differs from how it stood
	since    time.Time         // it differs
	changed  time.Time         // last
	heard    bool
	restless bool      // something happened since it was looked at
	rests    time.Time // until then, whatever is heard
	skips    int       // times that what changed began no run
}

// stirFolder has what is watched in a folder looked at; "" are bookmarks.
func (r *Room) stirFolder(folder string) {
	r.mu.Lock()
	watches := r.watches
	if watches {
		r.stirred[folder] = true
	}
	r.mu.Unlock()
	if watches {
		select {
		case r.watch <- struct{}{}:
		default:
		}
	}
}

// around is what is watched, and what hears of it.
type around struct {
	all  map[string]*watcher
	ears *watch.Ears
	read time.Time // all, from the database
}

// watchAll looks at what triggers watch until ctx ends: when something is heard of it, and now and then.
func (r *Room) watchAll(ctx context.Context) {
	r.mu.Lock()
	r.watches = true // until it is known
	r.mu.Unlock()
	w := &around{all: map[string]*watcher{}}
	for ctx.Err() == nil {
		wait, err := r.lookAround(ctx, w)
		if err != nil && ctx.Err() == nil {
			r.Log.Error("what triggers watch cannot be looked at", "err", err)
			wait = again
		}
		var timer <-chan time.Time
		if wait > 0 {
			timer = time.After(wait)
		}
		select {
		case <-ctx.Done():
		case <-r.watch: // a folder in which much happens is heard thousands of times a second
			select {
			case <-ctx.Done():
			case <-time.After(rounds):
			}
		case <-timer:
		}
	}
}

// lookAround looks at what is due, and says in how long something else is; 0 is never.
func (r *Room) lookAround(ctx context.Context, a *around) (time.Duration, error) {
	if !r.Ours() {
		clear(a.all)
		a.read = time.Time{}
		return elsewhere, nil
	}
	r.mu.Lock()
	stirred, others := r.stirred, r.rewatch
	r.stirred, r.rewatch = map[string]bool{}, false
	r.mu.Unlock()
	if others || r.DB.Now().Sub(a.read).Abs() >= reread || len(a.all) == 0 {
		if err := r.watchers(ctx, a.all); err != nil {
			a.read = time.Time{}
			r.mu.Lock()
			maps.Copy(r.stirred, stirred) // what was heard is looked at when the database answers
			r.rewatch = r.rewatch || others
			r.mu.Unlock()
			return 0, err
		}
		a.read = r.DB.Now()
	}
	r.mu.Lock()
	r.watches = len(a.all) > 0 || r.rewatch
	r.mu.Unlock()
	if len(a.all) == 0 {
		if r.Shared { // another server may switch something on
			return slowly, nil
		}
		return 0, nil
	}
	r.listenTo(ctx, a)
	wait := surely
	for _, w := range a.all {
		if stirred[w.t.Folder] {
			w.restless = true
		}
		if w.restless {
			w.due = sooner(w.due, later(w.looked.Add(atMost), w.rests))
		}
		if began := r.DB.Now(); !w.due.After(began) {
			w.restless = false
			err := r.look(ctx, w)
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
			if w.looked = r.DB.Now(); err != nil {
				r.troubled(ctx, w, err)
			}
			w.rests = later(w.rests, w.looked.Add(10*w.looked.Sub(began))) // a large folder takes a tenth of a core, at most
		}
		wait = min(wait, max(10*time.Millisecond, w.due.Sub(r.DB.Now())))
	}
	return wait, nil
}

func sooner(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// watchers brings what is watched up to date with what is switched on.
func (r *Room) watchers(ctx context.Context, all map[string]*watcher) error {
	rows, err := r.DB.Query(ctx, `SELECT t.tenant, t.name, t.trigger_id, t.watch, a.actor, a.live, a.switched_at
		FROM automation_trigger t JOIN automation a ON a.tenant = t.tenant AND a.name = t.name WHERE t.watch <> '' AND a.live <> ''`)
	now, err := db.Collect(rows, err, func(rows *sql.Rows) (w *watcher, err error) {
		w = &watcher{}
		return w, rows.Scan(&w.tenant, &w.name, &w.id, &w.what, &w.actor, &w.live, &w.switched)
	})
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, w := range now {
		key := w.tenant + "/" + w.name + "/" + w.id
		if old := all[key]; old != nil && old.live == w.live && old.actor == w.actor && old.switched == w.switched {
			there[key] = true
			continue
		}
		a, t, err := r.live(looking{ctx, r.DB}, w.tenant, w.name, w.id)
		if err != nil {
			r.Log.Error("a definition cannot be read", "name", w.name, "err", err)
			continue
		}
		if t != nil && watched(t) == w.what {
			w.t, w.runs, all[key], there[key] = t, a.Limits.Runs, w, true
		}
	}
	for key := range all {
		if !there[key] {
			delete(all, key)
		}
	}
	return nil
}

// listenTo hears what happens in the folders that are watched, as far as this machine tells.
func (r *Room) listenTo(ctx context.Context, a *around) {
	folders := []string{}
	for _, w := range a.all {
		if w.t.Folder != "" {
			folders = append(folders, w.t.Folder)
		}
	}
	if a.ears == nil {
		if len(folders) == 0 || r.deaf {
			return
		}
		e, err := watch.Listen(r.stirFolder)
		if err != nil {
			r.Log.Info("folders are looked at now and then", "why", err)
			r.deaf = true
			return
		}
		a.ears = e
		r.working.Go(func() { e.Run(ctx) })
	}
	heard := a.ears.Follow(folders)
	for _, w := range a.all {
		w.heard = heard[w.t.Folder]
	}
}

// look looks at one thing once, and begins a run where it differs from how it stood and stays so for as long as it has to.
func (r *Room) look(ctx context.Context, w *watcher) error {
	c, err := r.As(ctx, w.tenant, w.actor)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, longLook)
	got, err := op.Do(op.WithCaller(limited, c), r.Rooms, wire.Look, wire.TickIn{Name: w.name, Trigger: w.id})
	cancel()
	if err != nil {
		return err
	}
	now := r.DB.Now()
	var seen string
	var at int64
	err = r.DB.QueryRow(ctx, "SELECT seen, seen_at FROM automation_trigger WHERE tenant = ? AND name = ? AND trigger_id = ?", w.tenant, w.name,
		w.id).Scan(&seen, &at)
	if err != nil && !db.NoRows(err) {
		return err
	}
	w.due = now.Add(slowly)
	if w.heard {
		w.due = now.Add(surely)
	}
	if db.NoRows(err) || at > 0 && got.State == seen {
		w.since, w.differs = time.Time{}, [sha256.Size]byte{}
		return nil
	}
	if at > 0 && w.t.Files != "" {
		still := w.t.Still()
		sum := sha256.Sum256([]byte(got.State))
		if w.since.IsZero() {
			w.since = now
		}
		if sum != w.differs {
			w.differs, w.changed = sum, now
		}
		if ripe := sooner(w.changed.Add(still), w.since.Add(waitsFor*still)); ripe.After(now) {
			w.due = ripe
			return nil
		}
	}
	if at > 0 {
		if waits, err := r.waitsForRoom(ctx, w); err != nil || waits {
			return err
		}
	}
	if err := r.DB.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec("UPDATE automation_trigger SET ahead = ? WHERE tenant = ? AND name = ? AND trigger_id = ?", got.State, w.tenant, w.name,
			w.id)
		return err
	}); err != nil {
		return err
	}
	c.Scope = []string{"automation.run"}
	out, err := op.Do(op.WithCaller(ctx, c), r.Rooms, wire.Changed, wire.ChangedIn{Name: w.name, Trigger: w.id, Sum: sumOf(got.State)})
	if err == nil && out.Skipped > 0 {
		w.skips++
		// It may have to be dealt with still. Until then it rests whatever is heard: that it waits is an entry of the journal, and is heard, too.
		w.due = now.Add(min(lookAtKey<<min(w.skips-1, 10), surely))
		w.rests = w.due
	} else if err == nil {
		w.skips = 0
		w.since, w.differs = time.Time{}, [sha256.Size]byte{}
	}
	return err
}

// waitsForRoom reports whether a change waits until a run of its automation ends, and says so in the list of ticks. That is known without
// the gate, and is no entry of the journal however long it lasts.
func (r *Room) waitsForRoom(ctx context.Context, w *watcher) (bool, error) {
	var open int
	if err := r.DB.QueryRow(ctx, "SELECT count(*) FROM automation_run WHERE tenant = ? AND name = ? AND ended_at = 0", w.tenant, w.name).
		Scan(&open); err != nil || open < w.runs {
		return false, err
	}
	now := r.DB.Now()
	w.due = now.Add(lookAtKey)
	w.rests = w.due
	return true, r.DB.Write(ctx, func(tx *db.Tx) error {
		return leaveFailure(tx, trigger{tenant: w.tenant, name: w.name, id: w.id, next: now}, waitsForRoom(crowded(w.name, open, w.runs)))
	})
}

// troubled says why something cannot be looked at, and looks again in a while.
func (r *Room) troubled(ctx context.Context, w *watcher, failure error) {
	wait, why := patience(w.name, failure)
	now := r.DB.Now()
	w.due, w.restless = now.Add(wait), false
	w.looked = w.due // whatever is heard
	if err := r.DB.Write(ctx, func(tx *db.Tx) error {
		return leaveFailure(tx, trigger{tenant: w.tenant, name: w.name, id: w.id, next: now}, why)
	}); err != nil && ctx.Err() == nil {
		r.Log.Error("why something is not watched cannot be written down", "automation", w.name, "trigger", w.id, "err", err)
	}
}
