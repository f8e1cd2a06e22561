package render

import (
	"context"
	"tandem/internal/repo"
	"tandem/internal/repo/dsl"
	"tandem/internal/repo/fileset"
	"tandem/internal/repo/revset"
	"tandem/internal/repo/template"
)

// Lang is the template language over one repository: the types of commits,
// refs, operations and diffs, bound to that repository.
type Lang struct {
	Repo      *revset.Repo
	Workspace string
	UserEmail string
	Paths     fileset.Paths
	Diff      DiffOptions
	// GitContext is how many lines a diff in git's format shows around changes.
	GitContext func() (int, error)
	// Immutable says whether a commit may not be rewritten.
	Immutable func(repo.CommitID) (bool, error)
	// Contained returns a test for membership in a revset.
	Contained func(text string) (func(repo.CommitID) (bool, error), error)
	// Files resolves a fileset.
	Files func(text string) (*fileset.Set, error)
	// WorkspaceRoot returns where a workspace lies, or "".
	WorkspaceRoot func(name string) (string, error)
	// WebURL returns the address of a remote's pages, or "".
	WebURL func(remote string) string
	// Verify checks the signature of a signed commit.
	Verify func(ctx context.Context, c *repo.Commit) (Verification, error)
	Base   *template.Language

	Commit, CommitOpt, CommitList            *template.Type
	Ref, RefList                             *template.Type
	Symbol, SymbolOpt                        *template.Type
	WorkspaceRef, WorkspaceRefList           *template.Type
	ChangeID, CommitID, Shortest             *template.Type
	RepoPath, RepoPathOpt                    *template.Type
	TreeDiff, TreeDiffEntry, TreeDiffEntries *template.Type
	TreeEntry, TreeEntries                   *template.Type
	Stats, StatEntry, StatEntries            *template.Type
	SignatureOpt                             *template.Type
	Trailer, Trailers                        *template.Type
	Annotation                               *template.Type
	Evolution                                *template.Type
	Operation, OperationOpt, OperationList   *template.Type
	OperationID                              *template.Type

	visible   repo.PosSet
	bookmarks map[repo.CommitID][]*Ref
	tags      map[repo.CommitID][]*Ref
	CurrentOp repo.OperationID
}

// Bind makes the types. Call it once after setting the fields.
func (l *Lang) Bind(ctx context.Context) {
	l.Commit = &template.Type{Name: "Commit", Methods: func() map[string]template.Method { return l.commitMethods(ctx) }, JSON: commitJSON}
	l.CommitOpt, l.CommitList = template.Option(l.Commit), template.List(l.Commit, " ")
	l.bindRefs(ctx)
	l.bindIDs()
	l.bindTrees(ctx)
	l.bindOperations(ctx)
	fs := map[string]func(b *template.Builder, n *dsl.Node) (*template.Expr, error){}
	for k, v := range l.Base.Functions {
		fs[k] = v
	}
	fs["git_web_url"] = l.gitWebURL
	l.Base.Functions = fs
}

func (l *Lang) gitWebURL(b *template.Builder, n *dsl.Node) (*template.Expr, error) {
	args, err := n.ExpectNamed(0, 1, "remote")
	if err != nil {
		return nil, err
	}
	remote := func() (string, error) { return "origin", nil }
	if args[0] != nil {
		if remote, err = b.Stringed(args[0]); err != nil {
			return nil, err
		}
	}
	return template.Value(template.StringType, func() (any, error) {
		r, err := remote()
		if err != nil || l.WebURL == nil {
			return "", err
		}
		return l.WebURL(r), nil
	}), nil
}

func commitJSON(v any) any {
	c := v.(*repo.Commit)
	parents := []any{}
	for _, p := range c.Parents {
		parents = append(parents, p.Hex())
	}
	return template.Object{
		{Key: "commit_id", Value: c.ID.Hex()}, {Key: "parents", Value: parents}, {Key: "change_id", Value: c.ChangeID.String()},
		{Key: "description", Value: c.Description},
		{Key: "author", Value: template.SignatureType.JSON(c.Author)}, {Key: "committer", Value: template.SignatureType.JSON(c.Committer)},
	}
}

func (l *Lang) isVisible(id repo.CommitID) bool {
	if l.visible == nil {
		var heads []repo.Pos
		for h := range l.Repo.View.Heads {
			if p, ok := l.Repo.Index.Pos(h); ok {
				heads = append(heads, p)
			}
		}
		l.visible = l.Repo.Index.Ancestors(heads)
	}
	p, ok := l.Repo.Index.Pos(id)
	return ok && l.visible.Has(p)
}

// targets lists the commits of a change, latest first, and which are visible.
func (l *Lang) targets(c *repo.Commit) (ids []repo.CommitID, visible int) {
	ps := l.Repo.Index.ChangePositions(c.ChangeID)
	for i := len(ps) - 1; i >= 0; i-- {
		id := l.Repo.Index.ID(ps[i])
		ids = append(ids, id)
		if l.isVisible(id) {
			visible++
		}
	}
	return ids, visible
}
