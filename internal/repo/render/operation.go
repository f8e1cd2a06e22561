package render

import (
	"context"
	"maps"
	"slices"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/dsl"
	"tandem/internal/repo/revset"
	"tandem/internal/repo/template"
)

// EvolutionEntry is a version of a change with the operation that made it.
type EvolutionEntry struct {
	Commit       *repo.Commit
	Operation    *repo.Operation // nil when it is not known
	Predecessors []*repo.Commit
}

type operation = *repo.Operation

func (l *Lang) bindOperations(ctx context.Context) {
	str, boolean := template.StringType, template.BooleanType
	l.Operation = &template.Type{Name: "Operation", JSON: operationJSON}
	l.OperationOpt, l.OperationList = template.Option(l.Operation), template.List(l.Operation, " ")
	attributes := template.Field(str, func(o operation) any { return Attributes(o) })
	l.Operation.Methods = func() map[string]template.Method {
		return map[string]template.Method{
			"current_operation": template.Field(boolean, func(o operation) any { return o.ID == l.CurrentOp }),
			"description":       template.Field(str, func(o operation) any { return o.Meta.Description }),
			"id":                template.Field(l.OperationID, func(o operation) any { return o.ID }),
			"attributes":        attributes,
			"tags": func(b *template.Builder, self *template.Expr, call *dsl.Node) (*template.Expr, error) {
				b.Warn(dsl.Exprf(call.NameSpan, "operation.tags() is deprecated; use .attributes() instead"))
				return attributes(b, self, call)
			},
			"snapshot": template.Field(boolean, func(o operation) any { return o.Meta.Snapshot }),
			"workspace_name": template.Field(str, func(o operation) any {
				if o.Meta.Workspace == "" {
					return ""
				}
				return revset.FormatSymbol(o.Meta.Workspace) + "@"
			}),
			"time": template.Field(template.RangeType, func(o operation) any { return template.TimeRange{Start: o.Meta.Start, End: o.Meta.End} }),
			"user": template.Field(str, func(o operation) any { return o.Meta.Username + "@" + o.Meta.Hostname }),
			"root": template.Field(boolean, func(o operation) any { return o.ID == repo.RootOperationID }),
			"parents": template.Getter(l.OperationList, func(o operation) (any, error) {
				out := []any{}
				for _, id := range o.Parents {
					p, err := l.Repo.Store.Operation(ctx, id)
					if err != nil {
						return nil, err
					}
					out = append(out, p)
				}
				return out, nil
			}),
		}
	}
	l.Evolution = &template.Type{Name: "CommitEvolutionEntry", JSON: func(v any) any {
		e := v.(EvolutionEntry)
		var op any
		if e.Operation != nil {
			op = operationJSON(e.Operation)
		}
		return template.Object{{Key: "commit", Value: commitJSON(e.Commit)}, {Key: "operation", Value: op}}
	}, Methods: func() map[string]template.Method {
		return map[string]template.Method{
			"commit": template.Field(l.Commit, func(e EvolutionEntry) any { return e.Commit }),
			"operation": template.Field(l.OperationOpt, func(e EvolutionEntry) any {
				if e.Operation == nil {
					return nil
				}
				return e.Operation
			}),
			"predecessors": template.Field(l.CommitList, func(e EvolutionEntry) any { return template.Items(e.Predecessors) }),
			"inter_diff": func(b *template.Builder, self *template.Expr, call *dsl.Node) (*template.Expr, error) {
				set, err := l.filesArg(call)
				if err != nil {
					return nil, err
				}
				return template.Map(self, l.TreeDiff, func(e EvolutionEntry) (any, error) {
					return l.InterDiff(ctx, e.Predecessors, e.Commit, set)
				}), nil
			},
		}
	}}
}

// Attributes lists an operation's attributes, one a line.
func Attributes(o *repo.Operation) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(o.Meta.Attributes)) {
		out = append(out, k+": "+o.Meta.Attributes[k])
	}
	return strings.Join(out, "\n")
}

func operationJSON(v any) any {
	o := v.(operation)
	parents := []any{}
	for _, p := range o.Parents {
		parents = append(parents, p.Hex())
	}
	attrs := template.Object{}
	for _, k := range slices.Sorted(maps.Keys(o.Meta.Attributes)) {
		attrs = append(attrs, template.Member{Key: k, Value: o.Meta.Attributes[k]})
	}
	var ws any
	if o.Meta.Workspace != "" {
		ws = o.Meta.Workspace
	}
	return template.Object{
		{Key: "id", Value: o.ID.Hex()}, {Key: "parents", Value: parents},
		{Key: "time", Value: template.RangeType.JSON(template.TimeRange{Start: o.Meta.Start, End: o.Meta.End})},
		{Key: "description", Value: o.Meta.Description}, {Key: "hostname", Value: o.Meta.Hostname}, {Key: "username", Value: o.Meta.Username},
		{Key: "is_snapshot", Value: o.Meta.Snapshot}, {Key: "workspace_name", Value: ws}, {Key: "attributes", Value: attrs},
	}
}

// InterDiff compares a commit with earlier versions of it, as if those were on
// its parents.
func (l *Lang) InterDiff(ctx context.Context, from []*repo.Commit, to *repo.Commit, match repo.Matcher) (*Diff, error) {
	tree, err := l.RebasedTree(ctx, from, to)
	if err != nil {
		return nil, err
	}
	return &Diff{Store: l.Repo.Store, From: tree, To: to.Tree, Match: match, Paths: l.Paths, Opts: l.Diff}, nil
}

// RebasedTree is the content earlier versions would have on a commit's parents.
func (l *Lang) RebasedTree(ctx context.Context, from []*repo.Commit, to *repo.Commit) (repo.MergedTree, error) {
	s, ix := l.Repo.Store, l.Repo.Index
	dest, err := repo.ParentTree(ctx, s, ix, to)
	if err != nil || len(from) == 0 {
		return dest, err
	}
	if len(from) == 1 {
		base, err := repo.ParentTree(ctx, s, ix, from[0])
		if err != nil {
			return repo.MergedTree{}, err
		}
		if base.SameIDs(dest) {
			return from[0].Tree, nil
		}
	}
	label, err := ParentsLabel(ctx, s, to)
	if err != nil {
		return repo.MergedTree{}, err
	}
	terms := []repo.Labelled{{Tree: dest, Label: label + " (new parents)"}}
	for _, f := range from {
		base, err := repo.ParentTree(ctx, s, ix, f)
		if err != nil {
			return repo.MergedTree{}, err
		}
		if label, err = ParentsLabel(ctx, s, f); err != nil {
			return repo.MergedTree{}, err
		}
		terms = append(terms, repo.Labelled{Tree: base, Label: label + " (original parents)"},
			repo.Labelled{Tree: f.Tree, Label: f.ConflictLabel() + " (original revision)"})
	}
	return repo.MergeMergedTrees(ctx, s, terms...)
}

// ParentsLabel names a commit's parents in conflict markers.
func ParentsLabel(ctx context.Context, s repo.Store, c *repo.Commit) (string, error) {
	var parents []*repo.Commit
	for _, id := range c.Parents {
		p, err := s.Commit(ctx, id)
		if err != nil {
			return "", err
		}
		parents = append(parents, p)
	}
	return repo.ConflictLabelFor(parents), nil
}
