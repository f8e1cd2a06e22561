package compat

import (
	"encoding/json"
	"strings"

	"tandem/internal/fault"
)

type providersOut struct {
	Default   string
	Providers []struct {
		ID        string `json:"id"`
		Name      string `json:"name"`
		Connected bool   `json:"connected"`
		Source    string `json:"source"`
		Default   string `json:"default_model"`
	}
}

func (q *request) providers() (providersOut, error) {
	var out providersOut
	err := q.call("provider.list", obj{}, &out)
	return out, err
}

// providerCatalog lists what is known without asking anybody: a list must not make calls to every provider there is.
func providerCatalog(q *request) (any, error) {
	out, err := q.providers()
	if err != nil {
		return nil, err
	}
	id, name, _ := strings.Cut(out.Default, "/")
	all, connected := []any{}, []string{}
	for _, p := range out.Providers {
		models := obj{}
		if p.Default != "" {
			models[p.Default] = obj{"name": p.Default}
		}
		if p.ID == id {
			models[name] = obj{"name": name}
		}
		all = append(all, obj{"id": p.ID, "name": p.Name, "models": models, "catalog_source": "built-in"})
		if p.Connected {
			connected = append(connected, p.ID)
		}
	}
	return obj{"all": all, "connected": connected, "default": id}, nil
}

func providerConfig(q *request) (any, error) {
	out, err := q.providers()
	if err != nil {
		return nil, err
	}
	id, name, _ := strings.Cut(out.Default, "/")
	list := obj{}
	for _, p := range out.Providers {
		o := obj{}
		if p.Default != "" {
			o["default_model"] = p.Default
		}
		if p.ID == id {
			o["default_model"] = name
		}
		list[p.ID] = o
	}
	return obj{"default": id, "providers": list}, nil
}

func setDefaults(q *request) (any, error) {
	id, err := q.text("default_provider", "defaultProvider")
	if err != nil {
		return nil, err
	}
	list := map[string]map[string]json.RawMessage{}
	if err := q.get(&list, "providers"); err != nil {
		return nil, err
	}
	for p, fields := range list {
		for f := range fields {
			if low := strings.ToLower(f); strings.Contains(low, "key") || strings.Contains(low, "token") || strings.Contains(low, "secret") {
				return nil, fault.New(fault.Invalid, "config", "a key does not belong into the configuration").WithNext("store it: PUT /auth/%s", p)
			}
		}
	}
	var m string
	for _, f := range []string{"default_model", "defaultModel"} {
		if raw := list[id][f]; len(raw) > 0 {
			if err := json.Unmarshal(raw, &m); err != nil {
				return nil, fault.New(fault.Invalid, "config", "default_model should be a string")
			}
		}
	}
	if id == "" || m == "" {
		return nil, fault.New(fault.Invalid, "config", "name default_provider and its default_model")
	}
	if err := q.call("provider.default", obj{"model": id + "/" + m}, nil); err != nil {
		return nil, err
	}
	return providerConfig(q)
}

func setKey(q *request) (any, error) {
	key, err := q.text("apiKey", "api_key", "token")
	if err != nil {
		return nil, err
	}
	err = q.call("provider.key", obj{"id": q.PathValue("provider"), "key": words(key)}, nil)
	return obj{"ok": err == nil, "id": q.PathValue("provider")}, err
}

func authStatus(q *request) (any, error) {
	out, err := q.providers()
	if err != nil {
		return nil, err
	}
	list := obj{}
	for _, p := range out.Providers {
		list[p.ID] = obj{"connected": p.Connected, "source": p.Source}
	}
	return list, nil
}
