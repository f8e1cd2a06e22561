package models

import (
	"context"
	"net/url"
	"regexp"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/provider/catalog"
)

var providerID = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

func (r *Room) addProvider(ctx context.Context, tx *db.Tx, in ProviderAddIn) (catalog.Entry, error) {
	bad := func(format string, args ...any) (catalog.Entry, error) {
		return catalog.Entry{}, fault.New(fault.Invalid, "provider.add", format, args...)
	}
	if len(in.ID) > 40 || !providerID.MatchString(in.ID) || in.ID == "local" {
		return bad("%.60q is not a name for a provider: lower-case letters, digits and - . _", in.ID)
	}
	u, err := url.Parse(in.Base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" {
		return bad("base should be an address such as https://models.example/v1")
	}
	e := catalog.Entry{ID: in.ID, Name: in.Name, Base: strings.TrimSuffix(in.Base, "/"), Wire: in.Wire, Keyless: in.Keyless, Default: in.Model}
	if e.Wire == "" {
		e.Wire = "chat"
	}
	if e.Wire != "chat" && e.Wire != "responses" && e.Wire != "anthropic" {
		return bad("wire is chat, responses or anthropic, not %.40q", in.Wire)
	}
	if e.Name == "" {
		e.Name = e.ID
	}
	old, err := baseOf(tx, op.CallerFrom(ctx).Tenant, e.ID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return e, err
	}
	if old != e.Base {
		if err := r.keys.Drop(tx, op.CallerFrom(ctx).Tenant, secretName(e.ID)); err != nil {
			return e, err
		}
	}
	_, err = tx.Exec(`INSERT INTO session_provider (tenant, id, name, base, wire, keyless, model) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (tenant, id) DO UPDATE SET name = excluded.name, base = excluded.base, wire = excluded.wire,
		keyless = excluded.keyless, model = excluded.model`,
		op.CallerFrom(ctx).Tenant, e.ID, e.Name, e.Base, e.Wire, e.Keyless, e.Default)
	op.Row(ctx, sealProvider(e, op.CallerFrom(ctx).Tenant))
	return e, err
}

func (r *Room) removeProvider(ctx context.Context, tx *db.Tx, in ProviderIn) (OK, error) {
	n, err := tx.Changed("DELETE FROM session_provider WHERE tenant = ? AND id = ?", op.CallerFrom(ctx).Tenant, in.ID)
	if err == nil && n == 0 && !r.vouch.Knows(op.CallerFrom(ctx).Tenant, providerSubject(in.ID)) {
		err = fault.New(fault.NotFound, "provider.remove", "%.60s was not added", in.ID)
	}
	if err == nil { // the key was the added endpoint's
		op.Seal(ctx, providerSubject(in.ID))
		err = r.keys.Drop(tx, op.CallerFrom(ctx).Tenant, secretName(in.ID))
	}
	return OK{err == nil}, err
}

func (r *Room) keyProvider(ctx context.Context, tx *db.Tx, in ProviderKeyIn) (OK, error) {
	c := op.CallerFrom(ctx)
	base, err := baseOf(tx, c.Tenant, in.ID)
	if err != nil {
		return OK{}, err
	}
	if meant := strings.TrimSuffix(in.Base, "/"); meant != "" && meant != base {
		return OK{}, fault.New(fault.Conflict, "provider.key", "%.60s is at %s, and this key is meant for %.200s", in.ID, base, meant).
			WithNext("see who moved it: tandem audit log --type provider.add; an address that was added goes with: tandem provider remove %.60s",
				in.ID)
	}
	if strings.TrimSpace(in.Key) == "" || strings.ContainsAny(in.Key, " \n\r\t") {
		return OK{}, fault.New(fault.Invalid, "provider.key", "the key is empty or holds blanks")
	}
	return OK{true}, r.keys.Put(tx, c.Tenant, secretName(in.ID), in.Key, c.Name)
}

func (r *Room) setDefault(ctx context.Context, tx *db.Tx, in DefaultIn) (DefaultIn, error) {
	if _, _, ok := catalog.Split(in.Model); !ok {
		return in, fault.New(fault.Invalid, "provider.default", "%.60q should be provider/model", in.Model)
	}
	if err := Known(tx, op.CallerFrom(ctx).Tenant, in.Model); err != nil {
		return in, err
	}
	op.Row(ctx, sealDefault(in.Model, op.CallerFrom(ctx).Tenant))
	_, err := tx.Exec("INSERT INTO session_default (tenant, model) VALUES (?, ?) ON CONFLICT (tenant) DO UPDATE SET model = excluded.model",
		op.CallerFrom(ctx).Tenant, in.Model)
	return in, err
}
