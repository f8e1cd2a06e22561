package policy

import (
	"fmt"
	"slices"
	"strings"

	cedar "github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/x/exp/ast"
)

// Bounds of what people may write: far above any real set of rules, far below what would slow a decision down.
const (
	maxRules     = 1000
	maxRulesText = 256 << 10
)

// rule is one compiled Cedar statement. The scope fields repeat what its head says, so that a statement about something
// else is skipped without being evaluated.
type rule struct {
	id        string
	policy    *cedar.Policy
	head      *ast.Policy
	forbid    bool
	ask       bool
	reason    string
	approvers []PrincipalRef
	needs     Needs
	actions   bits
	kinds     uint64
	root      string
	exact     bool
	// callBound marks a statement that reads what only the call itself shows: it cannot be judged before. toolBound is the same
	// for one that reads the tool, which a list of tools shows.
	callBound bool
	toolBound bool
	// placeBound marks a statement whose conditions look at the place itself: it has to be asked about each.
	placeBound bool
	// placed marks one of those that looks at the resource, and not at what a tool's call touches.
	placed bool
	// timed marks a statement whose answer changes by itself.
	timed        bool
	readsContext bool
	// reads are the attributes it reads, of whatever.
	reads []string
	// entities are all that it names.
	entities []cedar.EntityUID
	// words are the texts that its conditions hold.
	words []string
	// spelled is the statement for folded paths, of one that forbids or asks about files; see spelled.go.
	spelled *rule
}

func compileRules(text string) (out []*rule, err error) {
	defer func() { // a parser of foreign text must not take the server down
		if p := recover(); p != nil {
			out, err = nil, malformed("the rules cannot be read: %v", p)
		}
	}()
	if len(text) > maxRulesText {
		return nil, malformed("the rules are longer than %d bytes", maxRulesText)
	}
	if err := sized(text); err != nil {
		return nil, err
	}
	list, err := cedar.NewPolicyListFromBytes("rules", []byte(text))
	if err != nil {
		return nil, malformed("the rules cannot be read: %v", err)
	}
	if len(list) > maxRules {
		return nil, malformed("there are more than %d rules", maxRules)
	}
	valid, err := validator()
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for i, p := range list {
		r, err := compileRule(fmt.Sprintf("rule-%d", i+1), p)
		if err != nil {
			return nil, err
		}
		if seen[r.id] {
			return nil, malformed("rule %s is there twice", r.id)
		}
		seen[r.id] = true
		if err := valid.Policy(r.id, r.head); err != nil {
			return nil, malformed("rule %s (line %d): %v", r.id, p.Position().Line, err)
		}
		out = append(out, r)
	}
	return out, nil
}

func compileRule(id string, p *cedar.Policy) (*rule, error) {
	r := &rule{id: id, policy: p, head: (*ast.Policy)(p.AST()), forbid: p.Effect() == cedar.Forbid}
	at := fmt.Sprintf("line %d", p.Position().Line)
	for key, value := range p.Annotations() {
		switch key {
		case "id":
			r.id = string(value)
		case "ask":
			r.ask = true
			if r.reason == "" {
				r.reason = string(value)
			}
		case "reason":
			r.reason = string(value)
		case "approvers":
			for s := range strings.SplitSeq(string(value), ",") {
				a, err := ParsePrincipal(strings.TrimSpace(s))
				if err != nil {
					return nil, malformed("%s: %v", at, err)
				}
				r.approvers = append(r.approvers, a)
			}
		case "critical":
			r.needs.Two = true
		case "others":
			r.needs.Others = true
		case "presence":
			for s := range strings.SplitSeq(string(value), ",") {
				if s = strings.TrimSpace(s); !slices.Contains(presences, s) {
					return nil, malformed("%s: @presence(%q) is not of %s", at, s, strings.Join(presences, ", "))
				}
				r.needs.Presence = append(r.needs.Presence, s)
			}
		default:
			// A misspelt @ask on a permit would allow without asking.
			return nil, malformed("%s: @%s is not one of @ask, @approvers, @critical, @others, @presence, @id, @reason", at, key)
		}
	}
	if r.id == "" || hasControl(r.id) {
		return nil, malformed("%s: a rule's id is a word", at)
	}
	if err := checkApprovers(r.approvers); err != nil {
		return nil, malformed("%s: %v", at, err)
	}
	if (len(r.approvers) > 0 || r.needs.Two || r.needs.Others || len(r.needs.Presence) > 0) && !r.ask {
		return nil, malformed("%s: @approvers, @critical, @others and @presence need @ask", at)
	}
	r.actions = actionsOf(r.head.Action)
	switch s := r.head.Principal.(type) {
	case ast.ScopeTypeEq:
		r.entities = append(r.entities, s.Entity)
	case ast.ScopeTypeIn:
		r.entities = append(r.entities, s.Entity)
	case ast.ScopeTypeIsIn:
		r.entities = append(r.entities, s.Entity)
	}
	r.kinds, r.root, r.exact = resourcesOf(r.head.Resource)
	if !cleanPath(r.root) {
		return nil, malformed("%s: path %q is not /component/component, so nothing lies there", at, r.root)
	}
	for _, c := range r.head.Conditions {
		var bad error
		ast.Inspect(ast.NewNode(c.Body), func(n ast.IsNode) bool {
			switch n := n.(type) {
			case ast.NodeTypeHas:
				// "context has paths && …" would quietly not forbid a call whose paths nobody knows.
				bad = malformed("%s: every attribute is always there; write it without \"has\"", at)
			case ast.NodeValue:
				if w, ok := n.Value.(cedar.String); ok {
					r.words = append(r.words, string(w))
				}
				if e, ok := n.Value.(cedar.EntityUID); ok {
					r.entities = append(r.entities, e)
				}
				if e, ok := n.Value.(cedar.EntityUID); ok && kindOf(e.Type) != 0 && !knownPrincipal[principalOf(e.Type)] && !cleanPath(string(e.ID)) {
					bad = malformed("%s: path %q is not /component/component, so nothing lies there", at, e.ID)
				}
			case ast.NodeTypeVariable:
				r.readsContext = r.readsContext || n.Name == "context"
				r.placed = r.placed || n.Name == "resource"
			case ast.NodeTypeAccess:
				r.reads = append(r.reads, string(n.Value))
				r.placed, r.placeBound = r.placed || n.Value == "path", r.placeBound || n.Value == "paths"
				switch n.Value {
				case "paths", "commands", "hosts", "op", "class", "present":
					r.callBound = true
				case "tool":
					r.toolBound = true
				case "now":
					r.timed = true
				}
			}
			return bad == nil
		})
		if bad != nil {
			return nil, bad
		}
	}
	r.placeBound = r.placeBound || r.placed
	var err error
	if r.spelled, err = r.byAnySpelling(); err != nil {
		return nil, malformed("%s: %v", at, err)
	}
	return r, nil
}

