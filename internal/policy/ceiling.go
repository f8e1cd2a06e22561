package policy

import "strings"

// Ceiling is the most a credential can do, whatever its owner may: rights (resource.read, space.*, *.read, *) within scopes.
// No right is no power; no scope is every place.
type Ceiling struct {
	Rights []string
	Scopes []ResourceScope
}

type ceilingRight struct {
	kind, verb string
	kinds      uint64
	perms      bits
}

// CheckRights refuses rights that no operation could ask for.
func (c *Ceiling) CheckRights() error {
	_, err := c.compile("")
	return err
}

func (c *Ceiling) compile(tenant string) ([]ceilingRight, error) {
	out := []ceilingRight{}
	for _, s := range c.Rights {
		kind, word, ok := strings.Cut(s, ".")
		if s == "*" {
			kind, word, ok = "*", "*", true
		}
		r := ceilingRight{kind: kind, verb: word, kinds: kindMask(ResourceKind(kind)), perms: ^bits(0)}
		if word != "*" {
			r.perms = bit(verbs[word].permission) | bit(CanView)
		}
		if !ok || r.kinds == 0 || (word != "*" && verbs[word].permission == "") {
			return nil, malformed("right %q is not kind.verb, kind.*, *.verb or *", s)
		}
		out = append(out, r)
	}
	for i := range c.Scopes {
		if err := c.Scopes[i].check(tenant); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (v *View) underCeiling(q *question) bool {
	if v.ctx.Ceiling == nil {
		return true
	}
	kind, word, named := strings.Cut(q.Right, ".")
	ok := false
	for _, r := range v.ceiling {
		if named {
			ok = ok || ((r.kind == "*" || r.kind == kind) && (r.verb == "*" || r.verb == word))
		} else {
			ok = ok || (r.kinds&q.kind != 0 && r.perms&q.bit != 0)
		}
	}
	if !ok || len(v.ctx.Ceiling.Scopes) == 0 {
		return ok
	}
	for i := range v.ctx.Ceiling.Scopes {
		if v.ctx.Ceiling.Scopes[i].Covers(q.Resource) {
			return true
		}
	}
	return false
}
