package revset

import (
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/dsl"
	"tandem/internal/repo/fileset"
	"tandem/internal/repo/pattern"
)

// predicate tests one commit.
type predicate struct {
	field string // description, subject, author_name, …
	str   *pattern.Expr
	date  pattern.Date
	files *fileset.Set
	side  int // of a diff: 0 either, -1 removed, +1 added
}

// functionNames lists the builtin functions, for suggestions.
var functionNames = []string{
	"parents", "children", "ancestors", "descendants", "first_parent", "first_ancestors", "connected", "reachable", "none",
	"all", "working_copies", "heads", "roots", "visible_heads", "root", "change_id", "commit_id", "bookmarks",
	"remote_bookmarks", "tracked_remote_bookmarks", "untracked_remote_bookmarks", "tags", "remote_tags",
	"tracked_remote_tags", "untracked_remote_tags", "latest", "fork_point", "merge_point", "bisect", "exactly", "merges",
	"forks", "description", "subject", "author", "author_name", "author_email", "author_date", "signed", "mine",
	"committer", "committer_name", "committer_email", "committer_date", "empty", "files", "diff_lines",
	"diff_lines_added", "diff_lines_removed", "diff_contains", "conflicts", "divergent", "present", "at_operation", "coalesce",
}

func (s *Scope) call(n *dsl.Node) (*Expr, error) {
	switch n.Name {
	case "none", "all", "working_copies", "visible_heads", "root", "forks", "divergent", "merges", "signed", "empty", "conflicts", "mine":
		if _, err := n.Expect(0, 0); err != nil {
			return nil, err
		}
		return s.nullary(n.Name)
	case "parents", "children", "ancestors", "descendants", "first_parent", "first_ancestors":
		return s.generations(n)
	case "connected", "heads", "roots", "fork_point", "merge_point", "bisect", "present":
		return s.unaryCall(n)
	case "reachable":
		args, err := n.Expect(2, 2)
		if err != nil {
			return nil, err
		}
		a, err := s.lowerAll(args)
		return &Expr{kind: kReachable, args: a}, err
	case "latest", "exactly":
		return s.counted(n)
	case "coalesce":
		args, err := n.ExpectSome(0)
		if err != nil {
			return nil, err
		}
		a, err := s.lowerAll(args)
		return &Expr{kind: kCoalesce, args: a}, err
	case "change_id", "commit_id":
		return s.idPrefix(n)
	case "at_operation":
		args, err := n.Expect(2, 2)
		if err != nil {
			return nil, err
		}
		op, _ := dsl.Skip(args[0])
		a, err := s.lower(args[1])
		return &Expr{kind: kAtOp, text: op.Span.Text(), args: []*Expr{a}}, err
	case "bookmarks", "tags", "remote_bookmarks", "tracked_remote_bookmarks", "untracked_remote_bookmarks", "remote_tags",
		"tracked_remote_tags", "untracked_remote_tags":
		return s.refCall(n)
	case "description", "subject", "author", "author_name", "author_email", "committer", "committer_name", "committer_email":
		return s.textFilter(n)
	case "author_date", "committer_date":
		args, err := n.Expect(1, 1)
		if err != nil {
			return nil, err
		}
		d, err := s.date(args[0])
		return &Expr{kind: kFilter, pred: &predicate{field: n.Name, date: d}}, err
	case "files", "diff_lines", "diff_contains", "diff_lines_added", "diff_lines_removed":
		return s.fileFilter(n)
	}
	err := dsl.NewError(dsl.NoSuchFunction, n.NameSpan, "Function `%s` doesn't exist", n.Name)
	err.Name, err.Candidates = n.Name, dsl.Similar(n.Name, functionNames)
	return nil, err
}

func (s *Scope) nullary(name string) (*Expr, error) {
	switch name {
	case "none":
		return None(), nil
	case "all":
		return All(), nil
	case "working_copies":
		return &Expr{kind: kWorkspaces}, nil
	case "visible_heads":
		return &Expr{kind: kVisibleHeads}, nil
	case "root":
		return Root(), nil
	case "forks":
		return &Expr{kind: kForks}, nil
	case "divergent":
		return &Expr{kind: kDivergent}, nil
	case "mine":
		p, err := pattern.New("exact-i", s.UserEmail)
		return &Expr{kind: kFilter, pred: &predicate{field: "author_email", str: pattern.One(p)}}, err
	}
	return &Expr{kind: kFilter, pred: &predicate{field: name}}, nil
}

func (s *Scope) generations(n *dsl.Node) (*Expr, error) {
	args, err := n.Expect(1, 2)
	if err != nil {
		return nil, err
	}
	a, err := s.lower(args[0])
	if err != nil {
		return nil, err
	}
	depth, given := uint32(1), args[1] != nil
	if given {
		if depth, err = integer(args[1]); err != nil {
			return nil, err
		}
	}
	e := &Expr{kind: kAncestors, args: []*Expr{a}, firstParent: strings.HasPrefix(n.Name, "first_")}
	if n.Name == "children" || n.Name == "descendants" {
		e.kind = kDescendants
	}
	switch n.Name {
	case "parents", "children", "first_parent":
		e.lo, e.hi = depth, depth+1
	default:
		e.hi = unbounded
		if given {
			e.hi = depth
		}
	}
	return e, nil
}

