package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/installation"
	"tandem/internal/journal"
	"tandem/internal/secret"
	"tandem/internal/server/health"
	"tandem/internal/space/peer"
)

// keptWith is where a setting came from that the data folder kept.
const keptWith = "kept with the data folder"

// noRepos is what people write to serve no repository any more.
const noRepos = "none"

// settle reads what the data folder knows of its installation, and lets it
// count where nobody says otherwise: where the database is, which
// repositories are served, and whom requests are for.
func (d *Daemon) settle() (err error) {
	if d.keepers, err = secret.Keepers(d.data, d.Settings.Get("secret_keeper")); err != nil {
		return err
	}
	if d.kept, err = installation.Read(d.data); err != nil || d.kept == nil {
		return err
	}
	bind := map[string]string{}
	if d.Settings.Get("database") == "" && len(d.kept.Database.Sealed) > 0 {
		if bind["database"], err = d.kept.Address(d.keepers); err != nil {
			return fault.New(fault.Unavailable, "installation",
				"the data of this installation is in %s, and the key that its address is sealed under does not open it: %w", d.kept.Database.Shown,
				err).
				WithNext("put secret.key back or unlock the keyring, or say the address once more: tandem up --database postgres://…")
		}
	}
	if !d.Settings.Given("repos") && len(d.kept.Repos) > 0 {
		bind["repos"] = strings.Join(d.kept.Repos, ",")
	}
	if !d.Settings.Given("cluster") && d.kept.Cluster != "" {
		bind["cluster"] = d.kept.Cluster
	}
	if !d.Settings.Given("auth_mode") && d.kept.Mode != "" {
		bind["auth_mode"] = d.kept.Mode
	}
	d.Settings = d.Settings.With(bind, keptWith)
	return nil
}

// dsn is the database's address, "" for the file in the data folder.
func (d *Daemon) dsn() string { return d.Settings.Get("database") }

// absent refuses to make an empty file where the installation's data should be:
// a disk that is not mounted looks like a folder that was never used.
func (d *Daemon) absent() error {
	if strings.HasPrefix(d.dsn(), "postgres") {
		return nil
	}
	where := installation.Shown(d.data, d.dsn())
	if _, err := os.Stat(where); !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if _, err := os.Lstat(d.pending()); err == nil {
		return nil // a copy is about to be put there
	}
	return installation.Found{Data: d.data, Folder: d.kept, Where: where, Empty: true, Keys: installation.Present(d.data)}.Refuse()
}

// recognise holds the database against the folder, before anything in it is
// changed.
func (d *Daemon) recognise(ctx context.Context) error {
	base, empty, err := installation.In(ctx, d.db)
	if err != nil {
		return err
	}
	found := installation.Found{Data: d.data, Folder: d.kept, Where: installation.Shown(d.data, d.dsn()), Base: base, Empty: empty,
		Keys: installation.Present(d.data)}
	if err := found.Refuse(); err != nil {
		return err
	}
	mark, other, err := installation.Moved(ctx, d.db)
	if err != nil {
		return err
	}
	if err := d.kept.RefuseMoved(mark, found.Where, other); err != nil {
		return err
	}
	d.arrived = mark != ""
	if d.kept == nil {
		d.kept = installation.New(d.db.Now())
		if base != "" {
			d.kept.ID = base
			d.Log.Warn("installation.json was gone and is made anew; which repositories were served it no longer knows: tandem up --repo PATH")
		}
	}
	return nil
}

// checkKeys refuses to go on with a key missing or another one in its place,
// but for those that a person said are lost.
func (d *Daemon) checkKeys(ctx context.Context) error {
	err := d.checkEachKey(ctx)
	if err != nil && d.cluster() != "" && fault.KindOf(err) != fault.Internal {
		return fault.New(fault.KindOf(err), "installation", "%s", fault.Public(err).Msg).
			WithNext("take the cluster's keys over anew. Where another of its servers runs: tandem server key copy PATH; " +
				"then here, into an empty folder: tandem server key take PATH")
	}
	return err
}

func (d *Daemon) checkEachKey(ctx context.Context) error {
	if err := d.finishRotation(ctx); err != nil {
		return err
	}
	gone, err := secret.Missing(ctx, d.db, d.keepers)
	if err != nil {
		return err
	}
	if len(d.Without) > 0 {
		if err := d.giveUp(ctx, gone); err != nil {
			return err
		}
	}
	if len(gone) > 0 && !slices.Contains(d.Without, "secret.key") {
		f, _ := installation.Known("secret.key")
		var names []string
		for _, g := range gone {
			names = append(names, g.Names...)
		}
		if len(names) > 0 {
			f.With += " (" + short(names, 12) + ")"
		}
		if slices.Contains(installation.Present(d.data), f.Name) {
			return f.Old(d.data)
		}
		return f.Lost(d.data)
	}
	return d.db.Read(ctx, func(tx *db.Tx) error {
		if err := d.kept.CheckKeys(tx, d.data, d.Without...); err != nil {
			return err
		}
		var marked int
		if err := tx.QueryRow("SELECT count(*) FROM installation_key WHERE name = 'journal.key'").Scan(&marked); err != nil || marked > 0 {
			return err
		}
		return journal.CheckKey(tx, filepath.Join(d.data, "journal.key"))
	})
}

