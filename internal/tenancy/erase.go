package tenancy

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
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

// Eraser lets tenants go that a person had erased.
type Eraser struct {
	db       *db.DB
	journal  *journal.Journal
	identity *identity.Room
	data     string // the data folder
	forgot   func() // somebody had something forgotten
	log      *slog.Logger
	wake     chan struct{}

	Wiped func(table string) error // hears of each table that a tenant is gone from; for the tests alone
}

// NewEraser erases from a database and a data folder; forgot has the database give back the room of it.
func NewEraser(d *db.DB, j *journal.Journal, i *identity.Room, data string, forgot func(), log *slog.Logger) *Eraser {
	return &Eraser{db: d, journal: j, identity: i, data: data, forgot: forgot, log: log, wake: make(chan struct{}, 1)}
}

// stays is what erasing a tenant does not reach. It is said before and after.
var stays = []string{
	"copies of this server that were made before, wherever they are: tandem server backup",
	"old pages of a PostgreSQL database, until it vacuums, and its own copies and logs",
	"the transcripts that agent programs keep themselves",
	"what models, spaces on other servers and their members were sent",
	"when something was done in it, and what kind of thing: the journal keeps hashes without their words",
	"the house's own record of it, with its name and whom the house invited; its details go with tandem audit forget",
}

// Has counts what a tenant has.
func (e *Eraser) Has(tx *db.Tx, tenant string) (out identity.TenantContents, err error) {
	out.Rows, out.Stays = []identity.ContentRows{}, stays
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
	for _, t := range Tables {
		if err := count(t.of, slices.Concat(t.tables, t.stays)); err != nil {
			return out, err
		}
	}
	if err := count("journal", JournalTables[:1]); err != nil {
		return out, err
	}
	files, err := e.Files(tx, tenant)
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

// Files are where a tenant's sessions may have left files: their own folders, what was set aside of them, their terminals. What
// something of another tenant is called too, in full or in short, is not among them.
func (e *Eraser) Files(tx *db.Tx, tenant string) (out []string, err error) {
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
					out = append(out, filepath.Join(e.data, folder, name))
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Run lets tenants go that a person had erased: now, after a crash, and whenever one more is to go.
func (e *Eraser) Run(ctx context.Context) {
	again := time.NewTicker(time.Minute) // what failed is tried again
	defer again.Stop()
	for {
		if err := e.EraseAll(ctx); err != nil && ctx.Err() == nil {
			e.log.Error("a tenant cannot be erased yet", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-e.wake:
		case <-again.C:
		}
	}
}

// Soon has Run look at once.
func (e *Eraser) Soon() {
	select {
	case e.wake <- struct{}{}:
	default: // it will
	}
}

// EraseAll erases what is to go now.
func (e *Eraser) EraseAll(ctx context.Context) error {
	all, err := e.identity.Going(ctx)
	for _, t := range all {
		err = errors.Join(err, e.erase(ctx, t.ID))
	}
	return err
}

// erase deletes what a tenant has, a table at a time; each step can be done again. Files go first, while it is known whose they are,
// and the journal last: until then it vouches for what is left.
func (e *Eraser) erase(ctx context.Context, tenant string) error {
	var files []string
	if err := e.db.Read(ctx, func(tx *db.Tx) (err error) { files, err = e.Files(tx, tenant); return err }); err != nil {
		return err
	}
	for _, path := range files {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	deletes := func(tx *db.Tx) error {
		for _, table := range Listed() {
			if _, err := tx.Exec("DELETE FROM "+table+" WHERE tenant = ?", tenant); err != nil {
				return err
			}
		}
		return nil
	}
	for _, table := range Listed() {
		err := e.db.Write(ctx, func(tx *db.Tx) error { _, err := tx.Exec("DELETE FROM "+table+" WHERE tenant = ?", tenant); return err })
		if err == nil && e.Wiped != nil {
			err = e.Wiped(table)
		}
		if err != nil {
			return err
		}
	}
	words := journal.Erasure{Tenant: tenant}
	for !words.Done {
		var next journal.Erasure
		if err := e.db.Write(ctx, func(tx *db.Tx) (err error) { next, err = words.Next(tx); return err }); err != nil {
			return err
		}
		words = next
	}
	if _, err := e.db.Shrink(ctx); err != nil { // before it is said that it is gone
		return err
	}
	err := e.db.Write(ctx, func(tx *db.Tx) error {
		if err := deletes(tx); err != nil { // what somebody was writing meanwhile
			return err
		}
		left, err := words.Rest(tx)
		if err != nil {
			return err
		}
		return e.gone(tx, tenant, left)
	})
	if err == nil {
		e.log.Info("a tenant is erased", "tenant", tenant)
		e.forgot() // its name was in the row that changed last
	}
	return err
}

// gone leaves of a tenant its id, and tells so in the journal of the house.
func (e *Eraser) gone(tx *db.Tx, tenant, left string) error {
	seals, gone, err := e.identity.Gone(tx, tenant, left)
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
	_, err = e.journal.Append(tx, journal.Event{Tenant: identity.LocalTenant, Type: "tenant.erased", Actor: identity.System,
		Resource: "tenant:/house/" + tenant, Payload: payload, Seals: journal.SealsOf(notes.Rows(identity.LocalTenant))})
	return err
}
