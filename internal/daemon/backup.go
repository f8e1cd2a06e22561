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
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/installation"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/wholefile"
)

// BackupFormat names the form of a copy: gzip over a line about the copy and
// the key files, then the tables (docs/formats/backup.md).
const BackupFormat = "tandem.backup/v1"

// keyFiles are copied with the tables: without them the copy would hold seals
// that nobody opens and signatures that nobody continues.
var keyFiles = []string{"journal.key", "secret.key", "space.key", "tls-cert.pem", "tls-key.pem"}

type backupHead struct {
	Format  string            `json:"format"`
	Version string            `json:"version"`
	Made    time.Time         `json:"made"`
	Keeper  string            `json:"keeper"` // where the master key of the secrets is
	Files   map[string][]byte `json:"files"`
}

// PathIn names a file on the server's machine.
type PathIn struct {
	Path string `json:"path" jsonschema:"absolute path of the copy"`
}

// check refuses a path that depends on where the server was started.
func (in PathIn) check() error {
	if !filepath.IsAbs(in.Path) {
		return fault.New(fault.Invalid, "server.backup", "the path of a copy is absolute")
	}
	return nil
}

// BackupOut describes a copy.
type BackupOut struct {
	Path   string    `json:"path"`
	Made   time.Time `json:"made"`
	Rows   int64     `json:"rows"`
	Bytes  int64     `json:"bytes"`
	Keeper string    `json:"keeper" jsonschema:"keyring means that the secrets open only with this machine's keyring"`
}

func (d *Daemon) backupOps() []op.Op {
	at := func(PathIn) op.Resource { return op.Resource{Kind: "server", Path: "/backup"} }
	return []op.Op{
		op.Effect(op.Spec{Name: "server.backup", Right: "server.export", Present: true, People: true, Socket: true, MCP: "-",
			Doc: "Write a copy of everything to a file while the server runs.\nThe copy holds keys and events, so a person must be present."},
			at, func(ctx context.Context, in PathIn) (BackupOut, error) {
				if err := in.check(); err != nil {
					return BackupOut{}, err
				}
				return d.backup(ctx, in.Path)
			}, d.backedUp),
		op.Effect(op.Spec{Name: "server.restore", Right: "server.admin", Present: true, People: true, Socket: true, MCP: "-",
			Doc: "Replace everything by a copy. The copy is checked to its end first, and the present state is copied aside; the server restarts."},
			at, d.stageRestore, nil),
	}
}

// backedUp tells of a copy whose making was cut off. A copy holds the intent of
// its own making, so a server that was restored from it asks as well, and knows
// that it was made. Otherwise the file is there whole, or not at all.
func (d *Daemon) backedUp(_ context.Context, in PathIn) (BackupOut, bool, error) {
	st, err := os.Stat(in.Path)
	switch {
	case err == nil:
		return BackupOut{Path: in.Path, Made: st.ModTime(), Bytes: st.Size()}, true, nil
	case d.restored != nil: // it lies elsewhere by now
		return BackupOut{Path: in.Path, Made: *d.restored}, true, nil
	}
	return BackupOut{}, false, nil
}

// backup writes a copy: whole and synced, or not at all.
func (d *Daemon) backup(ctx context.Context, path string) (out BackupOut, err error) {
	out = BackupOut{Path: path, Made: d.db.Now()}
	if _, err := os.Lstat(path); err == nil {
		return out, fault.New(fault.Conflict, "server.backup", "%s exists already", path).WithNext("choose another name")
	}
	f, err := wholefile.Create(path)
	if err != nil {
		return out, fault.New(fault.Invalid, "server.backup", "cannot write there: %w", err).WithNext("choose a folder that exists and that you may write to")
	}
	defer f.Drop()
	if out.Rows, out.Keeper, err = d.writeBackup(ctx, f, out.Made); err != nil {
		return out, d.db.Explain(err)
	}
	if out.Bytes, err = f.Seek(0, io.SeekCurrent); err != nil {
		return out, err
	}
	return out, d.db.Explain(f.Keep())
}

