package policy

import (
	"iter"
	"path"
	"slices"
	"strings"

	cedar "github.com/cedar-policy/cedar-go"
)

// evaluation runs Cedar statements for one question and one member. What Cedar needs to see is built at the first
// statement whose head fits, and not before.
type evaluation struct {
	q     *question
	m     *member
	req   cedar.Request
	res   cedar.Entity
	ready bool
	// low asks the same of the folded question, once somebody needed it.
	low *evaluation
}

// evaluation is nil when no rule is in the drawer: then there is nothing to evaluate.
func (d *drawer) evaluation(q *question, m *member) *evaluation {
	if !d.ruled() {
		return nil
	}
	return &evaluation{q: q, m: m}
}

func (d *drawer) ruled() bool { return len(d.forbids)+len(d.asks)+len(d.permits) > 0 }

// Get gives Cedar the principal with those it acts for, and the resource with the paths above it.
func (e *evaluation) Get(id cedar.EntityUID) (cedar.Entity, bool) {
	if id == e.req.Principal {
		return cedar.Entity{UID: id, Parents: e.m.parents}, true
	}
	if id == e.req.Resource {
		if e.res.UID != id {
			e.res = cedar.Entity{UID: id, Parents: ancestors(id)}
		}
		return e.res, true
	}
	return cedar.Entity{}, false
}

// maxNamedPath and maxNamedHost are how long a folder's or a domain's name can be on any system. What is above a longer one is looked at
// from there on: a line that names a path of very many folders must not take minutes to judge.
const (
	maxNamedPath = 4096
	maxNamedHost = 255
)

// nameable is the nearest folder above a path that can exist, or the path itself.
func nameable(p string) string {
	for len(p) > maxNamedPath {
		i := strings.LastIndexByte(p[:maxNamedPath], '/')
		if i < 0 {
			return p
		}
		p = p[:max(i, 1)]
	}
	return p
}

func ancestors(id cedar.EntityUID) cedar.EntityUIDSet {
	var up []cedar.EntityUID
	for p := nameable(string(id.ID)); p != "/"; {
		if p = p[:strings.LastIndexByte(p, '/')]; p == "" {
			p = "/"
		}
		up = append(up, cedar.NewEntityUID(id.Type, cedar.String(p)))
	}
	return cedar.NewEntityUIDSet(up...)
}

func (e *evaluation) prepare() {
	if e.ready {
		return
	}
	e.ready = true
	q := e.q
	e.req = cedar.Request{
		Principal: e.m.uid,
		Action:    cedar.NewEntityUID("Action", cedar.String(q.Permission)),
		Resource:  cedar.NewEntityUID(entityType(string(q.Resource.Kind)), cedar.String(q.Resource.Path)),
	}
}

// one is a set of a single statement, the form in which Cedar takes it.
type one struct{ r *rule }

// All yields the statement.
func (o one) All() iter.Seq2[cedar.PolicyID, *cedar.Policy] {
	return func(yield func(cedar.PolicyID, *cedar.Policy) bool) { yield(cedar.PolicyID(o.r.id), o.r.policy) }
}

// holds evaluates one statement.
func (e *evaluation) holds(r *rule) (bool, string) {
	e.prepare()
	if r.readsContext {
		at := &e.q.context
		if r.forbid {
			at = &e.q.shadow
		}
		if *at == nil {
			rec := contextRecord(e.q, r.forbid)
			*at = &rec
		}
		e.req.Context = **at
	}
	_, diag := cedar.Authorize(one{r}, e, e.req)
	if len(diag.Errors) > 0 {
		return false, diag.Errors[0].Message
	}
	return len(diag.Reasons) > 0, ""
}

// first finds the first forbidding statement that holds or fails: one that cannot be evaluated forbids.
func (e *evaluation) first(rules []*rule) (*rule, string) {
	for _, r := range rules {
		if r.unknown(e.q) {
			continue
		}
		if r.about(e.q) {
			if ok, failed := e.holds(r); ok || failed != "" {
				return r, failed
			}
		}
		if ok, failed := e.holdsSpelled(r); ok || failed != "" {
			return r, failed
		}
	}
	return nil, ""
}

