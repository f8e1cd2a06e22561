package render

import (
	"context"
	"errors"
	"maps"
	"slices"

	"tandem/internal/repo"
	"tandem/internal/repo/dsl"
	"tandem/internal/repo/revset"
	"tandem/internal/repo/template"
	"tandem/internal/repo/text"
)

// Ref is a bookmark or tag, local or as seen on a remote.
type Ref struct {
	Name     string
	Remote   string // "" for a local one
	Target   repo.RefTarget
	Tracked  bool
	Tracking repo.RefTarget // the local target a tracked remote one follows
	Synced   bool
}

// Symbol is a name that is quoted when printed, if it needs to be.
type Symbol string

// Word is the name without quotes, for comparing.
func (s Symbol) Word() string { return string(s) }

// WorkspaceRef is a workspace with its commit.
type WorkspaceRef struct {
	Name   string
	Target *repo.Commit
}

func writeRef(o *text.Text, r *Ref) {
	o.Label("name", revset.FormatSymbol(r.Name))
	if r.Remote != "" {
		o.Str("@")
		o.Label("remote", revset.FormatSymbol(r.Remote))
	}
	if len(r.Target) > 1 {
		o.Str("??")
	} else if r.Remote == "" && !r.Synced {
		o.Str("*")
	}
}

func targetJSON(t repo.RefTarget) any {
	out := []any{}
	for _, id := range t {
		if id == "" {
			out = append(out, nil)
		} else {
			out = append(out, id.Hex())
		}
	}
	return out
}

func refJSON(v any) any {
	r := v.(*Ref)
	o := template.Object{{Key: "name", Value: r.Name}}
	if r.Remote != "" {
		o = append(o, template.Member{Key: "remote", Value: r.Remote})
	}
	o = append(o, template.Member{Key: "target", Value: targetJSON(r.Target)})
	if r.Tracked {
		o = append(o, template.Member{Key: "tracking_target", Value: targetJSON(r.Tracking)})
	}
	return o
}

func (l *Lang) bindRefs(ctx context.Context) {
	l.Symbol = &template.Type{
		Name: "RefSymbol", Worded: true,
		Bool:  func(v any) bool { return v.(Symbol) != "" },
		Write: func(o *text.Text, v any) error { o.Str(revset.FormatSymbol(string(v.(Symbol)))); return nil },
		JSON:  func(v any) any { return string(v.(Symbol)) },
	}
	l.Symbol.Methods = func() map[string]template.Method {
		return template.StringMethodsOf(func(v any) string { return string(v.(Symbol)) })
	}
	l.SymbolOpt = template.Option(l.Symbol)
	l.Ref = &template.Type{
		Name:    "CommitRef",
		Write:   func(o *text.Text, v any) error { writeRef(o, v.(*Ref)); return nil },
		JSON:    refJSON,
		Methods: func() map[string]template.Method { return l.refMethods(ctx) },
	}
	l.RefList = template.List(l.Ref, " ")
	l.WorkspaceRef = &template.Type{
		Name: "WorkspaceRef",
		Write: func(o *text.Text, v any) error {
			o.Str(revset.FormatSymbol(v.(WorkspaceRef).Name) + "@")
			return nil
		},
		JSON: func(v any) any {
			w := v.(WorkspaceRef)
			return template.Object{{Key: "name", Value: w.Name}, {Key: "target", Value: commitJSON(w.Target)}}
		},
		Methods: func() map[string]template.Method {
			return map[string]template.Method{
				"name":   template.Field(l.Symbol, func(w WorkspaceRef) any { return Symbol(w.Name) }),
				"target": template.Field(l.Commit, func(w WorkspaceRef) any { return w.Target }),
				"root": template.Getter(template.PathOpt, func(w WorkspaceRef) (any, error) {
					p, err := l.WorkspaceRoot(w.Name)
					if err != nil || p == "" {
						return nil, err
					}
					return template.FsPath(p), nil
				}),
			}
		},
	}
	l.WorkspaceRefList = template.List(l.WorkspaceRef, " ")
}

var errNotTracked = errors.New("Not a tracked remote ref")

