package connector

import (
	"context"
	"database/sql"
	"encoding/json"
	"sync"

	"tandem/internal/connector/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
)

// Offer is a connector's tool as a session's model sees it.
type Offer struct {
	Connector string
	Tool      wire.Tool
}

// WireName is what the model calls it: providers accept no dots.
func (o Offer) WireName() string { return "mcp__" + o.Connector + "__" + o.Tool.Name }

// Offers lists the tools of all connectors that can be called now. What is quarantined, disabled or not allowed is not there, and is
// not even read: this is asked before every call of a model, and what nobody accepted must not slow it.
func (r *Room) Offers(ctx context.Context, tenant string) ([]Offer, error) {
	rows, err := r.db.Query(ctx, "SELECT name, allow, accepted FROM connector WHERE tenant = ? AND enabled = 1 AND state = ? ORDER BY name",
		tenant, string(wire.Ready))
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (*wire.Connector, error) {
		c := &wire.Connector{Tenant: tenant}
		var allow string
		if err := rows.Scan(&c.Name, &allow, &c.Accepted); err != nil {
			return nil, err
		}
		return c, json.Unmarshal([]byte(allow), &c.Allow)
	})
	if err != nil {
		return nil, err
	}
	var out []Offer
	for _, c := range all {
		tools, err := r.accepted(ctx, c)
		if fault.Is(err, fault.Denied) {
			continue // audit verify says what is wrong with it, and the others are offered
		}
		if err != nil {
			return nil, err
		}
		for _, t := range tools {
			if allows(c, t.Name) {
				out = append(out, Offer{c.Name, t})
			}
		}
	}
	return out, nil
}

// accepted are the tools that a person accepted. They are known by their digest, so that they are read and parsed once.
func (r *Room) accepted(ctx context.Context, c *wire.Connector) ([]wire.Tool, error) {
	if !r.Vouch.Holds(ctx, acceptSeal(c)) {
		return nil, nil // nobody accepted them
	}
	if tools, ok := r.offers.get(c.Accepted); ok {
		return tools, nil
	}
	whole, err := r.Load(ctx, c.Tenant, c.Name)
	if err != nil || whole.Digest != c.Accepted { // it has just changed: nothing of it is offered until somebody looked
		return nil, err
	}
	r.offers.put(whole.Digest, whole.Tools)
	return whole.Tools, nil
}

// maxOffers is how many lists of tools are kept in memory.
const maxOffers = 64

// offers are lists of tools by their digest.
type offers struct {
	mu sync.Mutex
	by map[string][]wire.Tool
}

func (o *offers) get(digest string) ([]wire.Tool, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	tools, ok := o.by[digest]
	return tools, ok
}

func (o *offers) put(digest string, tools []wire.Tool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.by == nil || len(o.by) >= maxOffers {
		o.by = map[string][]wire.Tool{}
	}
	o.by[digest] = tools
}
