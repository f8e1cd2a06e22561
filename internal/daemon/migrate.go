package daemon

import (
	"context"
	"log/slog"
	"path/filepath"

	"tandem/internal/db"
	"tandem/internal/installation"
	"tandem/internal/settings"
)

// Migrated is what Migrate did.
type Migrated struct {
	Database string `json:"database"`
	Steps    int    `json:"steps" jsonschema:"how many migrations ran"`
	Role     string `json:"role,omitempty" jsonschema:"the role that may work with the tables"`
}

// Migrate brings the tables to this program's version where no server runs, and
// lets a role work with them. The address may be another than the server's: that
// of the role which owns the tables. It is not kept.
func Migrate(ctx context.Context, st *settings.Settings, version, role string) (out Migrated, err error) {
	d := &Daemon{Settings: st, Version: version, Log: slog.New(slog.DiscardHandler), data: st.Data()}
	if err := folder(d.data); err != nil {
		return out, err
	}
	release, err := hold(d.data)
	if err != nil {
		return out, err
	}
	defer release()
	if err := d.settle(); err != nil {
		return out, err
	}
	if err := d.absent(); err != nil {
		return out, err
	}
	dsn := d.dsn()
	if dsn == "" {
		dsn = filepath.Join(d.data, "tandem.db")
	}
	out.Database, out.Role = installation.Shown(d.data, d.dsn()), role
	if d.db, err = db.Open(ctx, dsn, nil); err != nil {
		return out, err
	}
	defer d.db.Close()
	if err := d.nobodyElse(ctx); err != nil {
		return out, err
	}
	if err := d.recognise(ctx); err != nil {
		return out, err
	}
	if err := d.backupBeforeMigrating(ctx); err != nil {
		return out, err
	}
	if out.Steps, err = d.db.Migrate(ctx, migrations...); err != nil || role == "" {
		return out, err
	}
	return out, d.db.Allow(ctx, role, migrations...)
}
