package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/automation"
	"tandem/internal/backup"
	"tandem/internal/connector"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/policy/book"
	"tandem/internal/schedule"
	"tandem/internal/session"
	"tandem/internal/session/terminal"
	sources "tandem/internal/source"
	"tandem/internal/space/peer"
)

// arrival is a tenant's file that was read to its end, and what is in it, in a database of its own.
type arrival struct {
	head   tenantHead
	copied *db.DB
	folder string // of its files
	files  []string
	former journal.Former
	rows   []op.Sealed // what the journal here is to vouch for
	name   string      // what it is called here
	out    identity.ImportOut
}

// sealedIn lists the rows of a database that the journal would vouch for.
func (d *Daemon) sealedIn(ctx context.Context, copied *db.DB) (out []op.Sealed, err error) {
	for _, rows := range []func() ([]op.Sealed, error){
		func() ([]op.Sealed, error) { return d.identity.In(ctx, copied) },
		func() ([]op.Sealed, error) { return book.RowsIn(ctx, copied) },
		func() ([]op.Sealed, error) { return session.Rows(ctx, copied) },
		func() ([]op.Sealed, error) { return terminal.Rows(ctx, copied) },
		func() ([]op.Sealed, error) { return connector.Rows(ctx, copied) },
		func() ([]op.Sealed, error) { return schedule.Rows(ctx, copied) },
		func() ([]op.Sealed, error) { return automation.Rows(ctx, copied) },
		func() ([]op.Sealed, error) { return sources.Rows(ctx, copied, d.journal.Vouch()) },
	} {
		more, err := rows()
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

func notATenant(format string, args ...any) error {
	return fault.New(fault.Invalid, string(identity.TenantImport), "the file cannot be taken: "+format, args...).
		WithNext("nothing was changed; export the tenant again: tandem tenant export NAME FILE")
}

// importTenant takes a tenant from a file. Everything is read, checked and ended in a database of its own; then all of it is there, or none
// of it.
func (d *Daemon) importTenant(ctx context.Context, in identity.ImportIn) (out identity.ImportOut, err error) {
	if !d.arrivals { // a file may be by anybody, and is not yet held to what a tenant of this server could have
		return out, fault.New(fault.Unavailable, string(identity.TenantImport), "this version takes no tenant from a file yet").
			WithNext("keep the file for a later version, or move the whole server: tandem server backup PATH")
	}
	if n := d.journal.Waiting(); n > 0 { // there is one list, and it is looked at whole
		return out, fault.New(fault.Conflict, string(identity.TenantImport), "%d grants, tokens and the like wait to be confirmed", n).
			WithNext("look, and confirm: tandem audit confirm")
	}
	if in.Path, err = d.tenantPath(ctx, string(identity.TenantImport), in.Path); err != nil {
		return out, err
	}
	err = d.scratch(ctx, func(copied *db.DB) error {
		a := &arrival{copied: copied, folder: filepath.Join(filepath.Dir(copied.Path()), "files")}
		if err := d.readTenant(ctx, a, in); err != nil {
			return err
		}
		if err := d.endTenant(ctx, a); err != nil {
			return err
		}
		placed, err := d.placeFiles(a)
		if err == nil {
			err = d.takeTenant(ctx, a)
		}
		if err != nil {
			for _, path := range slices.Backward(placed) {
				err = errors.Join(err, os.Remove(path))
			}
			return err
		}
		out = a.out
		return nil
	})
	if err != nil {
		return out, d.db.Explain(err)
	}
	op.Note(ctx, "tenant", out.ID)
	op.Note(ctx, "name", out.Name)
	op.Note(ctx, "records", out.Records)
	op.Note(ctx, "ended", out.Ended)
	if err := d.rooms.secret.Learn(ctx); err != nil { // what is secret there is struck from records here
		d.Log.Warn("secrets of a tenant that came cannot be opened yet", "err", err)
	}
	out.Waits = d.journal.Unconfirmed(out.ID)
	return out, nil
}

// readTenant reads a file to its end.
func (d *Daemon) readTenant(ctx context.Context, a *arrival, in identity.ImportIn) error {
	r, err := backup.Open(in.Path, backup.Secret{Passphrase: in.Passphrase, Identity: in.Identity})
	if err != nil {
		return err
	}
	defer r.Close()
	defer func() { a.name = cmp.Or(in.Name, a.head.Name) }()
	var allowed map[string]bool
	for n := 0; ; n++ {
		e, content, err := r.Next()
		if errors.Is(err, io.EOF) {
			if n < 3 {
				return notATenant("it ends too early")
			}
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case n == 0 && e.Name == "tenant":
			err = json.NewDecoder(content).Decode(&a.head)
			if err == nil && a.head.Format != tenantFormat {
				err = notATenant("its form is %q, this program reads %q", a.head.Format, tenantFormat)
			}
		case n == 1 && e.Name == "tables":
			if a.out.Records, err = a.copied.Load(ctx, content, migrations...); err == nil {
				allowed, err = d.ownRows(ctx, a)
			}
		case n == 2 && e.Name == "journal":
			err = a.copied.Write(ctx, func(tx *db.Tx) (err error) {
				a.former, err = journal.KeepFormer(tx, content, a.head.ID, a.head.Made)
				return err
			})
		case n > 2:
			name, ok := fileOf(e.Name, allowed)
			if !ok {
				return notATenant("it has an entry %.80q, which is no file of the tenant", e.Name)
			}
			a.files = append(a.files, name)
			err = keepFile(filepath.Join(a.folder, filepath.FromSlash(name)), e, content)
		default:
			if n == 0 {
				return notATenant("it is a copy of something else")
			}
			err = notATenant("it has an entry %.80q", e.Name)
		}
		if err != nil {
			return err
		}
	}
}

func keepFile(path string, e backup.Entry, content io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, e.Mode.Perm()&0o700|0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Sync(), f.Close())
}

// ownRows refuses a file that brings rows of anybody else, and says in which folders the tenant may have files.
func (d *Daemon) ownRows(ctx context.Context, a *arrival) (allowed map[string]bool, err error) {
	allowed = map[string]bool{}
	all, err := a.copied.Tables(ctx, 1000)
	if err != nil {
		return nil, err
	}
	listed := listedTables()
	return allowed, a.copied.Read(ctx, func(tx *db.Tx) error {
		for _, table := range all {
			if table == "schema_version" {
				continue
			}
			query, args := "SELECT count(*) FROM "+table, []any(nil)
			if slices.Contains(listed, table) {
				query, args = query+" WHERE tenant <> ?", []any{a.head.ID}
			}
			var n int64
			if err := tx.QueryRow(query, args...).Scan(&n); err != nil {
				return err
			}
			if n > 0 {
				return notATenant("of %d rows in %s it says that they are not the tenant's", n, table)
			}
		}
		files, err := d.tenantFiles(tx, a.head.ID)
		for _, path := range files {
			name, wrong := filepath.Rel(d.data, path)
			err = errors.Join(err, wrong)
			allowed[filepath.ToSlash(name)] = true
		}
		return err
	})
}

// endTenant ends what was open there, so that nothing is done a second time, and puts what is sealed under the keys of this server.
func (d *Daemon) endTenant(ctx context.Context, a *arrival) error {
	own, err := peer.Key(filepath.Join(d.data, spaceKey))
	if err != nil {
		return err
	}
	a.out.Ended = map[string]int{}
	err = a.copied.Write(ctx, func(tx *db.Tx) error {
		clear(a.out.Ended)
		for name, end := range d.ends() {
			n, err := end(tx)
			if err != nil {
				return fmt.Errorf("end the %s of the tenant: %w", name, err)
			}
			if n > 0 {
				a.out.Ended[name] = n
			}
		}
		for name, query := range map[string]string{"calls": "DELETE FROM gate_intent", "standing answers": "DELETE FROM approval_rule"} {
			n, err := tx.Changed(query)
			if err != nil {
				return err
			}
			if n > 0 {
				a.out.Ended[name] = int(n)
			}
		}
		if _, err := tx.Exec("UPDATE peer_seat SET home = ''"); err != nil { // of the servers here, the first has them
			return err
		}
		if _, err := peer.Reseal(tx, a.head.Space, own); err != nil {
			return err
		}
		return d.db.Read(ctx, func(here *db.Tx) error {
			n, lost, err := d.rooms.secret.Arrive(here, tx, a.head.Secret)
			a.out.Secrets, a.out.Doubt = n, nil
			for _, name := range lost {
				a.out.Doubt = append(a.out.Doubt, "secret:"+name)
			}
			return err
		})
	})
	if err != nil {
		return err
	}
	if a.out.Authority, err = letsIn(ctx, a.copied); err != nil {
		return err
	}
	rows, err := d.sealedIn(ctx, a.copied)
	for _, row := range rows {
		switch {
		case row.Tenant != a.head.ID:
		case slices.Contains(a.head.Doubt, row.Subject):
			a.out.Doubt = append(a.out.Doubt, row.Subject)
		default:
			a.rows = append(a.rows, row)
		}
	}
	return err
}

// takeTenant copies what has been settled, and lets the journal vouch for it: in one transaction.
func (d *Daemon) takeTenant(ctx context.Context, a *arrival) error {
	c := op.CallerFrom(ctx)
	return d.copiedInto(ctx, a.copied, func(from, tx *db.Tx) error {
		now := tx.Now()
		t := identity.Tenant{ID: a.head.ID, Name: a.name, State: identity.TenantSuspended, CreatedAt: a.head.Created, CreatedBy: c.Name,
			ChangedAt: &now, Limits: a.head.Limits, Reason: "it came from another server; what it brings is confirmed with tandem audit confirm"}
		if err := d.identity.Arrive(tx, &t); err != nil {
			return err
		}
		a.out.Records = 0
		for _, table := range listedTables() {
			n, err := db.CopyRows(from, tx, table)
			if db.Exists(err) {
				return fault.New(fault.Conflict, string(identity.TenantImport), "something of %s that the tenant brings is here already", table)
			}
			if err != nil {
				return fmt.Errorf("copy %s: %w", table, err)
			}
			a.out.Records += n
		}
		if err := tx.QueryRow("SELECT count(*), coalesce(sum(CASE WHEN kind = 'person' THEN 1 ELSE 0 END), 0) FROM actor "+
			"WHERE tenant = ? AND disabled_at = 0", t.ID).Scan(&t.Actors, &t.People); err != nil {
			return err
		}
		a.out.Tenant, a.out.Made, a.out.Files = t, a.head.Made, len(a.files)
		a.out.Journal, a.out.Verified = a.former.Origin, a.former.OK
		if err := d.journal.AdoptIn(tx, identity.LocalTenant, c.Name, append(slices.Clip(a.rows), t.Seal())); err != nil {
			return err
		}
		payload, err := json.Marshal(map[string]any{"server": a.head.Server, "made": a.head.Made, "ended": a.out.Ended, "journal": a.former,
			"doubt": a.out.Doubt})
		if err != nil {
			return err
		}
		_, err = d.journal.Append(tx, journal.Event{Tenant: t.ID, Type: string(identity.TenantImport), Actor: identity.LocalTenant + "/" + c.Name,
			Resource: "tenant:/", Request: c.Request, Payload: payload})
		return err
	})
}

// copiedInto reads one database while it writes into another one.
func (d *Daemon) copiedInto(ctx context.Context, copied *db.DB, do func(from, tx *db.Tx) error) error {
	return copied.Read(ctx, func(from *db.Tx) error {
		return d.db.Write(ctx, func(tx *db.Tx) error {
			if err := tx.Unhurried(); err != nil {
				return err
			}
			return do(from, tx)
		})
	})
}

// placeFiles puts the tenant's files where its sessions find them. What is there already is somebody's, and stays.
func (d *Daemon) placeFiles(a *arrival) (placed []string, err error) {
	for _, name := range a.files {
		to := filepath.Join(d.data, filepath.FromSlash(name))
		var missing []string
		for dir := filepath.Dir(to); dir != d.data; dir = filepath.Dir(dir) {
			if _, err := os.Lstat(dir); err == nil {
				break
			}
			missing = append(missing, dir)
		}
		slices.Reverse(missing)
		placed = append(placed, missing...)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return placed, err
		}
		if _, err := os.Lstat(to); err == nil {
			a.out.Doubt = append(a.out.Doubt, "file:"+name)
			continue
		}
		if err := os.Rename(filepath.Join(a.folder, filepath.FromSlash(name)), to); err != nil {
			return placed, err
		}
		placed = append(placed, to)
	}
	return placed, nil
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
