package vocabulary

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"tandem/internal/policy"
)

// Names are the published types, in the order in which they are shown.
var Names = []string{"ResourceRef", "ResourceKind", "ResourceScope", "AccessPermission", "DataClass", "PrincipalRef", "ScopedGrant",
	"StrictTenantContext", "DataBoundary"}

// words are the types that are one word of a list.
var words = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[ResourceKind](): oneOf(kinds(), "What begins with tandem_ is a kind of this house."),
	reflect.TypeFor[PrincipalKind](): oneOf(append([]PrincipalKind{"human_user", "agent_worker", "service_account", "group", own + "session",
		own + "local", own + "any"}, elsewhere...), "Grants here speak of human_user, agent_worker, service_account and group."),
	reflect.TypeFor[AccessPermission](): oneOf(policy.Permissions(), "Each one includes seeing that the resource exists."),
	reflect.TypeFor[DataClass]():        oneOf(append(policy.Classes(), policy.AnyClass), "* is every class."),
}

// kinds are the published ones and those that only this house has.
func kinds() []ResourceKind {
	out := append(slices.Clone(published), anything, anyOf)
	for _, k := range policy.Kinds() {
		if w := KindOf(k); !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

func oneOf[T ~string](list []T, doc string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string", Description: doc}
	for _, w := range list {
		s.Enum = append(s.Enum, string(w))
	}
	return s
}

// Schemas are the JSON schemas of the types, by name.
var Schemas = sync.OnceValues(func() (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	for name, t := range map[string]reflect.Type{"ResourceRef": reflect.TypeFor[ResourceRef](),
		"ResourceKind":  reflect.TypeFor[ResourceKind](),
		"ResourceScope": reflect.TypeFor[ResourceScope](), "AccessPermission": reflect.TypeFor[AccessPermission](),
		"DataClass": reflect.TypeFor[DataClass](), "PrincipalRef": reflect.TypeFor[PrincipalRef](), "ScopedGrant": reflect.TypeFor[ScopedGrant](),
		"StrictTenantContext": reflect.TypeFor[StrictTenantContext](), "DataBoundary": reflect.TypeFor[DataBoundary]()} {
		s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: words})
		if err != nil {
			return nil, fmt.Errorf("describe %s: %w", name, err)
		}
		s.Schema, s.Title = "https://json-schema.org/draft/2020-12/schema", name
		narrowEffects(s)
		if out[name], err = json.Marshal(s); err != nil {
			return nil, fmt.Errorf("describe %s: %w", name, err)
		}
	}
	return out, nil
})

// narrowEffects says which words effect and grant_source are, wherever a grant stands.
func narrowEffects(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Properties["effect"] != nil && s.Properties["grant_source"] != nil {
		s.Properties["effect"] = oneOf([]string{"allow", "deny", "approval_required", "allow" + within, "approval_required" + within},
			"What ends with _within is narrowed by tandem_within.")
		s.Properties["grant_source"] = oneOf([]string{"direct", "delegation", own + "default", own + "fallback"}, "")
	}
	for _, p := range s.Properties {
		narrowEffects(p)
	}
	narrowEffects(s.Items)
}
