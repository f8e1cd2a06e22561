package tenancy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"tandem/internal/approval"
	"tandem/internal/automation"
	"tandem/internal/backup"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/secret"
	"tandem/internal/session"
	"tandem/internal/space/peer"
	"tandem/internal/space/seal"
)

// Format names the form of a tenant's file (docs/formats/tenant.md).
const Format = "tandem.tenant/v1"

// Head is the first entry of such a file.
type Head struct {
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

// Rooms are those whose rows are more than copied: what is sealed in them gets another key, and what is open in them ends.
type Rooms struct {
	Secrets     *secret.Room
	Approvals   *approval.Room
	Sessions    *session.Room
	Automations *automation.Room
	Peers       *peer.Room
}

// Place is the server that tenants leave or come to.
type Place struct {
	Server, Version string
	Data            string       // its data folder
	SpaceKey        string       // the file with the key of seats in spaces
	Free            func() int64 // bytes on its disk; below 0 when nobody knows
}

// Carrier writes tenants to files, and takes them from files.
type Carrier struct {
	DB         *db.DB
	Migrations []db.Migrations // all tables
	Journal    *journal.Journal
	Identity   *identity.Room
	Rooms      Rooms
	At         Place
	Log        *slog.Logger
	Sealed     func(context.Context, *db.DB) ([]op.Sealed, error) // the rows of a database that the journal would vouch for
	Legible    []Legible
	Try        func(ctx context.Context, folder string, in identity.ImportIn) error // has a server of its own, in a box, take a file
	LetsIn     func(context.Context, *db.DB) ([]string, error)                      // what in a database lets somebody do something
}

// path is where a tenant's file is. Only who is at this machine says where on it files are written and read; others name one in
// the folder for exports.
func (c *Carrier) path(ctx context.Context, where, path string) (string, error) {
	exports := filepath.Join(c.At.Data, "exports")
	if filepath.IsAbs(path) {
		if op.CallerFrom(ctx).Door != op.DoorSocket {
			return "", fault.New(fault.Denied, where, "only a command on the server's own machine says where the file is").
				WithNext("name a file in %s, without its folder", exports)
		}
		return path, nil
	}
	return filepath.Join(exports, path), os.MkdirAll(exports, 0o700)
}

// Out writes everything of a tenant that is not a house's to a locked file: its rows as of one moment, its secrets under a key of
// the file, and the export of its journal. Its sessions have no files: folders and programs are the house's.
func (c *Carrier) Out(ctx context.Context, t *identity.Tenant, in identity.ExportIn) (out identity.ExportOut, err error) {
	out = identity.ExportOut{Tenant: t.ID, Name: t.Name, Made: c.DB.Now()}
	if in.Path == "" {
		in.Path = t.Name + "-" + out.Made.UTC().Format("20060102-150405") + ".tenant"
	}
	if out.Path, err = c.path(ctx, string(identity.TenantExport), in.Path); err != nil {
		return out, err
	}
	if st, err := os.Stat(out.Path); err == nil && st.IsDir() {
		return out, fault.New(fault.Conflict, string(identity.TenantExport), "%s is a folder", out.Path).
			WithNext("name a file that is not there yet")
	}
	head := Head{Format: Format, Version: c.At.Version, Made: out.Made, Server: c.At.Server, ID: t.ID, Name: t.Name,
		Created: t.CreatedAt, Limits: t.Limits, Secret: secret.NewCarryKey()}
	if head.Space, err = seal.NewKey(); err != nil {
		return out, err
	}
	w, err := backup.Create(out.Path, out.Made, backup.Secret{Passphrase: in.Passphrase, Recipient: in.Recipient}, nil)
	if err != nil {
		return out, c.DB.Explain(err)
	}
	defer w.Drop()
	err = c.scratch(ctx, func(_ string, copied *db.DB) error {
		if err := c.copyRows(ctx, copied, &head, &out); err != nil {
			return err
		}
		line, err := json.Marshal(head)
		if err != nil {
			return err
		}
		if err := w.Add(backup.Entry{Name: "tenant"}, bytes.NewReader(line)); err != nil {
			return err
		}
		if err := piped(w, "tables", func(to io.Writer) error { _, err := copied.Dump(ctx, to, c.Migrations...); return err }); err != nil {
			return err
		}
		err = piped(w, "journal", func(to io.Writer) (err error) { out.Events, err = c.Journal.WriteExport(ctx, to, t.ID); return err })
		if err != nil {
			return err
		}
		return nil
	})
	if err != nil {
		return out, c.DB.Explain(err)
	}
	out.Doubt = append(out.Doubt, head.Doubt...)
	sum, err := w.Keep()
	if err == nil {
		out.Digest, err = digestOf(out.Path)
	}
	out.Bytes = sum.Written
	op.Note(ctx, "tenant", t.ID)
	op.Note(ctx, "path", out.Path)
	op.Note(ctx, "records", out.Records)
	return out, c.DB.Explain(err)
}

// OnTheWay is how the folders with tenants that come or go begin.
const OnTheWay = ".tandem-tenant-"

// LeftOnTheWay removes what a crash left of tenants that came or went: rows with hashes of tokens and PINs, which no erasure would find.
// Only the server that has the data folder makes them, and it has just begun.
func LeftOnTheWay(data string) error {
	list, err := filepath.Glob(filepath.Join(data, OnTheWay+"*"))
	for _, path := range list {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}

// scratch is a database of its own, with every table as this program has it and in a folder that goes again.
func (c *Carrier) scratch(ctx context.Context, use func(folder string, copied *db.DB) error) error {
	dir, err := os.MkdirTemp(c.At.Data, OnTheWay+"*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	copied, err := db.Open(ctx, filepath.Join(dir, "tandem.db"), nil)
	if err != nil {
		return err
	}
	return errors.Join(use(dir, copied), copied.Close())
}

// copyRows copies a tenant's rows and puts what is sealed in them under the keys of the file.
func (c *Carrier) copyRows(ctx context.Context, copied *db.DB, head *Head, out *identity.ExportOut) error {
	r, w := io.Pipe()
	go func() {
		var err error
		_, err = c.DB.DumpPart(ctx, w, Carried(), "tenant", head.ID, c.Migrations...)
		w.CloseWithError(err)
	}()
	var err error
	out.Records, err = copied.Load(ctx, r, c.Migrations...)
	r.CloseWithError(err)
	if err != nil {
		return err
	}
	own, err := peer.Key(c.At.SpaceKey)
	if err != nil {
		return err
	}
	err = copied.Write(ctx, func(to *db.Tx) error {
		if _, err := peer.Reseal(to, own, head.Space); err != nil {
			return err
		}
		return c.DB.Read(ctx, func(here *db.Tx) error {
			n, lost, err := c.Rooms.Secrets.Leave(here, to, head.Secret)
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
	rows, err := c.Sealed(ctx, copied)
	if err != nil {
		return err
	}
	return c.DB.Read(ctx, func(tx *db.Tx) (err error) {
		head.Doubt = nil
		for _, row := range rows {
			if row.Tenant != head.ID || c.Journal.Vouch().Holds(ctx, row) {
				continue
			}
			// what passes is remembered by the process that saw it: the database is asked
			held, err := c.Journal.Vouches(tx, row.Tenant, journal.Seal{Subject: row.Subject, Digest: journal.Digest(row.Says...)})
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
