package connector

import "context"

// Offer is a connector's tool as a session's model sees it.
type Offer struct {
	Connector string
	Tool      Tool
}

// WireName is what the model calls it: providers accept no dots.
func (o Offer) WireName() string { return "mcp__" + o.Connector + "__" + o.Tool.Name }

// Offers lists the tools of all connectors that can be called now. What is quarantined, disabled or not allowed is not there.
func (r *Room) Offers(ctx context.Context, tenant string) ([]Offer, error) {
	all, err := r.All(ctx, tenant)
	if err != nil {
		return nil, err
	}
	var out []Offer
	for _, c := range all {
		for _, t := range c.Tools {
			if c.usable(t.Name) == nil {
				out = append(out, Offer{c.Name, t})
			}
		}
	}
	return out, nil
}
