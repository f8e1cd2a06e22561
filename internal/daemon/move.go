package daemon

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/identity"
	"tandem/internal/installation"
	"tandem/internal/settings"
)

// MovedOut is what Move did.
type MovedOut struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Rows  int64  `json:"rows"`
	Aside string `json:"aside,omitempty" jsonschema:"where the SQLite file is that was left"`
}

// MoveIn is how a move goes on with who asked for it.
type MoveIn struct {
	To       string                              // an address of PostgreSQL; "" for the file in the data folder
	PIN      func(right func(string) bool) error // asks for the PIN of the house
	Progress func(rows, of int64)
}

// Move copies everything into another database where no server runs, and lets
// the data folder change over to it by writing one file. Keys, identity and seals
// are the same afterwards. A move that is cut off leaves the house where it was.
func Move(ctx context.Context, st *settings.Settings, version string, in MoveIn) (out MovedOut, err error) {
	d := &Daemon{Settings: st, Version: version, Log: slog.New(slog.DiscardHandler), data: st.Data()}
	if err := folder(d.data); err != nil {
		return out, err
	}
	release, err := hold(d.data)
	if err != nil {
		return out, err
	}
	defer release()
	if err := d.openToMove(ctx, in.To); err != nil {
		return out, err
	}
	defer d.db.Close()
	out.From, out.To = installation.Shown(d.data, d.dsn()), installation.Shown(d.data, in.To)
	to, err := d.openTarget(ctx, in.To, out)
	if err != nil {
		return out, err
	}
	defer to.Close()
	if err := d.provesToMove(ctx, in); err != nil {
		return out, err
	}
	number := id.New("move")
	if err := d.db.Write(ctx, func(tx *db.Tx) error { return installation.Leaving(tx, out.To) }); err != nil {
		return out, err
	}
	arriving := func(tx *db.Tx) error { return installation.Arriving(tx, number, out.From) }
	if out.Rows, err = d.carry(ctx, to, in.Progress, arriving); err != nil {
		return out, err
	}
	if err := d.kept.Settle(d.keepers, d.data, in.To); err != nil {
		return out, err
	}
	d.kept.Database.Move = number
	if err := d.kept.Write(d.data); err != nil { // from here on the new one is the house
		return out, err
	}
	out.Aside, err = d.leave(out.From)
	return out, err
}

// openToMove opens the database that is the house now.
func (d *Daemon) openToMove(ctx context.Context, to string) error {
	if err := d.settle(); err != nil {
		return err
	}
	if d.kept == nil {
		return fault.New(fault.NotFound, "server.move", "there is no installation in %s that could move", d.data).
			WithNext("begin one there: tandem up --database postgres://…")
	}
	if _, err := os.Lstat(d.pending()); err == nil {
		return fault.New(fault.Conflict, "server.move", "a copy waits to be restored").WithNext("start once, so that it is: tandem up")
	}
	if installation.Shown(d.data, d.dsn()) == installation.Shown(d.data, to) {
		return fault.New(fault.Invalid, "server.move", "the data is there already: %s", installation.Shown(d.data, to)).
			WithNext("nothing is to be moved; start it: tandem up")
	}
	if err := d.absent(); err != nil {
		return err
	}
	dsn := d.dsn()
	if dsn == "" {
		dsn = filepath.Join(d.data, "tandem.db")
	}
	var err error
	if d.db, err = db.Open(ctx, dsn, nil); err != nil {
		return err
	}
	if err := d.fitToMove(ctx); err != nil {
		return errors.Join(err, d.db.Close())
	}
	return nil
}

func (d *Daemon) fitToMove(ctx context.Context) error {
	if err := d.nobodyElse(ctx); err != nil {
		return err
	}
	if err := d.recognise(ctx); err != nil {
		return err
	}
	if steps, _, err := d.db.Behind(ctx, migrations...); err != nil || steps > 0 {
		return errors.Join(err, fault.New(fault.Conflict, "server.move", "the data is of another version of the program").
			WithNext("start once, so that it is of this one: tandem up"))
	}
	return nil
}

// provesToMove asks for the PIN of the house, once the way is known to be open: nobody types it for an address that leads nowhere.
func (d *Daemon) provesToMove(ctx context.Context, in MoveIn) error {
	set, _, err := identity.Proves(ctx, d.db, "")
	if err != nil || !set {
		return err
	}
	return in.PIN(func(pin string) bool {
		_, right, err := identity.Proves(ctx, d.db, pin)
		return err == nil && right
	})
}

// openTarget opens the database to move into: an empty one, or one that this
// installation left, or moved into and did not arrive.
func (d *Daemon) openTarget(ctx context.Context, dsn string, out MovedOut) (*db.DB, error) {
	if dsn == "" {
		dsn = filepath.Join(d.data, "tandem.db")
	}
	to, err := db.Open(ctx, dsn, nil)
	if err != nil {
		return nil, err
	}
	base, empty, err := installation.In(ctx, to)
	if err == nil && !empty {
		var mark string
		if mark, _, err = installation.Moved(ctx, to); err == nil && (base != d.kept.ID || mark == "") {
			err = fault.New(fault.Conflict, "server.move", "%s is not empty, and nothing that this installation left", out.To).
				WithNext("make an empty database for it; nothing was changed")
		}
	}
	if err != nil {
		return nil, errors.Join(to.Explain(err), to.Close())
	}
	return to, nil
}

// carry copies the rows: all in one transaction of the new database, with its mark.
func (d *Daemon) carry(ctx context.Context, to *db.DB, progress func(rows, of int64), mark func(*db.Tx) error) (int64, error) {
	of, err := d.db.Rows(ctx, migrations...)
	if err != nil {
		return 0, err
	}
	pr, pw := io.Pipe()
	var dumped int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		var err error
		dumped, err = d.db.Dump(ctx, &lines{to: pw, told: func(n int64) { progress(min(n, of), of) }}, migrations...)
		pw.CloseWithError(err)
	}()
	rows, err := to.LoadThen(ctx, pr, mark, migrations...)
	err = to.Explain(err)
	pr.CloseWithError(err)
	<-done
	if err == nil && rows != dumped {
		err = fault.New(fault.Internal, "server.move", "%d rows were read and %d written", dumped, rows)
	}
	return rows, err
}

// lines counts the lines that pass, and tells of it four times a second.
type lines struct {
	to   io.Writer
	n    atomic.Int64
	at   time.Time
	told func(int64)
}

func (l *lines) Write(p []byte) (int, error) {
	n := l.n.Add(int64(strings.Count(string(p), "\n")))
	if time.Since(l.at) > 250*time.Millisecond {
		l.at = time.Now()
		l.told(n)
	}
	return l.to.Write(p)
}

// leave moves a SQLite file of the data folder out of the way. What is in
// PostgreSQL stays, marked, until somebody drops it.
func (d *Daemon) leave(from string) (string, error) {
	if from != filepath.Join(d.data, "tandem.db") {
		return "", nil
	}
	if err := d.db.Close(); err != nil {
		return "", err
	}
	return d.fileAside()
}
