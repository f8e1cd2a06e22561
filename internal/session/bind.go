package session

import (
	"context"

	"tandem/internal/op"
)

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
	return r.Models.Bind(ctx, model)
}

// bindUpdate is the model that a session is given, where it is given one.
func (r *Room) bindUpdate(ctx context.Context, in UpdateIn) ([]op.Bound, error) {
	if in.Model == nil {
		return nil, nil
	}
	return r.Models.Bind(ctx, *in.Model)
}
