package render

import (
	"context"
	"slices"

	"tandem/internal/repo"
	"tandem/internal/repo/dsl"
	"tandem/internal/repo/fileset"
	"tandem/internal/repo/template"
)

type commit = *repo.Commit

func (l *Lang) commitMethods(ctx context.Context) map[string]template.Method {
	str, boolean := template.StringType, template.BooleanType
	m := map[string]template.Method{
		"description": template.Field(str, func(c commit) any { return c.Description }),
		"trailers":    template.Field(l.Trailers, func(c commit) any { return template.Items(DescriptionTrailers(c.Description)) }),
		"change_id":   template.Field(l.ChangeID, func(c commit) any { return c.ChangeID }),
		"commit_id":   template.Field(l.CommitID, func(c commit) any { return c.ID }),
		"parents":     template.Getter(l.CommitList, func(c commit) (any, error) { return l.commits(ctx, c.Parents) }),
		"author":      template.Field(template.SignatureType, func(c commit) any { return c.Author }),
		"committer":   template.Field(template.SignatureType, func(c commit) any { return c.Committer }),
		"mine":        template.Field(boolean, func(c commit) any { return c.Author.Email == l.UserEmail }),
		"signature": template.Field(l.SignatureOpt, func(c commit) any {
			if c.Signed == nil {
				return nil
			}
			return c
		}),
		"current_working_copy": template.Field(boolean, func(c commit) any {
			id, ok := l.Repo.View.Workspaces[l.Workspace]
			return ok && id == c.ID
		}),
		"working_copies":   template.Field(l.WorkspaceRefList, func(c commit) any { return template.Items(l.workspacesAt(c)) }),
		"bookmarks":        l.refMethod(false, func(r *Ref) bool { return r.Remote == "" || !r.Synced }),
		"local_bookmarks":  l.refMethod(false, func(r *Ref) bool { return r.Remote == "" }),
		"remote_bookmarks": l.refMethod(false, func(r *Ref) bool { return r.Remote != "" }),
		"tags":             l.refMethod(true, func(r *Ref) bool { return r.Remote == "" || !r.Synced }),
		"local_tags":       l.refMethod(true, func(r *Ref) bool { return r.Remote == "" }),
		"remote_tags":      l.refMethod(true, func(r *Ref) bool { return r.Remote != "" }),
		"divergent":        template.Field(boolean, func(c commit) any { _, n := l.targets(c); return n > 1 }),
		"hidden":           template.Field(boolean, func(c commit) any { return !l.isVisible(c.ID) }),
		"change_offset": template.Field(template.IntegerOpt, func(c commit) any {
			ids, _ := l.targets(c)
			if i := slices.Index(ids, c.ID); i >= 0 {
				return int64(i)
			}
			return nil
		}),
		"immutable":    template.Getter(boolean, func(c commit) (any, error) { return l.Immutable(c.ID) }),
		"contained_in": l.containedIn,
		"conflict":     template.Field(boolean, func(c commit) any { return c.Tree.HasConflict() }),
		"empty":        template.Getter(boolean, func(c commit) (any, error) { return repo.IsEmpty(ctx, l.Repo.Store, l.Repo.Index, c) }),
		"diff": func(b *template.Builder, self *template.Expr, call *dsl.Node) (*template.Expr, error) {
			return l.commitDiff(ctx, b, self, call)
		},
		"files": func(b *template.Builder, self *template.Expr, call *dsl.Node) (*template.Expr, error) {
			return l.commitFiles(ctx, b, self, call)
		},
		"conflicted_files": template.Getter(l.TreeEntries, func(c commit) (any, error) {
			out := []any{}
			err := repo.Conflicts(ctx, l.Repo.Store, c.Tree, repo.Everything{}, func(p repo.Path, v repo.Merge[repo.TreeValue]) error {
				out = append(out, TreeEntry{p, v})
				return nil
			})
			return out, err
		}),
		"root": template.Field(boolean, func(c commit) any { return c.IsRoot() }),
	}
	return m
}

func (l *Lang) commits(ctx context.Context, ids []repo.CommitID) (any, error) {
	out := []any{}
	for _, id := range ids {
		c, err := l.Repo.Store.Commit(ctx, id)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func (l *Lang) workspacesAt(c commit) []WorkspaceRef {
	var out []WorkspaceRef
	if len(l.Repo.View.Workspaces) <= 1 {
		return nil
	}
	for name, id := range l.Repo.View.Workspaces {
		if id == c.ID {
			out = append(out, WorkspaceRef{name, c})
		}
	}
	slices.SortFunc(out, func(a, b WorkspaceRef) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return out
}

func (l *Lang) containedIn(b *template.Builder, self *template.Expr, call *dsl.Node) (*template.Expr, error) {
	args, err := call.Expect(1, 1)
	if err != nil {
		return nil, err
	}
	var in func(repo.CommitID) (bool, error)
	err = dsl.Catch(args[0], func(n *dsl.Node) error {
		s, err := template.Literal(n)
		if err != nil {
			return err
		}
		if in, err = l.Contained(s); err != nil {
			if _, ok := err.(*dsl.Error); ok {
				return dsl.Exprf(n.Span, "In revset expression").With(err)
			}
			return dsl.Exprf(n.Span, "Failed to evaluate revset").With(err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return template.Map(self, template.BooleanType, func(c commit) (any, error) { return in(c.ID) }), nil
}

// filesArg reads an optional fileset argument.
func (l *Lang) filesArg(call *dsl.Node) (*fileset.Set, error) {
	args, err := call.Expect(0, 1)
	if err != nil {
		return nil, err
	}
	if args[0] == nil {
		return fileset.All(), nil
	}
	var set *fileset.Set
	err = dsl.Catch(args[0], func(n *dsl.Node) error {
		s, err := template.Literal(n)
		if err != nil {
			return err
		}
		if set, err = l.Files(s); err != nil {
			return dsl.Exprf(n.Span, "In fileset expression").With(err)
		}
		return nil
	})
	return set, err
}

func (l *Lang) commitDiff(ctx context.Context, b *template.Builder, self *template.Expr, call *dsl.Node) (*template.Expr, error) {
	set, err := l.filesArg(call)
	if err != nil {
		return nil, err
	}
	return template.Map(self, l.TreeDiff, func(c commit) (any, error) { return l.DiffOf(ctx, c, set) }), nil
}

// DiffOf is what a commit changes against its parents.
func (l *Lang) DiffOf(ctx context.Context, c *repo.Commit, match repo.Matcher) (*Diff, error) {
	from, err := repo.ParentTree(ctx, l.Repo.Store, l.Repo.Index, c)
	if err != nil {
		return nil, err
	}
	copies, err := CopiesOf(ctx, l.Repo.Store, c, match)
	if err != nil {
		return nil, err
	}
	return &Diff{Store: l.Repo.Store, From: from, To: c.Tree, Match: match, Copies: copies, Paths: l.Paths, Opts: l.Diff}, nil
}

func (l *Lang) commitFiles(ctx context.Context, b *template.Builder, self *template.Expr, call *dsl.Node) (*template.Expr, error) {
	set, err := l.filesArg(call)
	if err != nil {
		return nil, err
	}
	return template.Map(self, l.TreeEntries, func(c commit) (any, error) {
		out := []any{}
		err := repo.WalkTree(ctx, l.Repo.Store, c.Tree, set, func(p repo.Path, v repo.Merge[repo.TreeValue]) error {
			out = append(out, TreeEntry{p, v})
			return nil
		})
		return out, err
	}), nil
}