func (s *Scope) unaryCall(n *dsl.Node) (*Expr, error) {
	args, err := n.Expect(1, 1)
	if err != nil {
		return nil, err
	}
	a, err := s.lower(args[0])
	if err != nil {
		return nil, err
	}
	switch n.Name {
	case "connected":
		return &Expr{kind: kDagRange, args: []*Expr{a, a}}, nil
	case "heads":
		return Heads(a), nil
	case "roots":
		return Roots(a), nil
	case "fork_point":
		return &Expr{kind: kForkPoint, args: []*Expr{a}}, nil
	case "merge_point":
		return &Expr{kind: kMergePoint, args: []*Expr{a}}, nil
	case "bisect":
		return &Expr{kind: kBisect, args: []*Expr{a}}, nil
	}
	return &Expr{kind: kPresent, args: []*Expr{a}}, nil
}

func (s *Scope) counted(n *dsl.Node) (*Expr, error) {
	lo := 1
	if n.Name == "exactly" {
		lo = 2
	}
	args, err := n.Expect(lo, 2)
	if err != nil {
		return nil, err
	}
	a, err := s.lower(args[0])
	if err != nil {
		return nil, err
	}
	count := uint32(1)
	if args[1] != nil {
		if count, err = integer(args[1]); err != nil {
			return nil, err
		}
	}
	k := kLatest
	if n.Name == "exactly" {
		k = kExactly
	}
	return &Expr{kind: k, args: []*Expr{a}, n: count}, nil
}

func (s *Scope) idPrefix(n *dsl.Node) (e *Expr, err error) {
	args, err := n.Expect(1, 1)
	if err != nil {
		return nil, err
	}
	err = dsl.Catch(args[0], func(a *dsl.Node) error {
		what, k := "commit ID prefix", kCommitID
		if n.Name == "change_id" {
			what, k = "change ID prefix", kChangeID
		}
		v, err := literal(what, a)
		if err != nil {
			return err
		}
		hex, ok := strings.ToLower(v), isHex(v) || v == ""
		if k == kChangeID {
			hex, ok = repo.ForwardHex(v)
		}
		if !ok {
			return dsl.Exprf(a.Span, "Invalid %s", what)
		}
		e = &Expr{kind: k, text: hex}
		return nil
	})
	return e, err
}

func (s *Scope) refCall(n *dsl.Node) (*Expr, error) {
	r := &refPattern{tags: strings.HasSuffix(n.Name, "tags"), local: n.Name == "tags" || n.Name == "bookmarks"}
	all := func() *pattern.Expr { return pattern.One(pattern.All()) }
	r.name, r.remote = all(), all()
	max := 2
	if r.local {
		max = 1
	}
	args, err := n.ExpectNamed(0, max, "", "remote")
	if r.local {
		args, err = n.Expect(0, 1)
	}
	if err != nil {
		return nil, err
	}
	if args[0] != nil {
		if r.name, err = StringExpr(args[0]); err != nil {
			return nil, err
		}
	}
	if !r.local {
		if args[1] != nil {
			if r.remote, err = StringExpr(args[1]); err != nil {
				return nil, err
			}
		} else if s.IgnoredRemote != "" {
			r.remote = &pattern.Expr{Op: "~", Args: []*pattern.Expr{pattern.One(pattern.Exact(s.IgnoredRemote))}}
		}
	}
	if strings.HasPrefix(n.Name, "tracked") || strings.HasPrefix(n.Name, "untracked") {
		t := strings.HasPrefix(n.Name, "tracked")
		r.tracked = &t
	}
	return &Expr{kind: kRefs, refs: r}, nil
}

func (s *Scope) textFilter(n *dsl.Node) (*Expr, error) {
	args, err := n.Expect(1, 1)
	if err != nil {
		return nil, err
	}
	str, err := StringExpr(args[0])
	if err != nil {
		return nil, err
	}
	filter := func(field string) *Expr { return &Expr{kind: kFilter, pred: &predicate{field: field, str: str}} }
	if n.Name == "author" || n.Name == "committer" {
		return Union(filter(n.Name+"_name"), filter(n.Name+"_email")), nil
	}
	return filter(n.Name), nil
}

func (s *Scope) fileFilter(n *dsl.Node) (*Expr, error) {
	if n.Name == "files" {
		if s.Workspace == "" {
			return nil, dsl.NewError(dsl.NoWorkspace, n.ArgsSpan, "Cannot resolve file pattern without workspace")
		}
		args, err := n.Expect(1, 1)
		if err != nil {
			return nil, err
		}
		set, err := s.files(args[0], n.ArgsSpan)
		return &Expr{kind: kFilter, pred: &predicate{field: "files", files: set}}, err
	}
	args, err := n.Expect(1, 2)
	if err != nil {
		return nil, err
	}
	if n.Name == "diff_contains" && s.Warn != nil {
		s.Warn(dsl.Exprf(n.NameSpan, "diff_contains() is deprecated; use diff_lines() instead"))
	}
	p := &predicate{field: "diff_lines", files: fileset.All()}
	switch n.Name {
	case "diff_lines_added":
		p.side = 1
	case "diff_lines_removed":
		p.side = -1
	}
	if p.str, err = StringExpr(args[0]); err != nil {
		return nil, err
	}
	if args[1] != nil {
		if p.files, err = s.files(args[1], args[1].Span); err != nil {
			return nil, err
		}
	}
	return &Expr{kind: kFilter, pred: p}, nil
}
