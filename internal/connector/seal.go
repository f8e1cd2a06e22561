package connector

import (
	"context"
	"database/sql"
	"strconv"

	"tandem/internal/connector/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// Where a connector is, and what a person accepted of it, count while the journal vouches for them: its secrets go where its row says.

const (
	placeKind  = "connector"
	acceptKind = "acceptance"
)

func placeSubject(name string) string  { return placeKind + ":" + name }
func acceptSubject(name string) string { return acceptKind + ":" + name }

func placeSeal(c *wire.Connector) op.Sealed {
	what := "the connector " + c.Name
	if c.URL != "" {
		what += " at " + c.URL
	}
	return op.Sealed{Tenant: c.Tenant, Subject: placeSubject(c.Name), What: what,
		Says: []string{c.Name, c.URL, text(c.Command), strconv.FormatBool(c.Network), c.Header, strconv.FormatBool(c.Inside), text(c.Given)}}
}

func acceptSeal(c *wire.Connector) op.Sealed {
	return op.Sealed{Tenant: c.Tenant, Subject: acceptSubject(c.Name), What: "that the tools of " + c.Name + " were accepted",
		Says: []string{c.Name, c.Accepted}}
}

// vouched holds a connector's row against the journal: one that somebody else wrote is not called, and tools that nobody accepted
// are not accepted.
func (r *Room) vouched(ctx context.Context, c *wire.Connector) error {
	if !r.Vouch.Holds(ctx, placeSeal(c)) {
		return fault.New(fault.Denied, "connector", "the connector %s is in the database and not as it was added", c.Name).
			WithNext("see what was changed: tandem audit verify; then remove it and add it anew: tandem connector remove %s", c.Name)
	}
	if c.Accepted == "" {
		return nil
	}
	if r.Vouch.Holds(ctx, acceptSeal(c)) {
		if c.State == wire.Quarantined && c.Accepted == c.Digest { // somebody looked before the entry that vouches for it was known
			c.State = wire.Ready
		}
		return nil
	}
	c.Accepted = ""
	if c.State == wire.Ready {
		c.State = wire.Quarantined
	}
	return nil
}

// Rows lists where connectors are and what people accepted of them.
func Rows(ctx context.Context, d *db.DB) ([]op.Sealed, error) {
	rows, err := d.Query(ctx, "SELECT "+columns+" FROM connector")
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (*wire.Connector, error) { return scan(rows) })
	var out []op.Sealed
	for _, c := range all {
		out = append(out, placeSeal(c))
		if c.Accepted != "" {
			out = append(out, acceptSeal(c))
		}
	}
	return out, err
}
