package peer

import (
	"context"
	"database/sql"
	"slices"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
)

// The person whose machine this is sits as themselves, at the panel and on the
// command line alike. Until then the command line had seats of its own.
var (
	theOwner = "actor/" + identity.WellKnown(identity.Owner)
	theLocal = "actor/" + identity.WellKnown(identity.LocalUser)
)

// moveSeats gives the person the seats that their commands took, and the name
// that the others know from there.
func (r *Room) moveSeats(ctx context.Context) error {
	var name []byte
	err := r.db.QueryRow(ctx, "SELECT name FROM peer_name WHERE tenant = ? AND owner = ?", identity.LocalTenant, theLocal).Scan(&name)
	if err != nil && !db.NoRows(err) {
		return err
	}
	var box []byte
	if name != nil {
		plain, err := r.key.Unwrap("name", []byte(identity.LocalTenant+"/"+theLocal), name)
		if err != nil {
			return err
		}
		if box, err = r.key.Wrap("name", []byte(identity.LocalTenant+"/"+theOwner), plain); err != nil {
			return err
		}
	}
	return r.db.Write(ctx, func(tx *db.Tx) error {
		if _, err := tx.Exec("UPDATE peer_seat SET owner = ? WHERE tenant = ? AND owner = ?", theOwner, identity.LocalTenant,
			theLocal); err != nil ||
			box == nil {
			return err
		}
		if _, err := tx.Exec(`INSERT INTO peer_name (tenant, owner, name) VALUES (?, ?, ?)
			ON CONFLICT (tenant, owner) DO UPDATE SET name = excluded.name`, identity.LocalTenant, theOwner, box); err != nil {
			return err
		}
		_, err := tx.Exec("DELETE FROM peer_name WHERE tenant = ? AND owner = ?", identity.LocalTenant, theLocal)
		return err
	})
}

// dropTwins leaves the later of two seats that one person has in one space: the
// first has the mail.
func (r *Room) dropTwins(ctx context.Context) error {
	rows, err := r.db.Query(ctx,
		`SELECT s.id FROM peer_seat s WHERE s.tenant = ? AND s.owner = ? AND s.state = ? AND EXISTS (SELECT 1 FROM peer_seat o
		WHERE o.tenant = s.tenant AND o.owner = s.owner AND o.space = s.space AND o.state = s.state AND o.home = s.home AND o.id < s.id)`,
		identity.LocalTenant, theOwner, active)
	twins, err := db.Collect(rows, err, func(rows *sql.Rows) (id string, err error) { return id, rows.Scan(&id) })
	for _, s := range r.of(func(s *seat) bool { return slices.Contains(twins, s.id) }) {
		r.later(func(ctx context.Context) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.state != active {
				return
			}
			if _, err := r.leave(ctx, s); err != nil {
				r.log.Warn("a second seat of one person was not left", "space", s.space, "err", err)
			}
		})
	}
	return err
}

// notTwice leaves a seat again whose owner is in that space already. The caller
// holds s.mu.
func (r *Room) notTwice(ctx context.Context, s *seat) error {
	var there int // asked of the rows: who holds one seat's lock waits for no other's
	if err := r.db.QueryRow(ctx, "SELECT count(*) FROM peer_seat WHERE tenant = ? AND owner = ? AND space = ? AND state = ? AND id <> ?",
		s.tenant, s.owner, s.space, active, s.id).Scan(&there); err != nil {
		return err
	}
	if there > 0 {
		if _, err := r.leave(ctx, s); err != nil {
			return err
		}
		return fault.New(fault.Conflict, "space.join", "you are in %q already; the code is used up", s.sec.Base.Title).
			WithNext("work in it: intandem_board; let somebody else in with a new code: intandem_invite")
	}
	return nil
}

// settle gives a person's seat that was taken without a project, as in the
// panel, the one from which they first share or lease a file. The caller holds
// s.mu.
func (r *Room) settle(ctx context.Context, s *seat) {
	if s.folder != "" || s.owner != theOwner {
		return
	}
	if s.folder = r.folderOf(ctx, op.CallerFrom(ctx)); s.folder != "" {
		r.publish(s)
	}
}
