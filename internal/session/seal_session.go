package session

import (
	"context"
	"database/sql"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/op"
)

// A session works in the folder, for those, by the settings and with the program that its row names. So it goes on only while the newest
// entry of the journal about it vouches for all of that. Its title, its todos and how far it came confer nothing.

// stored are a row's words as they stand in the database: another version of the program may write the same settings in other words.
type stored struct{ config, means, chain string }

// config is what the row says of its settings. Who changed nothing writes nothing new.
func (s *Session) config() string {
	if text := encode(s.Config); s.stored.config == "" || text != s.stored.means {
		return text
	}
	return s.stored.config
}

func sessionSubject(id string) string { return "session:" + id }

// says are the words that an entry vouches for.
func (s *Session) says() []string {
	chain := s.stored.chain
	if chain == "" {
		chain = encode(s.chain)
	}
	return []string{s.Driver, s.Directory, s.Model, s.Parent, string(s.Mode), s.config(), s.Owner, chain}
}

func (s *Session) seal() op.Sealed {
	where := s.Directory
	if where == "" {
		where = "no folder"
	}
	return op.Sealed{Tenant: s.Tenant, Subject: sessionSubject(s.ID), Says: s.says(),
		What: "the session " + s.ID + ", with " + s.Model + " in " + where}
}

// The events that vouch for what a session was given by another one or by a driver, and for the end of one that a driver made for itself.
const (
	EventGiven = "session.given"
	EventGone  = "session.gone"
)

// Added has an event of its own vouch for a session that another one or a driver opened, and for what the driver keeps of it: it is at work
// before the outcome of what opened it is known. It is called last in the transaction that stores the session.
func (r *Room) Added(tx *db.Tx, c op.Caller, s *Session, more ...op.Sealed) error {
	return r.journal.Tell(tx, journal.Event{Tenant: s.Tenant, Type: EventGiven, Phase: journal.Done, Actor: c.Name, For: c.For,
		Resource: at(s.ID).String()}, map[string]any{"driver": s.Driver}, append([]op.Sealed{s.seal()}, more...)...)
}

// Gone takes back what the journal said of a session and of what its driver kept, in the transaction that removes both. It is called last.
func (r *Room) Gone(tx *db.Tx, c op.Caller, session string, more ...string) error {
	rows := []op.Sealed{}
	for _, subject := range append([]string{sessionSubject(session)}, more...) {
		rows = append(rows, op.Sealed{Tenant: c.Tenant, Subject: subject})
	}
	return r.journal.Tell(tx, journal.Event{Tenant: c.Tenant, Type: EventGone, Phase: journal.Done, Actor: c.Name,
		Resource: at(session).String()}, map[string]any{}, rows...)
}

// counts refuses a session whose row somebody wrote past tandem.
func (r *Room) counts(tx *db.Tx, s *Session) error {
	if !r.Vouch.Asks() {
		return nil
	}
	held, err := r.journal.Kept(tx, s.seal())
	if err == nil && !held {
		err = fault.New(fault.Denied, "session", "%s", rewritten(s.ID)).
			WithNext("look, and delete it: tandem audit verify; tandem session delete %s", s.ID)
	}
	return err
}

func rewritten(id string) string {
	return "the session " + id + " was changed in the database, and not by tandem: it does not go on"
}

// load is a session whose row counts.
func (r *Room) load(tx *db.Tx, tenant, id, lock string) (*Session, error) {
	s, err := loadSession(inTx{tx}, tenant, id, lock)
	if err == nil {
		err = r.counts(tx, s)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Get reads one session, as it counts.
func (r *Room) Get(ctx context.Context, tenant, id string) (s *Session, err error) {
	if !r.Vouch.Asks() {
		return loadSession(outside{ctx, r.db}, tenant, id, "")
	}
	err = r.journal.View(ctx, func(tx *db.Tx) (err error) { s, err = r.load(tx, tenant, id, ""); return err })
	return s, err
}

// AsItIs reads one session, whether its row counts or not, for whoever ends it: that confers nothing.
func (r *Room) AsItIs(ctx context.Context, tenant, id string) (*Session, error) {
	return loadSession(outside{ctx, r.db}, tenant, id, "")
}

// sessions are the rows of all sessions, as the journal vouches for them.
func sessions(ctx context.Context, d *db.DB) ([]op.Sealed, error) {
	rows, err := d.Query(ctx, "SELECT tenant, id, driver, directory, model, parent, mode, config, owner, chain FROM session")
	return db.Collect(rows, err, func(rows *sql.Rows) (op.Sealed, error) {
		s := &Session{}
		err := rows.Scan(&s.Tenant, &s.ID, &s.Driver, &s.Directory, &s.Model, &s.Parent, &s.Mode, &s.stored.config, &s.Owner, &s.stored.chain)
		s.stored.means = encode(s.Config) // nobody reads the settings here: their words are what counts
		return s.seal(), err
	})
}
