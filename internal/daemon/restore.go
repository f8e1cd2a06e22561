package daemon

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/installation"
	"tandem/internal/journal"
	"tandem/internal/op"
	owners "tandem/internal/owner"
	"tandem/internal/wholefile"
)

// RestoreIn names a copy and what opens it.
type RestoreIn struct {
	Path       string `json:"path" jsonschema:"absolute path of the copy; of a folder of copies the newest"`
	Passphrase string `json:"passphrase,omitempty" jsonschema:"opens a copy that was locked with it"`
	Identity   string `json:"identity,omitempty" jsonschema:"opens a copy that was locked to its recipient"`
	ReposTo    string `json:"repos_to,omitempty" jsonschema:"absolute folder for the copy's repositories; where they were, without it"`
}

// Check refuses a path that depends on where the server was started.
func (in RestoreIn) Check() error {
	if in.ReposTo != "" && !filepath.IsAbs(in.ReposTo) {
		return fault.New(fault.Invalid, "server.restore", "the path of the folder for repositories is absolute")
	}
	return BackupIn{Path: in.Path}.Check()
}

// openHouse reads the first line of what a copy says of the house; the tables follow
// in the reader.
func openHouse(f io.Reader) (head backupHead, tables io.Reader, err error) {
	bad := func(err error) error {
		return fault.New(fault.Invalid, "server.restore", "this is not a copy that tandem made: %w", err)
	}
	zip, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return head, nil, bad(err)
	}
	in := bufio.NewReaderSize(zip, 1<<16)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return head, nil, bad(err)
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return head, nil, bad(err)
	}
	if head.Format != HouseFormat {
		return head, nil, bad(fmt.Errorf("its format is %q, this program reads %q", head.Format, HouseFormat))
	}
	return head, in, nil
}

func (d *Daemon) pending() string { return filepath.Join(d.data, "restore.pending") }

// PendingRestore is the copy that the next start takes up instead of what a data folder has: when it was made and where it waits;
// "" when there is none.
func PendingRestore(data string) (made time.Time, path string) {
	d := &Daemon{data: data}
	f, err := os.Open(d.pending())
	if err != nil {
		return made, ""
	}
	defer f.Close()
	head, _, _ := openHouse(f) // what cannot be read is the next start's to refuse
	return head.Made, d.pending()
}

// stageRestore checks a copy to its end, copies the present state aside, puts
// the copy where the next start finds it, and restarts.
func (d *Daemon) stageRestore(ctx context.Context, in RestoreIn) (BackupOut, error) {
	out := BackupOut{Path: in.Path}
	if err := d.together(ctx, "everything cannot be replaced"); err != nil {
		return out, err
	}
	s, err := stage(ctx, d.data, "", in)
	if err != nil {
		return out, d.db.Explain(err)
	}
	defer s.drop()
	aside, err := d.aside(ctx, "before-restore")
	if err != nil {
		return out, fmt.Errorf("copy the present state aside: %w", err)
	}
	if err := s.keep(); err != nil {
		return out, d.db.Explain(err)
	}
	op.Note(ctx, "aside", aside.Path)
	d.restart.Store(true)
	d.stop()
	out = s.out
	out.Aside = aside.Path
	return out, nil
}

