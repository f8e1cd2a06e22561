package annotate

import (
	"bytes"
	"context"
	"slices"

	"tandem/internal/repo"
	"tandem/internal/repo/diff"
	"tandem/internal/repo/revset"
)

// Origin is where a line was when it first appeared.
type Origin struct {
	Commit repo.CommitID
	Line   int  // from 0
	Known  bool // false: the search stopped at Commit, outside of where it may look
}

// place ties a line of a commit's file to a line of the text that is annotated.
type place struct{ here, start int }

// version is the file at one commit, with the lines whose origin is still
// looked for there or further back.
type version struct {
	text   []byte
	places []place
}

// search is one annotation under way.
type search struct {
	repo    *revset.Repo
	path    repo.Path
	origins []Origin
	open    map[repo.CommitID]*version
	stopped int // versions outside of the domain
}

// Lines says where the lines of text come from: the content of the file at a
// path in the commit given, or as it is about to be there. Only commits of the
// domain are looked into.
func Lines(ctx context.Context, r *revset.Repo, start repo.CommitID, path repo.Path, text []byte, domain *revset.Expr) ([]Origin, error) {
	s := &search{repo: r, path: path, open: map[repo.CommitID]*version{}}
	v := &version{text: text}
	for i := range diff.Lines(text) {
		v.places = append(v.places, place{i, i})
		s.origins = append(s.origins, Origin{Commit: start, Line: i})
	}
	s.open[start] = v
	heads := revset.Commits(start)
	keep := func(c *repo.Commit) (bool, error) {
		if c.ID == start {
			return true, nil
		}
		return s.touched(ctx, c)
	}
	x := revset.Union(heads, revset.And(domain, revset.Ancestors(heads)))
	err := r.WalkLinks(ctx, x, keep, func(p repo.Pos, links []revset.Link) (bool, error) {
		if err := s.visit(ctx, r.Index.ID(p), links); err != nil {
			return false, err
		}
		return len(s.open) > s.stopped, nil
	})
	return s.origins, err
}

// touched says whether a commit changes the file.
func (s *search) touched(ctx context.Context, c *repo.Commit) (bool, error) {
	before, err := repo.ParentTree(ctx, s.repo.Store, s.repo.Index, c)
	if err != nil {
		return false, err
	}
	was, err := repo.ValueAt(ctx, s.repo.Store, before, s.path)
	if err != nil {
		return false, err
	}
	is, err := repo.ValueAt(ctx, s.repo.Store, c.Tree, s.path)
	return err == nil && !was.Equal(is), err
}

// visit hands the lines of a commit on to the parents that have them; the rest
// is its own.
func (s *search) visit(ctx context.Context, id repo.CommitID, links []revset.Link) error {
	v := s.open[id]
	if v == nil {
		return nil
	}
	delete(s.open, id)
	for _, l := range links {
		parent := s.repo.Index.ID(l.To)
		pv := s.open[parent]
		if pv == nil {
			text, err := s.content(ctx, parent)
			if err != nil {
				return err
			}
			pv = &version{text: text}
		}
		v.passTo(pv)
		if len(pv.places) == 0 {
			delete(s.open, parent)
			continue
		}
		s.open[parent] = pv
		if l.Missing {
			for _, p := range pv.places {
				s.origins[p.start] = Origin{Commit: parent, Line: p.here}
			}
			s.stopped++
		}
	}
	for _, p := range v.places {
		s.origins[p.start] = Origin{id, p.here, true}
	}
	return nil
}

// passTo moves the lines that another version has too over to it.
func (v *version) passTo(to *version) {
	var left, moved []place
	rest := v.places
	here, there := 0, 0
	for _, h := range diff.ByLine(v.text, to.text).Hunks() {
		n, m := lines(h.Contents[0]), lines(h.Contents[1])
		for len(rest) > 0 && rest[0].here < here+n {
			p := rest[0]
			rest = rest[1:]
			if h.Matching {
				moved = append(moved, place{there + p.here - here, p.start})
			} else {
				left = append(left, p)
			}
		}
		here, there = here+n, there+m
	}
	v.places = left
	to.places = append(to.places, moved...)
	slices.SortStableFunc(to.places, func(a, b place) int {
		if a.here != b.here {
			return a.here - b.here
		}
		return a.start - b.start
	})
}

func lines(text []byte) int {
	n := bytes.Count(text, []byte{'\n'})
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// content is the file at a commit; conflicts are shown with markers.
func (s *search) content(ctx context.Context, id repo.CommitID) ([]byte, error) {
	c, err := s.repo.Store.Commit(ctx, id)
	if err != nil {
		return nil, err
	}
	return Content(ctx, s.repo.Store, c.Tree, s.path)
}

// Content is a file of a tree as it is annotated: a conflict with its markers,
// nothing for what is no file.
func Content(ctx context.Context, st repo.Store, tree repo.MergedTree, path repo.Path) ([]byte, error) {
	v, err := repo.ValueAt(ctx, st, tree, path)
	if err != nil {
		return nil, err
	}
	if t, ok := v.AsResolved(); ok {
		if !t.IsFile() {
			return nil, nil
		}
		return st.File(ctx, t.FileID())
	}
	fc, err := repo.ReadFileConflict(ctx, st, v, tree.Labels)
	if err != nil || fc == nil {
		return nil, err
	}
	return fc.Materialize(repo.DiffMarkers, repo.MarkerLen(fc.Contents)), nil
}
