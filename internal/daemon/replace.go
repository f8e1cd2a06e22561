package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/identity"
	"tandem/internal/repo/host"
	"tandem/internal/settings"
	"tandem/internal/wholefile"
)

// Look is what a person is shown of a copy before it replaces a house.
type Look struct {
	Path      string        `json:"path"`
	Made      time.Time     `json:"made"`
	Rows      int64         `json:"rows"`
	Repos     []host.Copied `json:"repos"`
	Authority []string      `json:"authority"` // what in the copy lets somebody do something
}

// confers are the rows that let somebody do something. NOW stands for the time.
var confers = []struct{ what, query string }{
	{"people, agents and services", "SELECT count(*) FROM actor WHERE disabled_at = 0"},
	{"tokens that work", "SELECT count(*) FROM token WHERE revoked_at = 0 AND (expires_at = 0 OR expires_at > NOW)"},
	{"invitations that work", "SELECT count(*) FROM invite WHERE revoked_at = 0 AND used < uses AND expires_at > NOW"},
	{"PINs", "SELECT count(*) FROM pin"},
	{"passkeys", "SELECT count(*) FROM passkey"},
	{"grants", "SELECT count(*) FROM policy_grant WHERE revoked_version = 0"},
	{"standing answers", "SELECT count(*) FROM approval_rule WHERE expires_at = 0 OR expires_at > NOW"},
	{"programs that signed in", "SELECT count(*) FROM oauth_grant"},
	{"connectors", "SELECT count(*) FROM connector"},
	{"schedules, by which the server acts by itself", "SELECT count(*) FROM schedule"},
	{"automations that are switched on", "SELECT count(*) FROM automation WHERE live <> ''"},
	{"addresses at which others start automations", "SELECT count(*) FROM automation_hook"},
	{"members of spaces that are hosted here", "SELECT count(*) FROM space_member WHERE left_at = 0 AND removed_at = 0"},
	{"seats in spaces, for which the server calls other servers", "SELECT count(*) FROM peer_seat WHERE state = 'active'"},
	{"providers of models, which are sent what sessions say", "SELECT count(*) FROM session_provider"},
}

// letsIn says what in a database lets somebody do something.
func letsIn(ctx context.Context, d *db.DB) (out []string, err error) {
	out = []string{}
	now := fmt.Sprint(d.Now().UnixMicro())
	for _, c := range confers {
		var n int64
		if err := d.QueryRow(ctx, strings.ReplaceAll(c.query, "NOW", now)).Scan(&n); err != nil {
			return out, fmt.Errorf("count %s: %w", c.what, err)
		}
		if n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, c.what))
		}
	}
	return out, nil
}

// load restores the house of a staged copy into nothing. What can be loaded there can be loaded.
func (s *staged) load(ctx context.Context, data string, use func(*db.DB) error) error {
	return intoNothing(ctx, data, s.house, use)
}

