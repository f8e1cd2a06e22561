package source

import (
	"context"
	"strconv"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/source/wire"
)

// seal is a source in a state that somebody gave it: what is read, by which server, and with whose eyes.
func (s *binding) seal(as wire.State) op.Sealed {
	says := []string{strconv.FormatInt(s.nr, 10), s.Folder, string(s.owner), s.home, string(as)}
	if s.origin != "" {
		says = append(says, s.origin)
	}
	return op.Sealed{Tenant: s.tenant, Subject: "source:" + s.Name, Says: says,
		What: "the source " + s.Name + ", which reads " + s.Where() + " with the eyes of " + s.Owner}
}

// vouched is what the journal vouches for of a source. The server quarantines by itself, and nobody's word changes with that: one that is
// quarantined counts as the active one that it was, too.
func (s *binding) vouched(ctx context.Context, v op.Vouch) (op.Sealed, bool) {
	if was := s.seal(wire.Active); s.State == wire.Quarantined && v.Asks() && v.Holds(ctx, was) {
		return was, true
	}
	now := s.seal(s.State)
	return now, v.Holds(ctx, now)
}

// forged refuses a source whose row nobody here wrote.
func forged(name string) error {
	return fault.New(fault.Denied, "source", "the source %s was changed in the database, and not by a person here", name).
		WithNext("look at it, revoke it, and bind it anew: tandem source show %s", name)
}

// Rows are what the journal vouches for: sources that were not revoked.
func Rows(ctx context.Context, d *db.DB, v op.Vouch) (out []op.Sealed, err error) {
	rows, err := d.Query(ctx, "SELECT "+columns+" FROM source WHERE state <> 'revoked' ORDER BY tenant, name")
	all, err := db.Collect(rows, err, scanRow)
	for _, s := range all {
		row, _ := s.vouched(ctx, v)
		out = append(out, row)
	}
	return out, err
}