// giveUp goes on without keys that are lost. What there is is copied aside first.
func (d *Daemon) giveUp(ctx context.Context, gone []secret.Gone) error {
	out, err := d.aside(ctx, "before-going-on")
	if err != nil {
		return fmt.Errorf("copy the present state aside: %w", err)
	}
	return d.db.Write(ctx, func(tx *db.Tx) error {
		for _, name := range d.Without {
			f, err := installation.Known(name)
			if err != nil {
				return err
			}
			switch name {
			case "journal.key":
				err = journal.ForgetKey(tx)
			case "secret.key":
				err = secret.GiveUp(tx, gone)
			case "space.key":
				err = peer.GiveUp(tx)
			}
			if err := errors.Join(err, installation.GiveUp(tx, d.data, f, tx.Now())); err != nil {
				return err
			}
			d.Log.Warn("going on without a key", "key", name, "lost", f.With, "copy", out.Path)
		}
		return nil
	})
}

// bind keeps the identity with the folder, the database and the keys, once all
// of them are there.
func (d *Daemon) bind(ctx context.Context) error {
	err := d.db.Write(ctx, func(tx *db.Tx) error {
		for _, name := range d.Without {
			payload, err := json.Marshal(map[string]string{"key": name})
			if err != nil {
				return err
			}
			if _, err := d.journal.Append(tx, journal.Event{Tenant: identity.LocalTenant, Type: "server.key_lost", Actor: identity.System,
				Resource: "server:/keys", Payload: payload}); err != nil {
				return err
			}
		}
		if err := d.kept.Bind(tx); err != nil {
			return err
		}
		if d.arrived {
			if err := d.arrive(tx); err != nil {
				return err
			}
		}
		return d.kept.KnowKeys(tx, d.data)
	})
	if err != nil {
		return err
	}
	if d.kept.Database.Shown != installation.Shown(d.data, d.dsn()) || d.Settings.Given("database") {
		if err := d.kept.Settle(d.keepers, d.data, d.dsn()); err != nil {
			return err
		}
	}
	d.kept.NamePanel()
	d.kept.Cluster = d.cluster()
	switch said := d.Settings.Source("repos"); {
	case said == "flag", strings.HasPrefix(said, "environment"):
		d.kept.Repos = d.repoPaths()
	case said != keptWith:
		d.kept.Repos = nil // a file in the folder says it, or nobody does
	}
	return d.db.Explain(d.kept.Write(d.data))
}

// arrive settles that this database is the house: a move brought it here, or one was begun that never left.
func (d *Daemon) arrive(tx *db.Tx) error {
	payload, err := json.Marshal(map[string]string{"database": installation.Shown(d.data, d.dsn())})
	if err != nil {
		return err
	}
	if _, err := d.journal.Append(tx, journal.Event{Tenant: identity.LocalTenant, Type: "server.moved", Actor: identity.System,
		Resource: "server:/database", Payload: payload}); err != nil {
		return err
	}
	return installation.Settled(tx)
}

// SetAside moves everything that is in a data folder aside, unless a daemon
// runs on it, and returns where.
func SetAside(data string) (string, error) {
	if _, err := os.Lstat(data); errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err := folder(data); err != nil {
		return "", err
	}
	release, err := hold(data)
	if err != nil {
		return "", err
	}
	defer release()
	return installation.SetAside(data, time.Now())
}

// Parts looks at a data folder without a database: which installation it is of, where its data is, and what of it is missing.
func Parts(data string) (id, where string, missing, err error) {
	kept, err := installation.Read(data)
	if err != nil || kept == nil {
		return "", "", nil, err
	}
	where = kept.Database.Shown
	there := installation.Present(data)
	for _, f := range installation.Keys {
		if f.Always && !slices.Contains(there, f.Name) {
			return kept.ID, where, f.Lost(data), nil
		}
	}
	if len(kept.Database.Sealed) > 0 {
		return kept.ID, where, nil, nil
	}
	if _, err := os.Stat(where); errors.Is(err, os.ErrNotExist) {
		return kept.ID, where, installation.Found{Data: data, Folder: kept, Where: where, Empty: true, Keys: there}.Refuse(), nil
	}
	if !slices.Contains(there, "secret.key") {
		return kept.ID, where, sealedUnder(data, where), nil
	}
	return kept.ID, where, nil, nil
}

// sealedUnder says what a secret.key that is not there is missed by. Only the database knows: a keyring may hold the keys. One that
// cannot be read is somebody else's finding.
func sealedUnder(data, where string) error {
	ctx, cancel := context.WithTimeout(context.Background(), health.Patience)
	defer cancel()
	base, err := db.Open(ctx, where, nil)
	if err != nil {
		return nil
	}
	defer base.Close()
	keepers, err := secret.Keepers(data, "file")
	if err != nil {
		return nil
	}
	gone, err := secret.Missing(ctx, base, keepers)
	if err != nil || len(gone) == 0 {
		return nil
	}
	f, _ := installation.Known("secret.key")
	return f.Lost(data)
}

// short is a list of at most n names.
func short(names []string, n int) string {
	if len(names) > n {
		return strings.Join(names[:n], ", ") + fmt.Sprintf(" and %d more", len(names)-n)
	}
	return strings.Join(names, ", ")
}
