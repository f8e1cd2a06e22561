package session

import (
	"context"
	"database/sql"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/provider"
	"tandem/internal/provider/catalog"
	"tandem/internal/secret"
)

// Keys keeps providers' keys: sealed, by tenant, lent for one call.
type Keys struct {
	// Lend gives the key to fn; a missing one is a NotFound fault.
	Lend func(ctx context.Context, tenant, name string, fn func(value []byte) error) error
	// Put stores one in the caller's transaction, and Drop forgets one.
	Put  func(tx *db.Tx, tenant, name, value, by string) error
	Drop func(tx *db.Tx, tenant, name string) error
	// Env is where a tenant's key may lie beside the store.
	Env func(tenant, name string) string
	// Reach carries calls of a tenant's models; nil for the house's own, which may lie anywhere.
	Reach func(tenant string) http.RoundTripper
}

// ProviderInfo is a provider as people see it.
type ProviderInfo struct {
	catalog.Entry
	Connected bool   `json:"connected" jsonschema:"it needs no key, or has one"`
	Source    string `json:"source,omitempty" jsonschema:"where the key is: store or environment"`
	Custom    bool   `json:"custom,omitempty"`
}

// ProvidersOut lists providers.
type ProvidersOut struct {
	Providers []ProviderInfo `json:"providers"`
	Default   string         `json:"default" jsonschema:"the model of sessions that name none"`
}

// ProviderIn names a provider.
type ProviderIn struct {
	ID string `json:"id" jsonschema:"anthropic, openai, openrouter, opencode, ollama, local, or one that was added"`
}

// ProviderAddIn adds an endpoint that speaks a known wire, or moves a known one.
type ProviderAddIn struct {
	ID      string `json:"id"`
	Name    string `json:"name,omitempty"`
	Base    string `json:"base" jsonschema:"its address, e.g. http://127.0.0.1:8080/v1"`
	Wire    string `json:"wire,omitempty" jsonschema:"chat (the default), responses or anthropic"`
	Keyless bool   `json:"keyless,omitempty" jsonschema:"it needs no key"`
	Model   string `json:"model,omitempty" jsonschema:"the model to use when none is named"`
}

// ProviderKeyIn stores a key.
type ProviderKeyIn struct {
	ID   string `json:"id"`
	Key  string `json:"key" jsonschema:"the key; it is sealed and never shown"`
	Base string `json:"base,omitempty" jsonschema:"the address that it is meant for; refused when the provider has another one"`
}

// DefaultIn sets the model of sessions that name none.
type DefaultIn struct {
	Model string `json:"model" jsonschema:"provider/model"`
}

// ModelsOut lists a provider's models.
type ModelsOut struct {
	Models []provider.Info `json:"models"`
}

func providerAt(id string) op.Resource { return op.Resource{Kind: "provider", Path: "/" + id} }

func (r *Room) providerOps() []op.Op {
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
			func(ctx context.Context, in ProviderKeyIn) ([]op.Bound, error) { return r.BindModel(ctx, in.ID+"/") }),
		op.Binding(ProviderDefault.State(op.Spec{Right: "provider.write", Method: "PUT", Path: "/providers-default", MCP: "-",
			Doc: "Choose the model of sessions that name none."},
			func(in DefaultIn) op.Resource { return providerAt("") }, r.setDefault),
			func(ctx context.Context, in DefaultIn) ([]op.Bound, error) { return r.BindModel(ctx, in.Model) }),
	}
}

// Secrets are the names that providers' keys have: a new one in the place of another would send what a model is told to
// somebody else's account.
var Secrets = []secret.Owned{{Prefix: "provider/", First: true, Kind: "provider"}}

func secretName(id string) string { return "provider/" + id }

// customs are the providers that were added, as far as the journal vouches for them: a key goes where its row says.
func (r *Room) customs(ctx context.Context, tenant string) ([]catalog.Entry, error) {
	rows, err := r.db.Query(ctx, "SELECT "+providerColumns+" FROM session_provider WHERE tenant = ? ORDER BY id", tenant)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (catalog.Entry, error) { return scanProvider(rows) })
	return slices.DeleteFunc(all, func(e catalog.Entry) bool { return !r.Vouch.Holds(ctx, sealProvider(e, tenant)) }), err
}