func actionsOf(s ast.IsActionScopeNode) bits {
	switch s := s.(type) {
	case ast.ScopeTypeEq:
		return bit(AccessPermission(s.Entity.ID))
	case ast.ScopeTypeIn:
		return bit(AccessPermission(s.Entity.ID))
	case ast.ScopeTypeInSet:
		var b bits
		for _, e := range s.Entities {
			b |= bit(AccessPermission(e.ID))
		}
		return b
	}
	return ^bits(0)
}

func resourcesOf(s ast.IsResourceScopeNode) (kinds uint64, root string, exact bool) {
	switch s := s.(type) {
	case ast.ScopeTypeEq:
		return kindOf(s.Entity.Type), string(s.Entity.ID), true
	case ast.ScopeTypeIn:
		return kindOf(s.Entity.Type), string(s.Entity.ID), false
	case ast.ScopeTypeIsIn:
		return kindOf(s.Type) & kindOf(s.Entity.Type), string(s.Entity.ID), false
	case ast.ScopeTypeIs:
		return kindOf(s.Type), "/", false
	}
	return ^uint64(0), "/", false
}

func kindOf(t cedar.EntityType) uint64 {
	return kindMask(ResourceKind(strings.ToLower(string(t))))
}

func principalOf(t cedar.EntityType) PrincipalKind { return PrincipalKind(strings.ToLower(string(t))) }

// about says whether the head of the statement can hold for the question's action and resource.
func (r *rule) about(q *question) bool {
	if r.actions&q.bit == 0 || r.kinds&q.kind == 0 {
		return false
	}
	if r.exact {
		return r.root == q.Resource.Path
	}
	return below(r.root, q.Resource.Path) >= 0
}

// unknown says that a mask cannot judge the statement: only the call will show what it reads.
func (r *rule) unknown(q *question) bool {
	return q.mask && (r.callBound || (r.toolBound && q.tool == ""))
}

// speaksOf says whether the head of the statement can hold for the principal, who lies in what is above.
func (r *rule) speaksOf(p PrincipalRef, above []cedar.EntityUID) bool {
	in := func(e cedar.EntityUID) bool { return uid(p) == e || slices.Contains(above, e) }
	switch s := r.head.Principal.(type) {
	case ast.ScopeTypeEq:
		return uid(p) == s.Entity
	case ast.ScopeTypeIn:
		return in(s.Entity)
	case ast.ScopeTypeIs:
		return entityType(string(p.Kind)) == s.Type
	case ast.ScopeTypeIsIn:
		return entityType(string(p.Kind)) == s.Type && in(s.Entity)
	}
	return true
}

func uid(p PrincipalRef) cedar.EntityUID {
	return cedar.NewEntityUID(entityType(string(p.Kind)), cedar.String(p.ID))
}
