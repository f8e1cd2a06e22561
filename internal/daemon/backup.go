package daemon

import (
	"bytes"
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/internal/backup"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/repo/host"
	"tandem/internal/server/health"
	"tandem/internal/wholefile"
)

// HouseFormat names the form of what a copy says of the house itself: a line about
// it with its key files and settings, and the tables (docs/formats/backup.md).
const HouseFormat = "tandem.backup/v1"

// keyFiles are copied with the tables: without them the copy would hold seals
// that nobody opens and signatures that nobody continues.
var keyFiles = []string{"journal.key", "secret.key", "space.key", "tls-cert.pem", "tls-key.pem", tlsMoves}

// settingFiles are copied as well: a house that comes back listens where it listened.
var settingFiles = []string{"config.toml", ".env"}

type backupHead struct {
	Format  string            `json:"format"`
	Version string            `json:"version"`
	Made    time.Time         `json:"made"`
	Keeper  string            `json:"keeper"` // where the master key of the secrets is
	Files   map[string][]byte `json:"files"`
	Repos   []host.Copied     `json:"repos,omitempty"`
}

// BackupIn says where a copy goes and what locks it.
type BackupIn struct {
	Path       string `json:"path" jsonschema:"absolute path of the copy: a file that is not there yet, or a folder, in which copies are incremental"`
	Passphrase string `json:"passphrase,omitempty" jsonschema:"locks the copy"`
	Recipient  string `json:"recipient,omitempty" jsonschema:"locks the copy to the identity of this recipient"`
	Repos      string `json:"repos,omitempty" jsonschema:"content (the default) copies served repositories, reference only names them"`
	Keep       int    `json:"keep,omitempty" jsonschema:"of a folder, how many copies stay; all when left out"`
}

// Check refuses a path that depends on where the server was started.
func (in BackupIn) Check() error {
	if !filepath.IsAbs(in.Path) {
		return fault.New(fault.Invalid, "server.backup", "the path of a copy is absolute")
	}
	if in.Repos != "" && in.Repos != "content" && in.Repos != "reference" {
		return fault.New(fault.Invalid, "server.backup", "repositories are copied by content or by reference, not by %q", in.Repos)
	}
	return nil
}

func (in BackupIn) secret() backup.Secret {
	return backup.Secret{Passphrase: in.Passphrase, Recipient: in.Recipient}
}

// BackupOut describes a copy.
type BackupOut struct {
	Path    string        `json:"path"`
	Made    time.Time     `json:"made"`
	Rows    int64         `json:"rows"`
	Bytes   int64         `json:"bytes" jsonschema:"what the copy takes on disk; in a folder, what is new"`
	Copied  int64         `json:"copied,omitempty" jsonschema:"how much was copied"`
	Keeper  string        `json:"keeper" jsonschema:"keyring means that the secrets open only with this machine's keyring"`
	Repos   []host.Copied `json:"repos,omitempty"`
	Removed []string      `json:"removed,omitempty" jsonschema:"older copies that went"`
	Aside   string        `json:"aside,omitempty" jsonschema:"where the state before a restore is"`
}

func (d *Daemon) backupOps() []op.Op {
	return []op.Op{
		ServerBackup.Effect(op.Spec{Right: "server.export", Present: true, People: true, Socket: true, MCP: "-",
			Secret: []string{"passphrase"},
			Doc: "Write a copy of everything to a file or a folder while the server runs.\n" +
				"The copy holds keys and events, so a person must be present."},
			func(BackupIn) op.Resource { return op.Resource{Kind: "server", Path: "/backup"} }, d.backup, d.backedUp),
		ServerRestore.Effect(op.Spec{Right: "server.admin", Present: true, People: true, Socket: true, MCP: "-",
			Secret: []string{"passphrase", "identity"},
			Doc: "Replace everything by a copy. " +
				"The copy is checked to its end first, and the present state is copied aside; the server restarts."},
			func(RestoreIn) op.Resource { return op.Resource{Kind: "server", Path: "/backup"} }, d.stageRestore, nil),
	}
}

