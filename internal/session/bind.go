package session

import (
	"context"
	"fmt"

	"tandem/internal/op"
	"tandem/internal/provider/catalog"
)

// BindModel says what a model's name stands for now, for an approval to be bound to: the default where none is named, the address
// that prompts go to, and what it costs.
func (r *Room) BindModel(ctx context.Context, model string) ([]op.Bound, error) {
	tenant := op.CallerFrom(ctx).Tenant
	var out []op.Bound
	if model == "" {
		if err := r.db.QueryRow(ctx, "SELECT model FROM session_default WHERE tenant = ?", tenant).Scan(&model); err != nil {
			model = DefaultModel
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

// bindPrompt is the model that a prompt would go to.
func (r *Room) bindPrompt(ctx context.Context, in PromptIn) ([]op.Bound, error) {
	model := in.Options.Model
	if model == "" {
		s, err := r.Get(ctx, op.CallerFrom(ctx).Tenant, in.ID)
		if err != nil || s.Driver != DriverModel {
			return nil, err
		}
		model = s.Model
	}
	return r.BindModel(ctx, model)
}

// bindUpdate is the model that a session is given, where it is given one.
func (r *Room) bindUpdate(ctx context.Context, in UpdateIn) ([]op.Bound, error) {
	if in.Model == nil {
		return nil, nil
	}
	return r.BindModel(ctx, *in.Model)
}
