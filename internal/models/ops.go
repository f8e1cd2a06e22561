package models

import (
	"context"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/provider"
	"tandem/internal/provider/catalog"
)

func providerAt(id string) op.Resource { return op.Resource{Kind: "provider", Path: "/" + id} }

// Ops are the operations of the room.
func (r *Room) Ops() []op.Op {
	return []op.Op{
		ProviderList.Read(op.Spec{Right: "provider.list", Method: "GET", Path: "/providers",
			Doc: "List model providers, and which of them have a key."},
			func(Nothing) op.Resource { return providerAt("") }, r.listProviders),
		ProviderModels.Read(op.Spec{Right: "provider.read", Method: "GET", Path: "/providers/{id}/models",
			Doc: "Ask a provider which models it offers."},
			func(in ProviderIn) op.Resource { return providerAt(in.ID) }, r.listModels),
		ProviderAdd.State(op.Spec{Right: "provider.write", Method: "POST", Path: "/providers", MCP: "-",
			Doc: "Add an endpoint that speaks Chat Completions, Responses or Messages, or give a known provider another address.\nA key that was " +
				"stored for another address is forgotten: it goes where it was meant to go, and nowhere else."},
			func(in ProviderAddIn) op.Resource { return providerAt(in.ID) }, r.addProvider),
		ProviderRemove.State(op.Spec{Right: "provider.write", Method: "DELETE", Path: "/providers/{id}", MCP: "-",
			Doc: "Forget an endpoint that was added."},
			func(in ProviderIn) op.Resource { return providerAt(in.ID) }, r.removeProvider),
		op.Binding(ProviderKey.State(op.Spec{Right: "provider.write", Method: "PUT", Path: "/providers/{id}/key", MCP: "-",
			Secret: []string{"key"},
			Doc:    "Store a provider's key, sealed."},
			func(in ProviderKeyIn) op.Resource { return providerAt(in.ID) }, r.keyProvider),
			func(ctx context.Context, in ProviderKeyIn) ([]op.Bound, error) { return r.Bind(ctx, in.ID+"/") }),
		op.Binding(ProviderDefault.State(op.Spec{Right: "provider.write", Method: "PUT", Path: "/providers-default", MCP: "-",
			Doc: "Choose the model of sessions that name none."},
			func(in DefaultIn) op.Resource { return providerAt("") }, r.setDefault),
			func(ctx context.Context, in DefaultIn) ([]op.Bound, error) { return r.Bind(ctx, in.Model) }),
	}
}

func (r *Room) listProviders(ctx context.Context, _ Nothing) (ProvidersOut, error) {
	tenant := op.CallerFrom(ctx).Tenant
	added, err := r.customs(ctx, tenant)
	if err != nil {
		return ProvidersOut{}, err
	}
	seen := map[string]bool{}
	out := ProvidersOut{Providers: []ProviderInfo{}}
	for i, e := range append(added, catalog.All()...) {
		if seen[e.ID] {
			continue
		}
		seen[e.ID] = true
		p := ProviderInfo{Entry: e, Custom: i < len(added), Connected: e.Keyless}
		if err := r.withKey(ctx, tenant, e, func(key, source string) error {
			p.Connected = p.Connected || key != ""
			p.Source = source
			return nil
		}); err != nil {
			return out, err
		}
		out.Providers = append(out.Providers, p)
	}
	err = r.db.Read(ctx, func(tx *db.Tx) (err error) { out.Default, err = Chosen(tx, r.vouch, tenant); return err })
	if fault.Is(err, fault.Denied) {
		err = nil // it is none until a person says it anew
	}
	return out, err
}

func (r *Room) listModels(ctx context.Context, in ProviderIn) (ModelsOut, error) {
	out := ModelsOut{Models: []provider.Info{}}
	err := r.Open(ctx, op.CallerFrom(ctx).Tenant, in.ID, func(m provider.Model) error {
		list, err := m.List(ctx)
		if err == nil && list != nil {
			out.Models = list
		}
		return Explain(err, in.ID)
	})
	return out, err
}
