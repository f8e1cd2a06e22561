package models

import (
	"context"

	"tandem/internal/egress"
	"tandem/internal/fault"
	"tandem/internal/provider/catalog"
)

// Embed has a model, provider/model, say where texts point.
func (r *Room) Embed(ctx context.Context, tenant, model string, texts []string) (out [][]float32, err error) {
	id, name, ok := catalog.Split(model)
	if !ok {
		return nil, fault.New(fault.Invalid, "provider", "%.100q is no model: write provider/model", model)
	}
	e, _, err := r.entry(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	return out, r.withKey(ctx, tenant, e, func(key, _ string) (err error) {
		out, err = catalog.Embed(ctx, e, key, r.keys.Reach(tenant), name, texts)
		return Explain(withoutKey(nil, key).failed(err), e.ID)
	})
}

// Leaves reports whether what a model, provider/model, is told leaves the house: its address is not plainly one of this machine or its
// network.
func (r *Room) Leaves(ctx context.Context, tenant, model string) (bool, error) {
	id, _, _ := catalog.Split(model)
	e, _, err := r.entry(ctx, tenant, id)
	return err == nil && !egress.PlainlyInside(e.Base), err
}