func (l *Lang) refMethods(ctx context.Context) map[string]template.Method {
	boolean := template.BooleanType
	count := func(ahead bool) template.Method {
		return template.Getter(template.SizeHintType, func(r *Ref) (any, error) {
			if !r.Tracked {
				return nil, errNotTracked
			}
			self, other := repo.TargetIDs(r.Target), repo.TargetIDs(r.Tracking)
			if !ahead {
				self, other = other, self
			}
			ids, err := l.Repo.IDs(ctx, revset.Range(revset.Commits(other...), revset.Commits(self...)))
			return template.SizeHint{Lower: len(ids), Exact: true}, err
		})
	}
	return map[string]template.Method{
		"name": template.Field(l.Symbol, func(r *Ref) any { return Symbol(r.Name) }),
		"remote": template.Field(l.SymbolOpt, func(r *Ref) any {
			if r.Remote == "" {
				return nil
			}
			return Symbol(r.Remote)
		}),
		"present":  template.Field(boolean, func(r *Ref) any { return !repo.IsAbsentTarget(r.Target) }),
		"conflict": template.Field(boolean, func(r *Ref) any { return len(r.Target) > 1 }),
		"normal_target": template.Getter(l.CommitOpt, func(r *Ref) (any, error) {
			if len(r.Target) != 1 || r.Target[0] == "" {
				return nil, nil
			}
			return l.Repo.Store.Commit(ctx, r.Target[0])
		}),
		"removed_targets": template.Getter(l.CommitList, func(r *Ref) (any, error) {
			var ids []repo.CommitID
			for _, id := range r.Target.Removes() {
				if id != "" {
					ids = append(ids, id)
				}
			}
			return l.commits(ctx, ids)
		}),
		"added_targets":         template.Getter(l.CommitList, func(r *Ref) (any, error) { return l.commits(ctx, repo.TargetIDs(r.Target)) }),
		"tracked":               template.Field(boolean, func(r *Ref) any { return r.Tracked }),
		"tracking_present":      template.Field(boolean, func(r *Ref) any { return r.Tracked && !repo.IsAbsentTarget(r.Tracking) }),
		"tracking_ahead_count":  count(true),
		"tracking_behind_count": count(false),
		"synced":                template.Field(boolean, func(r *Ref) any { return r.Synced }),
	}
}

// NamedRefs are a name's local ref, which may be absent, and remote ones.
type NamedRefs struct {
	Name    string
	Local   *Ref
	Remotes []*Ref
}

// Refs groups bookmarks or tags by name, in order.
func Refs(v *repo.View, tags bool) []NamedRefs {
	local := v.Bookmarks
	if tags {
		local = v.Tags
	}
	pick := func(rv repo.RemoteView) map[string]repo.RemoteRef {
		if tags {
			return rv.Tags
		}
		return rv.Bookmarks
	}
	names := map[string]bool{}
	for n := range local {
		names[n] = true
	}
	for _, rv := range v.Remotes {
		for n := range pick(rv) {
			names[n] = true
		}
	}
	remotes := slices.Sorted(maps.Keys(v.Remotes))
	var out []NamedRefs
	for _, n := range slices.Sorted(maps.Keys(names)) {
		target := local[n]
		if len(target) == 0 {
			target = repo.NoTarget()
		}
		r := NamedRefs{Name: n, Local: &Ref{Name: n, Target: target, Synced: true}}
		for _, remote := range remotes {
			ref, ok := pick(v.Remotes[remote])[n]
			if !ok {
				continue
			}
			same := ref.Target.Equal(target)
			if ref.Tracked && !same {
				r.Local.Synced = false
			}
			r.Remotes = append(r.Remotes, &Ref{Name: n, Remote: remote, Target: ref.Target, Tracked: ref.Tracked, Tracking: target,
				Synced: ref.Tracked && same})
		}
		out = append(out, r)
	}
	return out
}

func (l *Lang) refIndex(tags bool) map[repo.CommitID][]*Ref {
	out := map[repo.CommitID][]*Ref{}
	for _, n := range Refs(l.Repo.View, tags) {
		for _, r := range append([]*Ref{n.Local}, n.Remotes...) {
			for _, id := range repo.TargetIDs(r.Target) {
				out[id] = append(out[id], r)
			}
		}
	}
	return out
}

func (l *Lang) refMethod(tags bool, keep func(*Ref) bool) template.Method {
	return func(b *template.Builder, self *template.Expr, call *dsl.Node) (*template.Expr, error) {
		if _, err := call.Expect(0, 0); err != nil {
			return nil, err
		}
		return template.Pure(self, l.RefList, func(c commit) any {
			index := &l.bookmarks
			if tags {
				index = &l.tags
			}
			if *index == nil {
				*index = l.refIndex(tags)
			}
			out := []any{}
			for _, r := range (*index)[c.ID] {
				if keep(r) {
					out = append(out, r)
				}
			}
			return out
		}), nil
	}
}
