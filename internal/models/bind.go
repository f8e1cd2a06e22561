package models

import (
	"context"
	"fmt"

	"tandem/internal/op"
	"tandem/internal/provider/catalog"
)

// Bind says what a model's name stands for now, for an approval to be bound to: the default where none is named, the address
// that prompts go to, and what it costs.
func (r *Room) Bind(ctx context.Context, model string) ([]op.Bound, error) {
	tenant := op.CallerFrom(ctx).Tenant
	var out []op.Bound
	if model == "" {
		var err error
		if model, err = chosen(ctx, r.db.QueryRow(ctx, defaultQuery, tenant), r.vouch, tenant); err != nil {
			return nil, err
		}
		out = append(out, op.Bound{Name: "model", Value: model})
	}
	id, name, ok := catalog.Split(model)
	if !ok {
		return out, nil // the call refuses it
	}
	e, _, err := r.entry(ctx, tenant, id)
	if err != nil {
		return out, nil // nor is there such a provider
	}
	where := e.Base
	if where == "" {
		where = "this machine"
	}
	out = append(out, op.Bound{Name: "address of " + id, Value: where})
	if p, known := catalog.PriceOf(e.ID, name); known {
		out = append(out, op.Bound{Name: "price of " + model,
			Value: fmt.Sprintf("%.2f USD in, %.2f USD out for a million tokens", float64(p.Input)/1000, float64(p.Output)/1000)})
	}
	return out, nil
}
