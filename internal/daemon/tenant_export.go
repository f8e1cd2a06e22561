package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"tandem/internal/backup"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/secret"
	"tandem/internal/space/peer"
	"tandem/internal/space/seal"
)

// tenantFormat names the form of a tenant's file (docs/formats/tenant.md).
const tenantFormat = "tandem.tenant/v1"

// tenantHead is the first entry of such a file.
type tenantHead struct {
	Format  string                `json:"format"`
	Version string                `json:"version"` // of the program that wrote it
	Made    time.Time             `json:"made"`
	Server  string                `json:"server"`
	ID      string                `json:"id"`
	Name    string                `json:"name"`
	Created time.Time             `json:"created"`
	Limits  identity.TenantLimits `json:"limits,omitzero"`
	Secret  []byte                `json:"secret_key"`      // under which its secrets are in the file
	Space   []byte                `json:"space_key"`       // under which its seats in spaces are
	Doubt   []string              `json:"doubt,omitempty"` // subjects that the journal there did not vouch for
}

// tenantPath is where a tenant's file is. Only who is at this machine says where on it files are written and read; others name one in
// the folder for exports.
func (d *Daemon) tenantPath(ctx context.Context, where, path string) (string, error) {
	exports := filepath.Join(d.data, "exports")
	if filepath.IsAbs(path) {
		if op.CallerFrom(ctx).Door != op.DoorSocket {
			return "", fault.New(fault.Denied, where, "only a command on the server's own machine says where the file is").
				WithNext("name a file in %s, without its folder", exports)
		}
		return path, nil
	}
	return filepath.Join(exports, path), os.MkdirAll(exports, 0o700)
}

// exportTenant writes everything of a tenant that is not a house's to a locked file: its rows as of one moment, its secrets under a key of
// the file, and the export of its journal. Its sessions have no files: folders and programs are the house's.
func (d *Daemon) exportTenant(ctx context.Context, t *identity.Tenant, in identity.ExportIn) (out identity.ExportOut, err error) {
	out = identity.ExportOut{Tenant: t.ID, Name: t.Name, Made: d.db.Now()}
	if in.Path == "" {
		in.Path = t.Name + "-" + out.Made.UTC().Format("20060102-150405") + ".tenant"
	}
	if out.Path, err = d.tenantPath(ctx, string(identity.TenantExport), in.Path); err != nil {
		return out, err
	}
	if st, err := os.Stat(out.Path); err == nil && st.IsDir() {
		return out, fault.New(fault.Conflict, string(identity.TenantExport), "%s is a folder", out.Path).
			WithNext("name a file that is not there yet")
	}
	head := tenantHead{Format: tenantFormat, Version: d.Version, Made: out.Made, Server: d.kept.ID, ID: t.ID, Name: t.Name,
		Created: t.CreatedAt, Limits: t.Limits, Secret: secret.NewCarryKey()}
	if head.Space, err = seal.NewKey(); err != nil {
		return out, err
	}
	w, err := backup.Create(out.Path, out.Made, backup.Secret{Passphrase: in.Passphrase, Recipient: in.Recipient}, nil)
	if err != nil {
		return out, d.db.Explain(err)
	}
	defer w.Drop()
	err = d.scratch(ctx, func(copied *db.DB) error {
		if err := d.copyTenant(ctx, copied, &head, &out); err != nil {
			return err
		}
		line, err := json.Marshal(head)
		if err != nil {
			return err
		}
		if err := w.Add(backup.Entry{Name: "tenant"}, bytes.NewReader(line)); err != nil {
			return err
		}
		if err := piped(w, "tables", func(to io.Writer) error { _, err := copied.Dump(ctx, to, migrations...); return err }); err != nil {
			return err
		}
		err = piped(w, "journal", func(to io.Writer) (err error) { out.Events, err = d.journal.WriteExport(ctx, to, t.ID); return err })
		if err != nil {
			return err
		}
		return nil
	})
	if err != nil {
		return out, d.db.Explain(err)
	}
	out.Doubt = append(out.Doubt, head.Doubt...)
	sum, err := w.Keep()
	out.Bytes = sum.Written
	op.Note(ctx, "tenant", t.ID)
	op.Note(ctx, "path", out.Path)
	op.Note(ctx, "records", out.Records)
	return out, d.db.Explain(err)
}

// onTheWay is how the folders with tenants that come or go begin.
const onTheWay = ".tandem-tenant-"

// leftOnTheWay removes what a crash left of tenants that came or went: rows with hashes of tokens and PINs, which no erasure would find.
// Only the server that has the data folder makes them, and it has just begun.
func (d *Daemon) leftOnTheWay() error {
	list, err := filepath.Glob(filepath.Join(d.data, onTheWay+"*"))
	for _, path := range list {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}

// scratch is a database of its own, with every table as this program has it and in a folder that goes again.
func (d *Daemon) scratch(ctx context.Context, use func(*db.DB) error) error {
	dir, err := os.MkdirTemp(d.data, onTheWay+"*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	copied, err := db.Open(ctx, filepath.Join(dir, "tandem.db"), nil)
	if err != nil {
		return err
	}
	return errors.Join(use(copied), copied.Close())
}

// copyTenant copies a tenant's rows and puts what is sealed in them under the keys of the file.
func (d *Daemon) copyTenant(ctx context.Context, copied *db.DB, head *tenantHead, out *identity.ExportOut) error {
	r, w := io.Pipe()
	go func() {
		var err error
		_, err = d.db.DumpPart(ctx, w, carriedTables(), "tenant", head.ID, migrations...)
		w.CloseWithError(err)
	}()
	var err error
	out.Records, err = copied.Load(ctx, r, migrations...)
	r.CloseWithError(err)
	if err != nil {
		return err
	}
	own, err := peer.Key(filepath.Join(d.data, spaceKey))
	if err != nil {
		return err
	}
	err = copied.Write(ctx, func(to *db.Tx) error {
		if _, err := peer.Reseal(to, own, head.Space); err != nil {
			return err
		}
		return d.db.Read(ctx, func(here *db.Tx) error {
			n, lost, err := d.rooms.secret.Leave(here, to, head.Secret)
			for _, name := range lost {
				out.Doubt = append(out.Doubt, "secret:"+name)
			}
			out.Secrets = n
			return err
		})
	})
	if err != nil {
		return err
	}
	rows, err := d.sealedIn(ctx, copied)
	if err != nil {
		return err
	}
	return d.db.Read(ctx, func(tx *db.Tx) (err error) {
		head.Doubt = nil
		for _, row := range rows {
			if row.Tenant != head.ID || d.journal.Vouch().Holds(ctx, row) {
				continue
			}
			// what passes is remembered by the process that saw it: the database is asked
			held, err := d.journal.Vouches(tx, row.Tenant, journal.Seal{Subject: row.Subject, Digest: journal.Digest(row.Says...)})
			if err != nil {
				return err
			}
			if !held {
				head.Doubt = append(head.Doubt, row.Subject)
			}
		}
		out.Left, err = left(tx, head.ID)
		return err
	})
}

// piped adds an entry that is written as it is read.
func piped(w *backup.Writer, name string, write func(io.Writer) error) error {
	r, to := io.Pipe()
	done := make(chan struct{})
	go func() { defer close(done); to.CloseWithError(write(to)) }()
	err := w.Add(backup.Entry{Name: name}, r)
	r.CloseWithError(err)
	<-done
	return err
}