// backedUp tells of a copy whose making was cut off. A copy holds the intent of
// its own making, so a server that was restored from it asks as well, and knows
// that it was made. Otherwise the file is there whole, or not at all.
func (d *Daemon) backedUp(_ context.Context, in BackupIn) (BackupOut, bool, error) {
	if err := wholefile.Forsake(in.Path); err != nil {
		d.Log.Warn("remove what is left of a copy that was cut off", "path", in.Path, "err", err)
	}
	st, err := os.Stat(in.Path)
	switch {
	case err == nil && !st.IsDir():
		return BackupOut{Path: in.Path, Made: st.ModTime(), Bytes: st.Size()}, true, nil
	case d.restored != nil: // it lies elsewhere by now
		return BackupOut{Path: in.Path, Made: *d.restored}, true, nil
	}
	return BackupOut{}, false, nil
}

// backup writes a copy: whole and synced, or not at all.
func (d *Daemon) backup(ctx context.Context, in BackupIn) (out BackupOut, err error) {
	out = BackupOut{Made: d.db.Now()}
	naming, err := d.naming()
	if err != nil {
		return out, err
	}
	if st, err := os.Stat(in.Path); err == nil && st.IsDir() {
		d.removeHalves(in.Path)
	}
	w, err := backup.Create(in.Path, out.Made, in.secret(), naming)
	if err != nil {
		return out, d.db.Explain(err)
	}
	defer w.Drop()
	out.Path = w.Path()
	if err := d.writeHouse(ctx, w, in.Repos != "reference", &out); err != nil {
		return out, d.db.Explain(err)
	}
	for _, r := range out.Repos {
		if !r.Content {
			continue
		}
		err := d.rooms.repo.Copy(ctx, r.ID, func(name string, mode fs.FileMode, from io.Reader) error {
			return w.Add(backup.Entry{Name: "repos/" + r.ID + "/" + name, Mode: mode}, from)
		})
		if err != nil {
			return out, d.db.Explain(err)
		}
	}
	sum, err := w.Keep()
	out.Bytes, out.Copied = sum.Written, sum.Bytes
	if err != nil || in.Keep == 0 || out.Path == in.Path {
		return out, d.db.Explain(err)
	}
	out.Removed, err = backup.Prune(in.Path, in.Keep, in.secret())
	return out, err
}

// aside copies the present state beside the data, before it changes.
func (d *Daemon) aside(ctx context.Context, why string) (BackupOut, error) {
	path := filepath.Join(d.data, why+"-"+d.db.Now().Format("20060102-150405.000000")+".backup")
	return d.backup(ctx, BackupIn{Path: path, Repos: "reference"})
}