// entry finds a provider: one that was added, else a preset. One that was added and is not there as it was added is never taken for the
// preset of its name: what is meant for a gateway would go to the public address, with the gateway's key.
func (r *Room) entry(ctx context.Context, tenant, id string) (catalog.Entry, bool, error) {
	e, err := scanProvider(r.db.QueryRow(ctx, "SELECT "+providerColumns+" FROM session_provider WHERE tenant = ? AND id = ?", tenant, id))
	switch {
	case err == nil && r.Vouch.Holds(ctx, sealProvider(e, tenant)):
		return e, true, nil
	case err == nil || db.NoRows(err) && r.Vouch.Knows(tenant, "provider", providerSubject(id)):
		return catalog.Entry{}, false, fault.New(fault.Denied, "provider", "the provider %.60s is in the database not as it was added", id).
			WithNext("see what was changed: tandem audit verify; then add it anew: tandem provider remove %.60s", id)
	case !db.NoRows(err):
		return catalog.Entry{}, false, err
	}
	if e, ok := catalog.Find(id); ok {
		return e, false, nil
	}
	return catalog.Entry{}, false, noProvider(id)
}

func noProvider(id string) error {
	return fault.New(fault.NotFound, "provider", "there is no provider %.60s", id).WithNext("list what there is: tandem provider list")
}

// knownProvider refuses a session whose model nobody offers: every turn of it would fail.
func knownProvider(tx *db.Tx, s *Session) error {
	if s.Driver != DriverModel {
		return nil
	}
	for _, m := range append([]string{s.Model}, s.Config.Fallback...) {
		id, _, _ := catalog.Split(m)
		if _, err := baseOf(tx, s.Tenant, id); err != nil {
			return err
		}
	}
	return nil
}

// baseOf is a provider's address, for a change that depends on it.
func baseOf(tx *db.Tx, tenant, id string) (base string, err error) {
	err = tx.QueryRow("SELECT base FROM session_provider WHERE tenant = ? AND id = ?"+tx.ForUpdate(), tenant, id).Scan(&base)
	if !db.NoRows(err) {
		return base, err
	}
	e, ok := catalog.Find(id)
	if !ok {
		return "", noProvider(id)
	}
	return e.Base, nil
}

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

// OpenModel opens a client for a provider of a tenant and lends it to fn.
func (r *Room) OpenModel(ctx context.Context, tenant, id string, fn func(provider.Model) error) error {
	e, _, err := r.entry(ctx, tenant, id)
	if err != nil {
		return err
	}
	return r.withKey(ctx, tenant, e, func(key, _ string) error {
		m, err := catalog.Open(e, key, r.keys.Reach(tenant))
		if err != nil {
			return Explain(err, e.ID)
		}
		return fn(m)
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
	err = r.db.Read(ctx, func(tx *db.Tx) error { out.Default = r.defaultModel(tx, tenant); return nil })
	return out, err
}

func (r *Room) listModels(ctx context.Context, in ProviderIn) (ModelsOut, error) {
	out := ModelsOut{Models: []provider.Info{}}
	err := r.OpenModel(ctx, op.CallerFrom(ctx).Tenant, in.ID, func(m provider.Model) error {
		list, err := m.List(ctx)
		if err == nil && list != nil {
			out.Models = list
		}
		return Explain(err, in.ID)
	})
	return out, err
}

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
	if err == nil && n == 0 && !r.Vouch.Knows(op.CallerFrom(ctx).Tenant, "provider", providerSubject(in.ID)) {
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
	if err := knownProvider(tx, &Session{Tenant: op.CallerFrom(ctx).Tenant, Driver: DriverModel, Model: in.Model}); err != nil {
		return in, err
	}
	_, err := tx.Exec("INSERT INTO session_default (tenant, model) VALUES (?, ?) ON CONFLICT (tenant) DO UPDATE SET model = excluded.model",
		op.CallerFrom(ctx).Tenant, in.Model)
	return in, err
}

func (r *Room) defaultModel(tx *db.Tx, tenant string) string {
	var m string
	if err := tx.QueryRow("SELECT model FROM session_default WHERE tenant = ?", tenant).Scan(&m); err != nil || m == "" {
		return DefaultModel
	}
	return m
}
