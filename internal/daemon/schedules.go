package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"tandem/internal/backup"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/policy/book"
	"tandem/internal/schedule"
	"tandem/internal/schedule/wire"
)

// makeSchedules gives the room of schedules what it does not own.
func (d *Daemon) makeSchedules() {
	r := schedule.New(d.db, d.Log)
	r.Vouch, r.Rooms, r.System, r.Failed = d.journal.Vouch(), &d.inner, identity.System, d.rooms.tell.ScheduleFailed
	r.Do = map[wire.Kind]func(context.Context, wire.What) (string, error){wire.Backup: d.backupBySchedule, wire.Forget: d.forgetBySchedule}
	r.Grant = func(ctx context.Context, tx *db.Tx, resource string) (string, error) {
		out, err := d.rooms.book.Add(ctx, tx, book.GrantIn{Principal: "service:" + identity.System, Resource: resource,
			Permissions: []string{"execute"}, Note: "tandem itself does what was scheduled"})
		return out.ID, err
	}
	r.Revoke = func(ctx context.Context, tx *db.Tx, grant string) error {
		_, err := d.rooms.book.Revoke(ctx, tx, book.GrantIDIn{ID: grant, Note: "the schedule was changed or removed"})
		return err
	}
	d.rooms.schedule = r
}

// Where a schedule keeps its copies, in the folder that was named. Others in that folder are not its own to remove.
const scheduledCopies = "tandem.scheduled"

// wholeCopies are those that a schedule of an earlier program made, each in a file of its own. They are the oldest.
const wholeCopies = "tandem-*.scheduled"

// backupBySchedule makes one copy, which takes the room of what is new, and then removes the oldest beyond those that are kept.
func (d *Daemon) backupBySchedule(ctx context.Context, w wire.What) (string, error) {
	if st, err := os.Stat(w.Path); err != nil || !st.IsDir() {
		return "", fault.New(fault.Unavailable, "schedule.run", "the folder for copies is not there: %s", w.Path).
			WithNext("mount its disk, or name another folder: tandem server schedule backup --to FOLDER")
	}
	folder := filepath.Join(w.Path, scheduledCopies)
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	if err := d.ownCopies(folder); err != nil {
		return "", err
	}
	d.removeHalves(w.Path)
	out, err := d.backup(ctx, BackupIn{Path: folder, Recipient: w.Recipient, Repos: w.Repos})
	if err != nil {
		return "", err
	}
	done := fmt.Sprintf("%s, %d rows, %d bytes", out.Path, out.Rows, out.Bytes)
	if err := d.tidySchedule(w, folder); err != nil { // the copy is made: it is not made again for this
		d.Log.Warn("old copies cannot be removed", "folder", w.Path, "err", err)
		done += "; old copies cannot be removed"
	}
	return done, nil
}

func (d *Daemon) tidySchedule(w wire.What, folder string) error {
	_, err := backup.Prune(folder, w.Keep, backup.Secret{Recipient: w.Recipient})
	newer, errNewer := backup.Copies(folder)
	whole, errWhole := filepath.Glob(filepath.Join(w.Path, wholeCopies))
	err = errors.Join(err, errNewer, errWhole)
	slices.Sort(whole)
	for ; len(whole) > 0 && len(whole)+len(newer) > w.Keep; whole = whole[1:] {
		err = errors.Join(err, os.Remove(whole[0]))
	}
	return err
}

func (d *Daemon) forgetBySchedule(ctx context.Context, w wire.What) (string, error) {
	var n int64
	err := d.db.Write(ctx, func(tx *db.Tx) (err error) {
		n, err = journal.Forget(tx, op.CallerFrom(ctx).Tenant, tx.Now().Add(-time.Duration(w.OlderThan)*time.Hour))
		if n > 0 {
			tx.AfterCommit(d.journal.Forgot)
		}
		return err
	})
	return fmt.Sprintf("%d payloads", n), err
}

// scheduleFindings are what the doctor says of schedules.
func (d *Daemon) scheduleFindings() (out []Finding) {
	for _, s := range d.rooms.schedule.Set() {
		if s.Failure != "" {
			out = append(out, Finding{"schedule", "bad", "the scheduled " + string(s.Kind) + " failed: " + s.Failure,
				"mend the cause; it is tried again every hour, or at once: tandem server schedule now " + string(s.Kind)})
		}
	}
	return out
}

// measureSchedules adds what an alarm needs: that something fails, and that it has not been done for long.
func (d *Daemon) measureSchedules() {
	m := d.health.Metrics()
	m.Gauge("tandem_schedule_failed", "Whether what is scheduled failed when it was last tried, by kind.",
		func(tell func(float64, ...string)) {
			for _, s := range d.rooms.schedule.Set() {
				failed := 0.0
				if s.Failure != "" {
					failed = 1
				}
				tell(failed, string(s.Kind))
			}
		}, "kind")
	m.Gauge("tandem_schedule_done_seconds", "When what is scheduled was last done, in seconds since 1970, by kind; 0 for never.",
		func(tell func(float64, ...string)) {
			for _, s := range d.rooms.schedule.Set() {
				done := 0.0
				if !s.DoneAt.IsZero() {
					done = float64(s.DoneAt.Unix())
				}
				tell(done, string(s.Kind))
			}
		}, "kind")
}
