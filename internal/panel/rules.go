package panel

import (
	"time"

	"tandem/internal/approval"
	"tandem/internal/identity"
	server "tandem/internal/server/wire"

	"tandem/internal/secret/wire"
	"tandem/internal/told"
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
	modelsForm(p, "/panel/rules/forget", approval.RuleForget, "rule-gone", func(v *visit) (approval.IDIn, error) {
		return approval.IDIn{ID: v.field("id")}, nil
	})
	modelsForm(p, "/panel/search/key", wire.Set, "search-key", func(v *visit) (wire.SetIn, error) {
		return wire.SetIn{Name: v.field("name"), Value: v.field("value")}, nil
	})
	modelsForm(p, "/panel/search", server.SettingSet, "search-set", func(v *visit) (server.SetIn, error) {
		return server.SetIn{Key: v.field("key"), Value: v.field("value")}, nil
	})
}

// rulesAndSearch adds standing answers and the settings of websearch to the page.
func (v *visit) rulesAndSearch(out *ModelsView) error {
	if v.has(string(approval.RuleList)) {
		list, err := ask(v, approval.RuleList, approval.Nothing{})
		if err != nil {
			return err
		}
		for _, r := range list.Rules {
			row := RuleRow{ID: r.ID, Pattern: r.Pattern, Where: r.Session, Owner: told.By(r.Owner), Until: r.ExpiresAt}
			if r.Scope == approval.InFolder {
				row.Where = "its folder"
			} else if title := v.title("session:/" + r.Session); title != "" {
				row.Where = title
			}
			out.Rules = append(out.Rules, row)
		}
		out.MayForget = v.has(string(approval.RuleForget))
	}
	if !v.has(string(server.ServerSettings)) {
		return nil
	}
	all, err := ask(v, server.ServerSettings, identity.Nothing{})
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
	out.MaySet, out.MaySeal = v.has(string(server.SettingSet)), v.has(string(wire.Set))
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
