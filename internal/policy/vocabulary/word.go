package vocabulary

import (
	"fmt"
	"slices"
	"strings"

	"tandem/internal/policy"
)

// ResourceKind is a sort of thing, in the published words or in one of this house.
type ResourceKind string

// PrincipalKind is a sort of actor.
type PrincipalKind string

// AccessPermission and DataClass have the same words here and there.
type (
	AccessPermission = policy.AccessPermission
	DataClass        = policy.DataClass
	DataBoundary     = policy.DataBoundary
)

// published are the kinds of the published vocabulary. Those that this house does not have are known, and refused by name.
var published = []ResourceKind{"organization", "workspace", "organization_unit", "department", "group", "project", "data_room",
	"shared_drive", "document_collection", "data_store", "dataset", "document", "repository", "directory", "file", "artifact", "memory_space",
	"knowledge_space", "secret_provider_credential", "automation", "run", "approval", "audit_export", "mcp_server", "mcp_tool",
	"connector_instance", "source_binding", "source_object", "ingestion_job", "external_integration_account"}

// same are the kinds that are the same thing under another name. A workspace is none of them: there it is a part of an organization, and
// here a working copy.
var same = map[policy.ResourceKind]ResourceKind{policy.KindTenant: "organization", policy.KindRepo: "repository",
	policy.KindFolder: "directory", policy.KindArtifact: "artifact", policy.KindMemory: "memory_space",
	policy.KindKnowledge: "knowledge_space", policy.KindSecret: "secret_provider_credential", policy.KindAutomation: "automation",
	policy.KindApproval: "approval", policy.KindConnector: "mcp_server", policy.KindSource: "source_binding",
	policy.KindForge: "external_integration_account"}

// own begins the words that this house adds.
const own = "tandem_"

// anything is every kind of thing, anyOf a scope that is several.
const (
	anything ResourceKind = own + "any"
	anyOf    ResourceKind = own + "any_of"
)

// KindOf is the published word for a kind.
func KindOf(k policy.ResourceKind) ResourceKind {
	switch {
	case k == policy.AnyKind:
		return anything
	case same[k] != "":
		return same[k]
	}
	return own + ResourceKind(k)
}

// Here is the kind that it is in this house.
func (k ResourceKind) Here() (policy.ResourceKind, error) {
	if k == anything {
		return policy.AnyKind, nil
	}
	for _, h := range policy.Kinds() {
		if KindOf(h) == k {
			return h, nil
		}
	}
	if slices.Contains(published, k) {
		return "", malformed("this house has nothing of the kind %s", k)
	}
	return "", malformed("there is no resource_kind %.60q", k)
}

// principals are the published words for actors, with who they are here.
var principals = map[policy.PrincipalKind]PrincipalKind{policy.Person: "human_user", policy.Agent: "agent_worker",
	policy.Service: "service_account", policy.GroupOf: "group", policy.Session: own + "session", policy.Local: own + "local", "*": own + "any"}

var elsewhere = []PrincipalKind{"organization_unit", "department", "automation", "external_delegate", "support_operator"}

// PrincipalRef is who acts. The id * is everybody of the kind.
type PrincipalRef struct {
	Kind PrincipalKind `json:"kind"`
	ID   string        `json:"id" jsonschema:"the name; * is everybody of the kind"`
}

// Principal writes an actor.
func Principal(p policy.PrincipalRef) PrincipalRef { return PrincipalRef{principals[p.Kind], p.ID} }

// Here is the actor of this house.
func (p PrincipalRef) Here() (policy.PrincipalRef, error) {
	for k, word := range principals {
		if word == p.Kind {
			h := policy.PrincipalRef{Kind: k, ID: p.ID}
			if k == "*" && p.ID != "*" {
				return policy.PrincipalRef{}, malformed("the principal %s has the id *", p.Kind)
			}
			return policy.ParsePrincipal(h.String())
		}
	}
	if slices.Contains(elsewhere, p.Kind) {
		return policy.PrincipalRef{}, malformed("nobody here is of the kind %s: grants speak of people, groups, agents and services", p.Kind)
	}
	return policy.PrincipalRef{}, malformed("there is no kind of principal called %.60q", p.Kind)
}

// sources are where grants come from.
var sources = map[policy.GrantSource]string{policy.Direct: "direct", policy.Delegation: "delegation",
	policy.Default: own + "default", policy.Fallback: own + "fallback"}

func sourceHere(word string) (policy.GrantSource, error) {
	for s, w := range sources {
		if w == word {
			return s, nil
		}
	}
	return "", malformed("grant_source %.60q is none of direct and delegation: a grant to a group is given to the group", word)
}

// effects are what a grant says. One that gives and is narrowed says so in this word, so that nobody who leaves the narrowing out reads
// it as the wider one.
const within = "_within"

func effectOf(e policy.Effect, narrowed bool) string {
	word := map[policy.Effect]string{policy.Allow: "allow", policy.Ask: "approval_required", policy.Deny: "deny"}[e]
	if narrowed && e != policy.Deny {
		word += within
	}
	return word
}

func effectHere(word string, narrowed bool) (policy.Effect, error) {
	plain := strings.TrimSuffix(word, within)
	if plain != word && !narrowed {
		return policy.Deny, malformed("effect %s comes without what it is narrowed by", word)
	}
	for _, e := range []policy.Effect{policy.Allow, policy.Ask, policy.Deny} {
		if effectOf(e, false) == plain && (e != policy.Deny || plain == word) {
			return e, nil
		}
	}
	return policy.Deny, malformed("effect %.60q is none of allow, deny and approval_required", word)
}

// malformed is an error of policy's kind: the book tells it as an invalid argument.
func malformed(format string, args ...any) error {
	return fmt.Errorf("%s%w", fmt.Sprintf(format, args...), quiet{})
}

type quiet struct{}

func (quiet) Error() string { return "" }
func (quiet) Unwrap() error { return policy.ErrMalformed }
