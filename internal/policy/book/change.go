package book

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/policy"
)

// changes are what became different of the grants of a policy that is known.
type changes struct {
	have  known
	to    policy.Change
	added map[string]int64 // the versions of those that were given
	listing
}

// look finds out what became of a grant. It is not ok where its row is not what the journal says: then all are read.
func (b *Book) look(ctx context.Context, tx *db.Tx, tenant, id string, c *changes) (ok bool, err error) {
	s, there, err := rowOfGrant(tx, tenant, id)
	if err != nil || !there {
		return false, err
	}
	if s.over = s.revokedVersion != 0; b.Vouch.Asks() {
		s.over = b.Vouch.Holds(ctx, sealRevoked(tenant, id))
		if !s.over && !b.Vouch.Holds(ctx, s.live(tenant)) {
			return false, nil
		}
	}
	g, err := s.read()
	if err != nil {
		return false, err
	}
	was := c.have.find(id)
	switch {
	case s.over && g == nil && was != nil: // its row was lost, and it was taken back for that
		return false, nil
	case g == nil:
	case s.over:
		c.to.TakenBack = append(c.to.TakenBack, id)
		c.listing = c.listing.with(g)
	case was == nil:
		c.added[id] = s.addedVersion
		c.to.Given = append(c.to.Given, g.ScopedGrant)
		c.listing = c.listing.with(g)
	}
	return true, nil
}

// order puts what was given into the order in which it was.
func (c *changes) order() {
	slices.SortStableFunc(c.to.Given, func(x, y policy.ScopedGrant) int {
		return cmp.Or(cmp.Compare(c.added[x.ID], c.added[y.ID]), strings.Compare(x.ID, y.ID))
	})
}
