package panel

import (
	"encoding/json"
	"strings"
	"time"

	"tandem/internal/secret/wire"
)

// RuleRow is a standing answer to asks.
type RuleRow struct {
	ID, Pattern, Where, Owner string
	Until                     time.Time
}

// SearchRow is one setting of websearch.
type SearchRow struct {
	Key, Label, About, Value, Source string
	Secret                           string // the name under which a key is sealed
	Set, Sealed                      bool
}

// searchKeys are the settings of websearch, as people read them.
var searchKeys = []SearchRow{
	{Key: "search.backend", Label: "Where to search",
		About: "auto takes what is configured, in this order, and goes on when one refuses; or brave, exa, searxng, url."},
	{Key: "search.brave_key", Label: "Brave Search", About: "A key. It is sealed, and lent to one search at a time.", Secret: "search/brave"},
	{Key: "search.exa_key", Label: "Exa", About: "A key. It is sealed, and lent to one search at a time.", Secret: "search/exa"},
	{Key: "search.searxng_url", Label: "SearXNG", About: "The address of one."},
	{Key: "search.url", Label: "Another address", About: "Any that answers ?q= with JSON results."},
}

// ruleRoutes are the acts on what stands on the page of models and tools.
func ruleRoutes(p *Panel) {
	form := func(path, op, said string, input func(v *visit) (any, error)) {
		p.act(act{pattern: path, op: op, input: input,
			done:    func(v *visit, _ any, _ json.RawMessage) error { return v.go303("/panel/models", said) },
			refused: func(v *visit, err error) error { return v.models(words(err)) }})
	}
	form("/panel/rules/forget", "approval.forget", "rule-gone", func(v *visit) (any, error) { return formFields(v, "id"), nil })
	form("/panel/search/key", "secret.set", "search-key", func(v *visit) (any, error) {
		return map[string]any{"name": v.r.PostFormValue("name"), "value": strings.TrimSpace(v.r.PostFormValue("value"))}, nil
	})
	form("/panel/search", "setting.set", "search-set", func(v *visit) (any, error) {
		return map[string]any{"key": v.r.PostFormValue("key"), "value": strings.TrimSpace(v.r.PostFormValue("value"))}, nil
	})
}

// rulesAndSearch adds standing answers and the settings of websearch to the page.
func (v *visit) rulesAndSearch(out *ModelsView) error {
	if v.has("approval.rules") {
		list, err := call[struct {
			Rules []struct {
				ID      string    `json:"id"`
				Scope   string    `json:"scope"`
				Session string    `json:"session"`
				Pattern string    `json:"pattern"`
				Owner   string    `json:"owner"`
				Expires time.Time `json:"expires_at"`
			} `json:"rules"`
		}](v, "approval.rules", nil)
		if err != nil {
			return err
		}
		for _, r := range list.Rules {
			row := RuleRow{ID: r.ID, Pattern: r.Pattern, Where: r.Session, Owner: r.Owner, Until: r.Expires}
			if r.Scope == "folder" {
				row.Where = "its folder"
			} else if title := v.title("session:/" + r.Session); title != "" {
				row.Where = title
			}
			out.Rules = append(out.Rules, row)
		}
		out.MayForget = v.has("approval.forget")
	}
	if !v.has("server.settings") {
		return nil
	}
	all, err := call[struct {
		Settings []struct {
			Key    string `json:"key"`
			Value  string `json:"value"`
			Source string `json:"source"`
		} `json:"settings"`
	}](v, "server.settings", nil)
	if err != nil {
		return err
	}
	sealed, err := v.sealed()
	if err != nil {
		return err
	}
	for _, row := range searchKeys {
		for _, s := range all.Settings {
			if s.Key == row.Key {
				row.Value, row.Source, row.Set = s.Value, s.Source, s.Value != ""
			}
		}
		if row.Secret != "" {
			row.Value, row.Sealed = "", sealed[row.Secret]
		}
		out.Search = append(out.Search, row)
	}
	out.MaySet, out.MaySeal = v.has("setting.set"), v.has("secret.set")
	return nil
}

// sealed are the names of the sealed values that the visitor may know of.
func (v *visit) sealed() (map[string]bool, error) {
	out := map[string]bool{}
	if !v.has(string(wire.List)) {
		return out, nil
	}
	list, err := ask(v, wire.List, struct{}{})
	for _, s := range list.Secrets {
		out[s.Name] = true
	}
	return out, err
}

// keyHint stands where a key is typed: a stored one is never shown.
func keyHint(sealed bool) string {
	if sealed {
		return "a sealed key; type another"
	}
	return "no key yet"
}