// naming is the key by which pieces of copies are named; nobody else can tell which
// pieces are equal.
func (d *Daemon) naming() ([]byte, error) {
	key, err := os.ReadFile(filepath.Join(d.data, "journal.key"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return hkdf.Key(sha256.New, append([]byte("tandem"), key...), nil, "tandem backup pieces v1", sha256.Size)
}

// writeHouse writes everything but the repositories.
func (d *Daemon) writeHouse(ctx context.Context, w *backup.Writer, content bool, out *BackupOut) (err error) {
	head := backupHead{Format: HouseFormat, Version: d.Version, Made: out.Made, Files: map[string][]byte{}}
	if d.rooms.secret != nil {
		if head.Keeper, err = d.rooms.secret.Keeper(ctx); err != nil {
			return err
		}
	}
	for _, name := range slices.Concat(keyFiles, settingFiles) {
		data, err := os.ReadFile(filepath.Join(d.data, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		head.Files[name] = data
	}
	if d.rooms.repo != nil {
		for _, r := range d.rooms.repo.Copied() {
			r.Content = content && d.rooms.repo.Within(r.ID)
			head.Repos = append(head.Repos, r)
		}
	}
	line, err := json.Marshal(head)
	if err != nil {
		return err
	}
	if err := w.Add(backup.Entry{Name: "house"}, bytes.NewReader(append(line, '\n'))); err != nil {
		return err
	}
	out.Keeper, out.Repos = head.Keeper, head.Repos
	out.Rows, err = d.copyTables(ctx, func(from io.Reader) error { return w.Add(backup.Entry{Name: "tables"}, from) })
	return err
}

// copyTables has one state of all tables added to a copy. It lets go of that state when it is given up, also where the copy's disk hangs.
func (d *Daemon) copyTables(ctx context.Context, add func(io.Reader) error) (rows int64, err error) {
	ctx, stop := whileRoom(ctx, d.db.Waiting, func() error { return health.Room(d.data) })
	defer stop()
	pr, pw := io.Pipe()
	dumped := make(chan struct{})
	go func() {
		defer close(dumped)
		var err error
		rows, err = d.db.Dump(ctx, pw, migrations...)
		pw.CloseWithError(err)
	}()
	err = add(pr)
	pr.CloseWithError(err)
	<-dumped
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return rows, err
}

// backupBeforeMigrating copies what an older program left before it is changed.
func (d *Daemon) backupBeforeMigrating(ctx context.Context) error {
	steps, empty, err := d.db.Behind(ctx, migrations...)
	if err != nil || steps == 0 || empty {
		return err
	}
	if err := d.unshared(ctx); err != nil {
		return err
	}
	out, err := d.aside(ctx, "before-migrating")
	if err == nil {
		d.Log.Info("copied before migrating", "path", out.Path, "rows", out.Rows, "steps", steps)
	}
	return err
}

// removeHalves removes what copies that were cut off left in a folder. Where one cannot go, a copy is made all the same.
func (d *Daemon) removeHalves(folder string) {
	gone, err := backup.Halves(folder, d.db.Now())
	for _, path := range gone {
		d.Log.Info("removed what a copy that was cut off left", "path", path)
	}
	if err != nil {
		d.Log.Warn("remove what is left of copies that were cut off", "path", folder, "err", err)
	}
}

// keptAside is how many copies of a kind stay in the data folder, and how long one
// stays in any case.
const keptAside, asideFor = 3, 7 * 24 * time.Hour

// tidyCopies removes old copies that were made by themselves, and what cut-off
// writing left behind.
func (d *Daemon) tidyCopies() {
	err := wholefile.ForsakeAll(d.data, d.db.Now().Add(-time.Hour))
	for _, why := range []string{"before-migrating-", "before-restore-", "before-going-on-"} {
		list, globErr := filepath.Glob(filepath.Join(d.data, why+"*.backup"))
		err = errors.Join(err, globErr)
		slices.Sort(list)
		for len(list) > keptAside {
			if st, statErr := os.Stat(list[0]); statErr == nil && d.db.Now().Sub(st.ModTime()) > asideFor {
				err = errors.Join(err, os.Remove(list[0]))
				d.Log.Info("removed an old copy", "path", list[0])
			}
			list = list[1:]
		}
	}
	if err != nil {
		d.Log.Warn("tidy copies", "err", err)
	}
}

// local refuses names that lead out of where they are put.
func local(name string) (id, rest string, ok bool) {
	name, ok = strings.CutPrefix(name, "repos/")
	if !ok {
		return "", "", false
	}
	id, rest, ok = strings.Cut(name, "/")
	return id, rest, ok && filepath.IsLocal(filepath.FromSlash(rest)) && id != "" && filepath.IsLocal(id)
}

// BackupIdentity makes a pair of keys: the identity opens copies that were locked to the
// recipient.
func BackupIdentity() (identity, recipient string, err error) { return backup.NewIdentity() }