// finishRestore loads a copy that was put in place for this start, in one transaction.
// The file goes when afterRestore is through, so a start that ends before then repeats it.
func (d *Daemon) finishRestore(ctx context.Context) error {
	f, err := os.Open(d.pending())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it is read to its end, or given up
	stuck := func(err error) error {
		return fault.New(fault.Unavailable, "server.restore", "the copy cannot be restored: %w", err).
			WithNext("mend the cause and start again, or give the restore up and keep what there is: rm %s", d.pending())
	}
	_, tables, err := openHouse(f)
	if err == nil { // to its end, before the keys that fit what there is are replaced
		_, err = db.CheckDump(tables, migrations...)
	}
	if err != nil {
		return stuck(err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	head, tables, err := openHouse(f)
	if err != nil {
		return err
	}
	if d.replaced, err = journal.Known(ctx, d.db); err != nil {
		return err
	}
	stays := d.announcedSince(head)
	for _, name := range slices.Concat(keyFiles, settingFiles) {
		if stays && slices.Contains(tlsFiles, name) {
			continue
		}
		if err := d.restoreFile(name, head.Files[name]); err != nil {
			return err
		}
	}
	rows, err := d.db.Load(ctx, tables, migrations...)
	if errors.Is(err, db.ErrOlderCopy) {
		rows, err = d.loadBroughtUp(ctx, f)
	}
	if err != nil {
		return stuck(err)
	}
	if err := d.db.Write(ctx, owners.Forget); err != nil {
		return err
	}
	if err := d.becomeRestored(ctx, head, stays); err != nil {
		return err
	}
	d.Log.Info("restored", "rows", rows, "made", head.Made)
	d.restored = &head.Made
	if err := d.forgetSeals(); err != nil {
		return err
	}
	return nil
}

// loadBroughtUp restores a copy from before a change of the tables with a role that may not make tables: what it holds is brought to the
// present in a database of its own first.
func (d *Daemon) loadBroughtUp(ctx context.Context, f io.ReadSeeker) (rows int64, err error) {
	err = intoNothing(ctx, d.data, f, func(present *db.DB) error {
		r, w := io.Pipe()
		go func() {
			_, err := present.Dump(ctx, w, migrations...)
			w.CloseWithError(err)
		}()
		defer r.Close()
		rows, err = d.db.Load(ctx, r, migrations...)
		return err
	})
	return rows, err
}

// becomeRestored lets the folder be of the installation that the copy is of, and serve
// what that served: everything else of it has just been replaced, but the TLS key where that stays.
func (d *Daemon) becomeRestored(ctx context.Context, head backupHead, stays bool) error {
	id, _, err := installation.In(ctx, d.db)
	if err != nil || id == "" {
		return err
	}
	if d.kept == nil {
		d.kept = installation.New(d.db.Now())
	}
	d.kept.ID = id
	if stays {
		if err := d.db.Write(ctx, d.markTLS); err != nil {
			return err
		}
	}
	if !d.Settings.Given("repos") && len(head.Repos) > 0 {
		d.kept.Repos = nil
		for _, r := range head.Repos {
			d.kept.Repos = append(d.kept.Repos, r.Path)
		}
		d.Settings = d.Settings.With(map[string]string{"repos": strings.Join(d.kept.Repos, ",")}, keptWith)
	}
	if err := d.kept.Settle(d.keepers, d.data, d.dsn()); err != nil {
		return err
	}
	return d.kept.Write(d.data)
}

// restoreFile puts a key or settings file back. What stood there stays beside it, and
// master keys are added to those there are: newer secrets may need them.
func (d *Daemon) restoreFile(name string, data []byte) error {
	path := filepath.Join(d.data, name)
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if data == nil || bytes.Equal(old, data) {
		return nil
	}
	if name == "secret.key" && bytes.Contains(old, bytes.TrimSpace(data)) {
		return nil // a start before this one put it there
	}
	if old != nil {
		if err := wholefile.Write(path+".before-restore", old); err != nil {
			return err
		}
	}
	if name == "secret.key" {
		data = append(bytes.TrimSpace(old), append([]byte("\n"), data...)...)
		data = bytes.TrimLeft(data, "\n")
	}
	return wholefile.Write(path, data)
}

// ends end what was open in rows that come from a copy, by what it is.
func (d *Daemon) ends() map[string]func(*db.Tx) (int, error) {
	return map[string]func(*db.Tx) (int, error){
		"approvals": d.rooms.approval.Restored, "notices": d.rooms.notify.Restored,
		"tunnels": d.rooms.tunnel.Restored, "turns": d.rooms.session.Restored,
		"schedules": d.rooms.schedule.Restored, "jobs": d.rooms.job.Restored,
		"teams": d.rooms.team.Restored, "runs": d.rooms.automation.Restored,
	}
}

// afterRestore lets nothing of the copy happen a second time by itself: what was asked
// for then is asked for again, turns and notices of that day end, and the public address
// stays closed. The journal goes on under an origin of its own, which names where the
// copy stood and the newest state that was known here.
func (d *Daemon) afterRestore(ctx context.Context) error {
	if d.restored == nil {
		return nil
	}
	var ended map[string]int
	err := d.db.Write(ctx, func(tx *db.Tx) (err error) {
		ended = map[string]int{}
		for name, end := range d.ends() {
			if ended[name], err = end(tx); err != nil {
				return fmt.Errorf("end the %s of the copy: %w", name, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	c := d.system()
	err = d.db.Write(ctx, func(tx *db.Tx) error {
		was, err := d.journal.Reborn(tx)
		if err != nil {
			return err
		}
		payload, err := json.Marshal(map[string]any{"made": d.restored, "ended": ended, "copy": was, "known": d.replaced})
		if err != nil {
			return err
		}
		_, err = d.journal.Append(tx, journal.Event{Tenant: c.Tenant, Type: "server.restore", Actor: c.Name,
			Resource: "server:/backup", Payload: payload})
		return err
	})
	if err != nil {
		return err
	}
	return os.Remove(d.pending())
}