func (d *Daemon) writeBackup(ctx context.Context, w io.Writer, made time.Time) (rows int64, keeper string, err error) {
	head := backupHead{Format: BackupFormat, Version: d.Version, Made: made, Files: map[string][]byte{}}
	if d.rooms.secret != nil {
		if head.Keeper, err = d.rooms.secret.Keeper(ctx); err != nil {
			return 0, "", err
		}
	}
	for _, name := range keyFiles {
		data, err := os.ReadFile(filepath.Join(d.data, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, "", err
		}
		head.Files[name] = data
	}
	zip := gzip.NewWriter(w)
	if err := json.NewEncoder(zip).Encode(head); err != nil {
		return 0, "", err
	}
	if rows, err = d.db.Dump(ctx, zip, migrations...); err != nil {
		return 0, "", err
	}
	return rows, head.Keeper, zip.Close()
}

// openBackup reads a copy's first line; the tables follow in the reader.
func openBackup(f io.Reader) (head backupHead, tables io.Reader, err error) {
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
	if head.Format != BackupFormat {
		return head, nil, bad(fmt.Errorf("its format is %q, this program reads %q", head.Format, BackupFormat))
	}
	return head, in, nil
}

func (d *Daemon) pending() string { return filepath.Join(d.data, "restore.pending") }

// stageRestore checks a copy to its end, copies the present state aside, puts
// the copy where the next start finds it, and restarts.
func (d *Daemon) stageRestore(ctx context.Context, in PathIn) (BackupOut, error) {
	out := BackupOut{Path: in.Path}
	if err := in.check(); err != nil {
		return out, err
	}
	from, err := os.Open(in.Path)
	if err != nil {
		return out, fault.New(fault.Invalid, "server.restore", "the copy cannot be read: %w", err).WithNext("check the path, and that you may read it")
	}
	defer from.Close()
	head, tables, err := openBackup(from)
	if err != nil {
		return out, err
	}
	out.Made, out.Keeper = head.Made, head.Keeper
	if out.Rows, err = db.CheckDump(tables, migrations...); err != nil {
		return out, err
	}
	aside := filepath.Join(d.data, "before-restore-"+d.db.Now().Format("20060102-150405.000000")+".backup")
	if _, err := d.backup(ctx, aside); err != nil {
		return out, fmt.Errorf("copy the present state aside: %w", err)
	}
	if out.Bytes, err = from.Seek(0, io.SeekEnd); err == nil {
		_, err = from.Seek(0, io.SeekStart)
	}
	if err == nil {
		err = wholefile.WriteFrom(d.pending(), from) // the next start checks it once more, as it loads it
	}
	if err != nil {
		return out, d.db.Explain(err)
	}
	op.Note(ctx, "aside", aside)
	d.restart.Store(true)
	d.stop()
	return out, nil
}

// finishRestore loads a copy that was put in place for this start. It is one
// transaction; the file goes when it is done, so a crash repeats it.
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
	_, tables, err := openBackup(f)
	if err == nil { // to its end, before the keys that fit what there is are replaced
		_, err = db.CheckDump(tables, migrations...)
	}
	if err != nil {
		return stuck(err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	head, tables, err := openBackup(f)
	if err != nil {
		return err
	}
	for _, name := range keyFiles {
		if err := d.restoreFile(name, head.Files[name]); err != nil {
			return err
		}
	}
	rows, err := d.db.Load(ctx, tables, migrations...)
	if err != nil {
		return stuck(err)
	}
	if err := d.becomeRestored(ctx); err != nil {
		return err
	}
	d.Log.Info("restored", "rows", rows, "made", head.Made)
	d.restored = &head.Made
	if err := d.forgetSeals(); err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(d.pending())) // an open file cannot be removed everywhere
}

// becomeRestored lets the folder be of the installation that the copy is of:
// everything else of it has just been replaced.
func (d *Daemon) becomeRestored(ctx context.Context) error {
	id, _, err := installation.In(ctx, d.db)
	if err != nil || id == "" || d.kept == nil || d.kept.ID == id {
		return err
	}
	d.kept.ID = id
	if err := d.kept.Settle(d.keepers, d.data, d.dsn()); err != nil {
		return err
	}
	return d.kept.Write(d.data)
}

// restoreFile puts a key file back. What stood there stays beside it, and
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

// noteRestore records in the restored journal that it was restored.
func (d *Daemon) noteRestore(ctx context.Context) error {
	if d.restored == nil {
		return nil
	}
	payload, err := json.Marshal(map[string]any{"made": d.restored})
	if err != nil {
		return err
	}
	c := d.system()
	return d.db.Write(ctx, func(tx *db.Tx) error {
		_, err := d.journal.Append(tx, journal.Event{Tenant: c.Tenant, Type: "server.restore", Actor: c.Name, Resource: "server:/backup", Payload: payload})
		return err
	})
}

// backupBeforeMigrating copies what an older program left before it is changed.
func (d *Daemon) backupBeforeMigrating(ctx context.Context) error {
	steps, empty, err := d.db.Behind(ctx, migrations...)
	if err != nil || steps == 0 || empty {
		return err
	}
	out, err := d.backup(ctx, filepath.Join(d.data, "before-migrating-"+d.db.Now().Format("20060102-150405.000000")+".backup"))
	if err == nil {
		d.Log.Info("copied before migrating", "path", out.Path, "rows", out.Rows, "steps", steps)
	}
	return err
}