// all finds the permitting statements that hold: one that cannot be evaluated permits nothing.
func (e *evaluation) all(rules []*rule) []*rule {
	var out []*rule
	for _, r := range rules {
		if !r.about(e.q) {
			continue
		}
		if r.unknown(e.q) {
			out = append(out, r)
			continue
		}
		if ok, _ := e.holds(r); ok {
			out = append(out, r)
		}
	}
	return out
}

// contextRecord is what rules may read beside principal, action and resource, as far as any of them does. Without facts the
// three sets are left out, so that a statement which reads them fails, and a failing statement refuses.
func contextRecord(q *question, forbids bool) cedar.Record {
	m := make(cedar.RecordMap, len(q.reads))
	put := func(name cedar.String, value func() cedar.Value) {
		if q.reads[string(name)] {
			m[name] = value()
		}
	}
	put("op", func() cedar.Value { return cedar.String(q.Op) })
	put("tool", func() cedar.Value {
		return cedar.String(strings.ReplaceAll(strings.TrimPrefix(q.tool, "/"), "/", "."))
	})
	put("class", func() cedar.Value { return cedar.String(q.Class) })
	put("path", func() cedar.Value { return cedar.String(orFolded(q.Resource.Path, q.folded)) })
	put("present", func() cedar.Value { return cedar.Boolean(q.Present) })
	put("now", func() cedar.Value { return cedar.NewDatetime(q.now) })
	f := q.Facts
	if f == nil {
		return cedar.NewRecord(m)
	}
	paths, hosts, commands := f.Paths, f.Hosts, f.Commands
	if forbids { // all that may be, by whatever name
		paths, hosts, commands = slices.Concat(paths, f.Named), slices.Concat(hosts, f.Reached), slices.Concat(commands, plainly(f))
	}
	if !f.Opaque || forbids && f.Boxed {
		put("paths", func() cedar.Value { return stringSet(paths, foldersAbove) })
	}
	if !f.Opaque || forbids && f.Offline {
		put("hosts", func() cedar.Value { return stringSet(hosts, domainsAbove) })
	}
	if !f.Opaque || forbids && !f.Unread && len(f.Runs) > 0 {
		put("commands", func() cedar.Value { return stringSet(commands, beginnings) })
	}
	return cedar.NewRecord(m)
}

// plainly is every command of the call as people would name it: by the program's own name, without the options before its verb.
func plainly(f *Facts) (out [][]string) {
	runs := f.Runs
	if len(runs) == 0 {
		runs = f.Commands
	}
	for _, words := range runs {
		if words[0] == unknownWord {
			continue
		}
		plain, short := []string{path.Base(words[0])}, []string{path.Base(words[0])}
		option := false
		for _, w := range words[1:] {
			if strings.HasPrefix(w, "-") {
				option = !strings.Contains(w, "=")
				continue
			}
			plain = append(plain, w)
			if !option { // else it may be that option's value
				short = append(short, w)
			}
			option = false
		}
		out = append(out, append([]string{path.Base(words[0])}, words[1:]...), plain, short)
	}
	return out
}

func stringSet[T any](list []T, expand func(T) []string) cedar.Value {
	var vs []cedar.Value
	for _, x := range list {
		for _, s := range expand(x) {
			vs = append(vs, cedar.String(s))
		}
	}
	return cedar.NewSet(vs...)
}

func foldersAbove(p string) []string {
	out := []string{p}
	if short := nameable(p); short != p {
		p, out = short, append(out, short)
	}
	for p != "/" && p != "" {
		i := strings.LastIndexByte(p, '/')
		if i < 0 {
			break
		}
		if p = p[:i]; p == "" {
			p = "/"
		}
		out = append(out, p)
	}
	return out
}

func domainsAbove(h string) []string {
	h = strings.ToLower(strings.TrimSuffix(h, "."))
	out := []string{h}
	for {
		_, rest, ok := strings.Cut(h, ".")
		if !ok || rest == "" {
			return out
		}
		if h = rest; len(h) <= maxNamedHost {
			out = append(out, h)
		}
	}
}

func beginnings(words []string) []string {
	out := make([]string, 0, min(len(words), maxBeginnings))
	for i := range words {
		if i == maxBeginnings {
			break
		}
		out = append(out, strings.Join(words[:i+1], " "))
	}
	return out
}

// maxBeginnings bounds how far into a command a rule can look.
const maxBeginnings = 8
