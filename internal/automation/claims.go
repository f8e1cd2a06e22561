package automation

import "context"

// claims is what one change of a run claims: the places that it takes are promised to it until they are in hand, so that what is claimed
// beside it takes others.
type claims struct {
	r          *Room
	tenant     string
	all, share int  // places of the house, and of them the tenant's
	from       *job // that ends: its place is the first that is taken
	placed     int  // that were promised
	jobs       []*job
	more       bool // there was more to begin than there were places
}

func (r *Room) claims(tenant string) *claims {
	all := r.AtOnce()
	return &claims{r: r, tenant: tenant, all: all, share: all}
}

// look finds out what the tenant's share is. Where others have automations, too, it has three quarters of the places at most: long steps of
// one keep nobody else from beginning.
func (c *claims) look(ctx context.Context) error {
	var others int
	err := c.r.DB.QueryRow(ctx, "SELECT count(*) FROM (SELECT 1 FROM automation WHERE live <> '' AND (tenant < ? OR tenant > ?) LIMIT 1) o",
		c.tenant, c.tenant).Scan(&others)
	if others > 0 {
		c.share = max(1, c.all*3/4)
	}
	return err
}

// place promises a place for one more step. Once there is none, what comes later in the run has none either.
func (c *claims) place() bool {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	busy, own := c.r.taken(c.tenant)
	passes := c.from != nil && !c.from.left && !c.from.node.Holds() && busy <= c.all && own <= c.share
	if c.more = c.more || !passes && !c.free(); c.more {
		return false
	}
	if passes {
		c.from.left = true
	}
	c.placed++
	c.r.promised[c.tenant]++
	return true
}

// unplace gives the last place back.
func (c *claims) unplace() {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	c.placed--
	if c.r.promised[c.tenant]--; c.from != nil && c.placed == 0 {
		c.from.left = false
	}
}

// room says whether a step of the tenant could be begun now.
func (c *claims) room() bool {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	return c.free()
}

// free is room for whoever holds the lock.
func (c *claims) free() bool {
	busy, own := c.r.taken(c.tenant)
	return busy < c.all && own < c.share
}

// drop forgets what was claimed: it came to nothing.
func (c *claims) drop() {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	c.giveBack()
	if c.jobs, c.more = nil, false; c.from != nil {
		c.from.left = false
	}
}

// giveBack ends the promises, for whoever holds the lock.
func (c *claims) giveBack() {
	if c.r.promised[c.tenant] -= c.placed; c.r.promised[c.tenant] == 0 {
		delete(c.r.promised, c.tenant)
	}
	c.placed = 0
}

// taken is how many places are taken, and how many of them by a tenant. A step that only asks somebody takes none.
func (r *Room) taken(tenant string) (all, own int) {
	for t, n := range r.promised {
		all += n
		if t == tenant {
			own += n
		}
	}
	for j := range r.inHand {
		if j.left || j.node.Holds() {
			continue
		}
		all++
		if j.tenant == tenant {
			own++
		}
	}
	return all, own
}
