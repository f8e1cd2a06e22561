package policy

import (
	"fmt"
	"strings"
	"sync"

	cedar "github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/x/exp/schema"
	"github.com/cedar-policy/cedar-go/x/exp/schema/validate"
)

// entityType is the name of a kind in the rules: folder is Folder.
func entityType(name string) cedar.EntityType {
	return cedar.EntityType(strings.ToUpper(name[:1]) + name[1:])
}

// Schema is the vocabulary of the rules in Cedar's own notation: a rule that names anything else does not compile.
//
// Principals are Person, Agent, Session, Service and Local; a session lies in the agent it is and the person it acts for,
// and a person, with all that act for them, in the groups that the person is in.
// Resources are the kinds, with their path as id, and lie in the paths above them. Actions are the six permissions. In the
// context, paths, commands and hosts hold each thing the call touches and all that contains it: the folders above a path,
// the beginnings of a command, the domains above a host.
func Schema() string {
	var b strings.Builder
	var principals, resources []string
	for _, p := range principalKinds {
		principals = append(principals, string(entityType(string(p))))
	}
	for _, k := range kinds {
		resources = append(resources, string(entityType(string(k))))
	}
	fmt.Fprintf(&b, "entity Group in [Group];\n")
	declared := map[string]bool{"Group": true}
	for _, p := range principals {
		fmt.Fprintf(&b, "entity %s in [%s, Group];\n", p, strings.Join(principals, ", "))
		declared[p] = true
	}
	for _, r := range resources {
		if !declared[r] {
			fmt.Fprintf(&b, "entity %s in [%s];\n", r, r)
		}
	}
	var actions []string
	for _, p := range permissions {
		actions = append(actions, `"`+string(p)+`"`)
	}
	fmt.Fprintf(&b, `action %s appliesTo {
  principal: [%s],
  resource: [%s],
  context: {
    op: String, tool: String, class: String, path: String, present: Bool, now: datetime,
    paths: Set<String>, commands: Set<String>, hosts: Set<String>,
  },
};
`, strings.Join(actions, ", "), strings.Join(principals, ", "), strings.Join(resources, ", "))
	return b.String()
}

var validator = sync.OnceValues(func() (*validate.Validator, error) {
	var s schema.Schema
	if err := s.UnmarshalCedar([]byte(Schema())); err != nil {
		return nil, fmt.Errorf("read the schema of the rules: %w", err)
	}
	r, err := s.Resolve()
	if err != nil {
		return nil, fmt.Errorf("resolve the schema of the rules: %w", err)
	}
	return validate.New(r), nil
})
