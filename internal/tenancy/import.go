package tenancy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"tandem/internal/backup"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/space/peer"
)

// arrival is a tenant's file that was read to its end, and what is in it, in a database of its own.
type arrival struct {
	head   Head
	copied *db.DB
	former journal.Former
	rows   []op.Sealed // what the journal here is to vouch for
	name   string      // what it is called here
	digest string      // of the file
	out    identity.ImportOut
}

func notATenant(format string, args ...any) error {
	return fault.New(fault.Invalid, string(identity.TenantImport), "the file cannot be taken: "+format, args...).
		WithNext("nothing was changed; export the tenant again: tandem tenant export NAME FILE")
}

func stillWaiting(n int) error {
	return fault.New(fault.Conflict, string(identity.TenantImport), "%d grants, tokens and the like wait to be confirmed", n).
		WithNext("look, and confirm: tandem audit confirm")
}

// In takes a tenant from a file. Everything is read, checked and ended in a database of its own; then all of it is there, or none
// of it.
func (c *Carrier) In(ctx context.Context, in identity.ImportIn) (out identity.ImportOut, err error) {
	if n := c.Journal.Waiting(); n > 0 { // there is one list, and it is looked at whole
		return out, stillWaiting(n)
	}
	if in.Path, err = c.path(ctx, string(identity.TenantImport), in.Path); err != nil {
		return out, err
	}
	err = c.scratch(ctx, func(folder string, copied *db.DB) (err error) {
		a := &arrival{copied: copied}
		if in.Path, a.digest, err = c.fetch(ctx, folder, in); err != nil {
			return err
		}
		if err := c.Try(ctx, folder, in); err != nil {
			return err
		}
		if err := c.read(ctx, a, in); err != nil {
			return err
		}
		if err := c.Sound(ctx, a.copied); err != nil {
			return err
		}
		if err := c.end(ctx, a); err != nil {
			return err
		}
		if err := c.take(ctx, a); err != nil {
			return err
		}
		out = a.out
		return nil
	})
	if err != nil {
		return out, c.DB.Explain(err)
	}
	op.Note(ctx, "tenant", out.ID)
	op.Note(ctx, "name", out.Name)
	op.Note(ctx, "digest", out.Digest)
	op.Note(ctx, "records", out.Records)
	op.Note(ctx, "ended", out.Ended)
	ctx = context.WithoutCancel(ctx) // it is here, whoever has gone meanwhile
	c.Rooms.Peers.Arrived(ctx, out.ID)
	if err := c.Rooms.Secrets.Learn(ctx); err != nil { // what is secret there is struck from records here
		c.Log.Warn("secrets of a tenant that came cannot be opened yet", "err", err)
	}
	out.Waits = c.Journal.Unconfirmed(out.ID)
	return out, nil
}

// read reads a file to its end.
func (c *Carrier) read(ctx context.Context, a *arrival, in identity.ImportIn) error {
	r, err := backup.Open(in.Path, backup.Secret{Passphrase: in.Passphrase, Identity: in.Identity})
	if err != nil {
		return err
	}
	defer r.Close()
	if !r.Locked {
		return notATenant("it is not locked, as every tenant's file is")
	}
	may, err := c.mayBring(in.Path)
	if err != nil {
		return err
	}
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
		part := &bounded{from: content, all: &may, line: lineMost, lines: linesMost}
		switch {
		case n == 0 && e.Name == "tenant":
			part.line, part.whole = headMost, true
			if err = json.NewDecoder(part).Decode(&a.head); err == nil {
				a.name, err = cmp.Or(in.Name, a.head.Name), a.head.Check(in.Name)
			}
		case n == 1 && e.Name == "tables":
			if a.out.Records, err = a.copied.Load(ctx, part, c.Migrations...); err == nil {
				err = OwnRows(ctx, a.copied, a.head.ID)
			}
		case n == 2 && e.Name == "journal":
			err = a.copied.Write(ctx, func(tx *db.Tx) (err error) {
				a.former, err = journal.KeepFormer(tx, part, a.head.ID, a.head.Made)
				return err
			})
		case n == 0:
			err = notATenant("it is a copy of something else")
		default:
			err = notATenant("it has an entry %.80q", e.Name)
		}
		if part.err != nil { // who reads it may have taken that for its end
			return part.err
		}
		if err != nil {
			return err
		}
	}
}

