package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"tandem/internal/db"
	"tandem/internal/id"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/op"
)

// tenantStays is what erasing a tenant does not reach. It is said before and after.
var tenantStays = []string{
	"copies of this server that were made before, wherever they are: tandem server backup",
	"old pages of a PostgreSQL database, until it vacuums, and its own copies and logs",
	"the transcripts that agent programs keep themselves",
	"what models, spaces on other servers and their members were sent",
	"when something was done in it, and what kind of thing: the journal keeps hashes without their words",
	"the house's own record of it, with its name and whom the house invited; its details go with tandem audit forget",
}

// tenantHas counts what a tenant has.
func (d *Daemon) tenantHas(tx *db.Tx, tenant string) (out identity.TenantContents, err error) {
	out.Rows, out.Stays = []identity.ContentRows{}, tenantStays
	count := func(of string, tables []string) error {
		var sum int64
		for _, table := range tables {
			var n int64
			if err := tx.QueryRow("SELECT count(*) FROM "+table+" WHERE tenant = ?", tenant).Scan(&n); err != nil {
				return err
			}
			sum += n
		}
		if out.Records += sum; sum > 0 {
			out.Rows = append(out.Rows, identity.ContentRows{Of: of, Rows: sum})
		}
		return nil
	}
	for _, t := range tenantTables {
		if err := count(t.of, slices.Concat(t.tables, t.stays)); err != nil {
			return out, err
		}
	}
	if err := count("journal", journalTables[:1]); err != nil {
		return out, err
	}
	files, err := d.tenantFiles(tx, tenant)
	for _, path := range files {
		if _, err := os.Lstat(path); err == nil {
			out.Files++
		}
	}
	return out, err
}

// places are the folders in the data folder where sessions and the like leave files, by the table and the kind of their ids.
var places = []struct {
	table, kind string
	folders     []string
}{{"session", "ses", []string{"sessions", "terminals", "manager"}}, {"session_aside", "asd", []string{"aside"}},
	{"job", "job", []string{"jobs"}}}

// tenantFiles are where a tenant's sessions may have left files: their own folders, what was set aside of them, their terminals. What
// something of another tenant is called too, in full or in short, is not among them.
func (d *Daemon) tenantFiles(tx *db.Tx, tenant string) (out []string, err error) {
	for _, p := range places {
		own, others := []string{}, map[string]bool{}
		rows, err := tx.Query("SELECT id, tenant FROM " + p.table)
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			var one, of string
			if err := rows.Scan(&one, &of); err != nil {
				return nil, errors.Join(err, rows.Close())
			}
			switch {
			case of != tenant:
				others[one], others[id.Short(one)] = true, true
			case id.Check(p.kind, one) == nil: // anything else is no name of a folder
				own = append(own, one, id.Short(one))
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return nil, err
		}
		for _, name := range own {
			for _, folder := range p.folders {
				if !others[name] {
					out = append(out, filepath.Join(d.data, folder, name))
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// erases lets tenants go that a person had erased: now, after a crash, and whenever one more is to go.
func (d *Daemon) erases(ctx context.Context) {
	again := time.NewTicker(time.Minute) // what failed is tried again
	defer again.Stop()
	for {
		if err := d.eraseTenants(ctx); err != nil && ctx.Err() == nil {
			d.Log.Error("a tenant cannot be erased yet", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-d.stopping:
			return
		case <-d.erase:
		case <-again.C:
		}
	}
}

// eraseSoon has erases look at once.
func (d *Daemon) eraseSoon() {
	select {
	case d.erase <- struct{}{}:
	default: // it will
	}
}

func (d *Daemon) eraseTenants(ctx context.Context) error {
	all, err := d.identity.Going(ctx)
	for _, t := range all {
		err = errors.Join(err, d.eraseTenant(ctx, t.ID))
	}
	return err
}

// eraseTenant deletes what a tenant has, a table at a time; each step can be done again. Files go first, while it is known whose they are,
// and the journal last: until then it vouches for what is left.
func (d *Daemon) eraseTenant(ctx context.Context, tenant string) error {
	var files []string
	if err := d.db.Read(ctx, func(tx *db.Tx) (err error) { files, err = d.tenantFiles(tx, tenant); return err }); err != nil {
		return err
	}
	for _, path := range files {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	deletes := func(tx *db.Tx) error {
		for _, table := range listedTables() {
			if _, err := tx.Exec("DELETE FROM "+table+" WHERE tenant = ?", tenant); err != nil {
				return err
			}
		}
		return nil
	}
	for _, table := range listedTables() {
		err := d.db.Write(ctx, func(tx *db.Tx) error { _, err := tx.Exec("DELETE FROM "+table+" WHERE tenant = ?", tenant); return err })
		if err == nil && d.wiped != nil {
			err = d.wiped(table)
		}
		if err != nil {
			return err
		}
	}
	words := journal.Erasure{Tenant: tenant}
	for !words.Done {
		var next journal.Erasure
		if err := d.db.Write(ctx, func(tx *db.Tx) (err error) { next, err = words.Next(tx); return err }); err != nil {
			return err
		}
		words = next
	}
	if _, err := d.db.Shrink(ctx); err != nil { // before it is said that it is gone
		return err
	}
	err := d.db.Write(ctx, func(tx *db.Tx) error {
		if err := deletes(tx); err != nil { // what somebody was writing meanwhile
			return err
		}
		left, err := words.Rest(tx)
		if err != nil {
			return err
		}
		return d.tenantGone(tx, tenant, left)
	})
	if err == nil {
		d.Log.Info("a tenant is erased", "tenant", tenant)
		d.forgotten() // its name was in the row that changed last
	}
	return err
}

// tenantGone leaves of a tenant its id, and tells so in the journal of the house.
func (d *Daemon) tenantGone(tx *db.Tx, tenant, left string) error {
	seals, gone, err := d.identity.Gone(tx, tenant, left)
	if err != nil || !gone {
		return err
	}
	var notes op.Notes
	for _, s := range seals {
		notes.Seal(s.Subject, s.Says...)
	}
	payload, err := json.Marshal(map[string]any{"tenant": tenant})
	if err != nil {
		return err
	}
	_, err = d.journal.Append(tx, journal.Event{Tenant: identity.LocalTenant, Type: "tenant.erased", Actor: identity.System,
		Resource: "tenant:/house/" + tenant, Payload: payload, Seals: journal.SealsOf(notes.Rows(identity.LocalTenant))})
	return err
}
