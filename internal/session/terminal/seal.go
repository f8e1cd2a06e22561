package terminal

import (
	"context"
	"database/sql"
	"encoding/json"
	"strconv"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
)

// A row says which program is started again after a restart, in which folder and in which box. So it is started only while the journal
// vouches for that. What the program does, and what was read from its screen, confers nothing.

func seatSubject(session string) string { return "terminal:" + session }

// seal is what a row was given when its session was opened.
func (r *row) seal() op.Sealed {
	is := strconv.FormatBool
	return op.Sealed{Tenant: r.Tenant, Subject: seatSubject(r.Session),
		What: "the terminal of " + r.Session + ", with " + r.Agent + " in " + r.Folder,
		Says: []string{r.Name, r.Agent, r.Program, r.Config, r.Folder, r.Repo, r.Checkout, r.Confined, r.Lives, r.Relay,
			is(r.Narrow), is(r.Reads), is(r.Probe), is(r.Skips || r.Skip)}}
}

// stands says whether a row is in its own place. What it names is made and removed by the id.
func (r *row) stands(session, name string) bool {
	return r.Session == session && r.Name == name && id.Check("ses", session) == nil
}

// counts refuses a row that somebody wrote past tandem.
func (d *Driver) counts(tx *db.Tx, r *row) error {
	if r.displaced {
		return rewritten(r)
	}
	if d.journal == nil || !d.room.Vouch.Asks() {
		return nil
	}
	held, err := d.journal.Kept(tx, r.seal())
	if err == nil && !held {
		err = rewritten(r)
	}
	return err
}

func rewritten(r *row) error {
	return fault.New(fault.Denied, "session", "the terminal of %s was changed in the database, and not by tandem: it does not go on",
		r.Session).
		WithNext("look, and close it: tandem audit verify; tandem session close %s", r.Session)
}

// weigh is counts in a view of its own.
func (d *Driver) weigh(ctx context.Context, r *row) error {
	if d.journal == nil {
		return nil
	}
	return d.journal.View(ctx, func(tx *db.Tx) error { return d.counts(tx, r) })
}

// seats lists what the journal vouches for of terminals. One that nobody can read is a row like any other that nobody vouches for.
func seats(ctx context.Context, d *db.DB) ([]op.Sealed, error) {
	rows, err := d.Query(ctx, "SELECT "+rowColumns+" FROM terminal")
	return db.Collect(rows, err, func(rows *sql.Rows) (op.Sealed, error) {
		var tenant, session, name, body string
		if err := rows.Scan(&tenant, &session, &name, &body); err != nil {
			return op.Sealed{}, err
		}
		r := &row{}
		if json.Unmarshal([]byte(body), r) != nil || !r.stands(session, name) {
			r = &row{Seat: Seat{Session: session, Agent: "something that cannot be read", Folder: "?"}}
		}
		r.Tenant = tenant
		return r.seal(), nil
	})
}
