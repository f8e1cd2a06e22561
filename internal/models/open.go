package models

import (
	"context"

	"tandem/internal/fault"
	"tandem/internal/provider"
	"tandem/internal/provider/catalog"
)

// withKey lends a provider's key. Without one fn gets an empty key.
func (r *Room) withKey(ctx context.Context, tenant string, e catalog.Entry, fn func(key, source string) error) error {
	err := r.keys.Lend(ctx, tenant, secretName(e.ID), func(v []byte) error { return fn(string(v), "store") })
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	if e.Env != "" {
		if v := r.keys.Env(tenant, e.Env); v != "" {
			return fn(v, "environment")
		}
	}
	return fn("", "")
}

// Open opens a client for a provider of a tenant and lends it to fn.
func (r *Room) Open(ctx context.Context, tenant, id string, fn func(provider.Model) error) error {
	e, _, err := r.entry(ctx, tenant, id)
	if err != nil {
		return err
	}
	return r.withKey(ctx, tenant, e, func(key, _ string) error {
		m, err := catalog.Open(e, key, r.keys.Reach(tenant))
		if err != nil {
			return Explain(err, e.ID)
		}
		return fn(withoutKey(m, key))
	})
}

// Explain turns a provider's failure into a fault for people.
func Explain(err error, id string) error {
	f := provider.FailureOf(err)
	kind, next := fault.Unavailable, "try again later, or choose another model"
	switch f {
	case "":
		return err
	case provider.Auth:
		kind, next = fault.Denied, "store a key: tandem provider key "+id
	case provider.RateLimited, provider.Quota:
		kind = fault.Exhausted
	case provider.ContextLength:
		kind, next = fault.Invalid, "fork the session at an earlier message, or summarize it"
	case provider.UnknownModel, provider.Rejected:
		kind, next = fault.Invalid, "list the models: tandem provider models "+id
	}
	return fault.New(kind, "provider", "%s: %w", id, err).WithNext("%s", next).With("failure", string(f))
}