// intoNothing restores a house into a database of its own, brought to the present, in a folder that goes again.
func intoNothing(ctx context.Context, data string, house io.ReadSeeker, use func(*db.DB) error) error {
	dir, err := os.MkdirTemp(data, ".tandem-look-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	d, err := db.Open(ctx, filepath.Join(dir, "tandem.db"), nil)
	if err != nil {
		return err
	}
	defer d.Close()
	if _, err := house.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, tables, err := openHouse(house)
	if err != nil {
		return err
	}
	if _, err := d.Load(ctx, tables, migrations...); err != nil {
		return err
	}
	return use(d)
}

func look(ctx context.Context, s *staged, d *db.DB) (Look, error) {
	out := Look{Path: s.out.Path, Made: s.out.Made, Rows: s.out.Rows, Repos: s.out.Repos, Authority: []string{}}
	var err error
	if out.Authority, err = letsIn(ctx, d); err != nil {
		return out, err
	}
	for _, name := range settingFiles {
		if _, ok := s.head.Files[name]; ok {
			out.Authority = append(out.Authority, name+", which says where the server listens")
		}
	}
	return out, nil
}

// LookAt reads a copy to its end, restores it into nothing and says what is in it.
func LookAt(ctx context.Context, in RestoreIn) (out Look, err error) {
	dir, err := os.MkdirTemp("", "tandem-look-*")
	if err != nil {
		return out, err
	}
	defer os.RemoveAll(dir)
	s, err := stage(ctx, dir, dir, in)
	if err != nil {
		return out, err
	}
	defer s.drop()
	err = s.load(ctx, dir, func(d *db.DB) error { out, err = look(ctx, s, d); return err })
	return out, err
}

// Replace restores a copy where no server runs, also where none can start. Confirm is
// shown the copy and asks the person for the PIN of the house that is replaced, while
// that can be read, else for the copy's; right says whether it is that. Without any PIN
// it asks for a yes, and whose is "".
func Replace(ctx context.Context, st *settings.Settings, version string, in RestoreIn,
	confirm func(l Look, whose string, right func(pin string) bool) error) (out BackupOut, err error) {
	d := &Daemon{Settings: st, Version: version, Log: slog.New(slog.DiscardHandler), data: st.Data()}
	if err := folder(d.data); err != nil {
		return out, err
	}
	release, err := hold(d.data)
	if err != nil {
		return out, err
	}
	defer release()
	s, err := stage(ctx, d.data, "", in)
	if err != nil {
		return out, err
	}
	defer s.drop()
	readable := d.openPresent(ctx) == nil
	if readable {
		defer d.db.Close()
		if err := d.nobodyElse(ctx); err != nil {
			return out, err
		}
	}
	err = s.load(ctx, d.data, func(copied *db.DB) error {
		l, err := look(ctx, s, copied)
		if err != nil {
			return err
		}
		from, whose := copied, "the copy"
		if readable {
			if set, _, err := identity.Proves(ctx, d.db, ""); err == nil && set {
				from, whose = d.db, "the server that is replaced"
			}
		}
		set, _, err := identity.Proves(ctx, from, "")
		if err != nil {
			return err
		}
		if !set {
			whose = ""
		}
		return confirm(l, whose, func(pin string) bool {
			_, right, err := identity.Proves(ctx, from, pin)
			return err == nil && right
		})
	})
	if err != nil {
		return out, err
	}
	out = s.out
	if out.Aside, err = d.setPresentAside(ctx, readable); err != nil {
		return out, fmt.Errorf("copy the present state aside: %w", err)
	}
	return out, s.keep()
}

// openPresent opens the database of the house that is to be replaced, when there is one.
func (d *Daemon) openPresent(ctx context.Context) error {
	if err := d.settle(); err != nil {
		return err
	}
	dsn := d.dsn()
	if dsn == "" {
		dsn = filepath.Join(d.data, "tandem.db")
		if _, err := os.Stat(dsn); err != nil {
			return err
		}
	}
	var err error
	if d.db, err = db.Open(ctx, dsn, nil); err != nil {
		return err
	}
	var n int
	if err := d.db.QueryRow(ctx, "SELECT count(*) FROM pin").Scan(&n); err != nil {
		return errors.Join(err, d.db.Close())
	}
	return nil
}

// setPresentAside copies the present state, or moves a database that cannot be read out
// of the way as it is.
func (d *Daemon) setPresentAside(ctx context.Context, readable bool) (string, error) {
	if readable {
		out, err := d.aside(ctx, "before-restore")
		if err == nil {
			return out.Path, nil
		}
		if strings.HasPrefix(d.dsn(), "postgres") {
			return "", err
		}
		d.db.Close()
	}
	file := filepath.Join(d.data, "tandem.db")
	if _, err := os.Lstat(file); errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	return d.fileAside()
}

// fileAside moves the SQLite file of the data folder into a folder beside it, and names that.
func (d *Daemon) fileAside() (string, error) {
	file, to := filepath.Join(d.data, "tandem.db"), filepath.Join(d.data, "set-aside-"+time.Now().UTC().Format("20060102-150405.000000"))
	if err := os.Mkdir(to, 0o700); err != nil {
		return "", err
	}
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(file+end, filepath.Join(to, "tandem.db"+end)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	return to, wholefile.SyncFolder(d.data)
}