// end ends what was open there, so that nothing is done a second time, and puts what is sealed under the keys of this server.
func (c *Carrier) end(ctx context.Context, a *arrival) error {
	own, err := peer.Key(c.At.SpaceKey)
	if err != nil {
		return err
	}
	a.out.Ended = map[string]int{}
	err = a.copied.Write(ctx, func(tx *db.Tx) error {
		clear(a.out.Ended)
		for name, end := range map[string]func(*db.Tx) (int, error){"approvals": c.Rooms.Approvals.Restored, "turns": c.Rooms.Sessions.Restored} {
			n, err := end(tx)
			if err != nil {
				return unread(name, err)
			}
			if n > 0 {
				a.out.Ended[name] = n
			}
		}
		over, err := c.Rooms.Automations.Arrived(tx)
		if err != nil {
			return unread("automations", err)
		}
		for name, n := range over {
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
		if _, err := peer.Reseal(tx, a.head.Space, own); err != nil {
			return err
		}
		return c.DB.Read(ctx, func(here *db.Tx) error {
			n, lost, err := c.Rooms.Secrets.Arrive(here, tx, a.head.Secret)
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
	if a.out.Authority, err = c.LetsIn(ctx, a.copied); err != nil {
		return err
	}
	rows, err := c.Sealed(ctx, a.copied)
	if err != nil {
		return unread("grants, tokens and the like", err)
	}
	doubt := map[string]bool{}
	for _, subject := range a.head.Doubt {
		doubt[subject] = true
	}
	for _, row := range rows {
		switch {
		case row.Tenant != a.head.ID:
			return notATenant("%.80q is another tenant's", row.Subject)
		case doubt[row.Subject]:
			a.out.Doubt = append(a.out.Doubt, row.Subject)
		default:
			if err := spoken(row); err != nil {
				return err
			}
			a.rows = append(a.rows, row)
		}
	}
	if len(a.rows) > sealedMost {
		return notATenant("it has %d grants, tokens and the like, and a person confirms at most %d", len(a.rows), sealedMost)
	}
	return nil
}

// take copies what has been settled, and lets the journal vouch for it: in one transaction.
func (c *Carrier) take(ctx context.Context, a *arrival) error {
	by := op.CallerFrom(ctx)
	return Into(ctx, c.DB, a.copied, func(from, tx *db.Tx) error {
		now := tx.Now()
		t := identity.Tenant{ID: a.head.ID, Name: a.name, State: identity.TenantSuspended, CreatedAt: a.head.Created, CreatedBy: by.Name,
			ChangedAt: &now, Limits: a.head.Limits, Reason: "it came from another server, in the file sha256:" + a.digest + "; what it brings is " +
				"confirmed with tandem audit confirm"}
		if err := c.Identity.Arrive(tx, &t); err != nil {
			return err
		}
		if n := c.Journal.Waiting(); n > 0 { // another came while this one was read
			return stillWaiting(n)
		}
		if err := a.newHere(from, tx); err != nil {
			return err
		}
		a.out.Records = 0
		for _, table := range Carried() {
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
		a.out.Tenant, a.out.Made, a.out.Digest = t, a.head.Made, a.digest
		a.out.Journal, a.out.Verified = a.former.Origin, a.former.OK
		a.out.Key = a.former.Key
		came := &journal.Came{Tenant: t.ID, File: a.digest}
		if err := c.Journal.AdoptIn(tx, identity.LocalTenant, by.Name, came, append(slices.Clip(a.rows), t.Seal())); err != nil {
			return err
		}
		payload, err := json.Marshal(map[string]any{"server": a.head.Server, "made": a.head.Made, "file": a.digest, "ended": a.out.Ended,
			"journal": a.former, "doubt": a.out.Doubt})
		if err != nil {
			return err
		}
		_, err = c.Journal.Append(tx, journal.Event{Tenant: t.ID, Type: string(identity.TenantImport),
			Actor: identity.LocalTenant + "/" + by.Name, Resource: "tenant:/", Request: by.Request, Payload: payload})
		return err
	})
}

// Into reads one database while it writes into another one.
func Into(ctx context.Context, here, copied *db.DB, do func(from, tx *db.Tx) error) error {
	return copied.Read(ctx, func(from *db.Tx) error {
		return here.Write(ctx, func(tx *db.Tx) error {
			if err := tx.Unhurried(); err != nil {
				return err
			}
			return do(from, tx)
		})
	})
}
