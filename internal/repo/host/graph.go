package host

import (
	"context"
	"slices"
	"strings"
	"time"

	"tandem/internal/repo"
)

// GraphIn asks for the newest commits of a repository.
type GraphIn struct {
	Repo  string `json:"repo" jsonschema:"the repository, by name or id"`
	Limit int    `json:"limit,omitempty" jsonschema:"at most this many commits, 100 when left out, 1000 at most"`
}

// Node is a commit in the graph.
type Node struct {
	Commit      string    `json:"commit"`
	Change      string    `json:"change"`
	Description string    `json:"description"` // its first line
	Author      string    `json:"author"`
	When        time.Time `json:"when"`
	Parents     []string  `json:"parents"`
	Workspaces  []string  `json:"workspaces"` // whose working copy it is
	Bookmarks   []string  `json:"bookmarks"`
	Conflict    bool      `json:"conflict"`
	Divergent   bool      `json:"divergent"`
	Rail        string    `json:"rail"` // the lines of the graph beside it
}

// GraphOut is the commits, children before parents.
type GraphOut struct {
	Items []Node `json:"items"`
	More  bool   `json:"more"`
}

func (h *Host) graph(ctx context.Context, in GraphIn) (GraphOut, error) {
	out := GraphOut{Items: []Node{}}
	s, err := h.find(ctx, in.Repo)
	if err != nil {
		return out, err
	}
	limit := min(in.Limit, 1000)
	if limit <= 0 {
		limit = 100
	}
	head, _, _ := s.now()
	r, err := s.store.At(ctx, head)
	if err != nil {
		return out, err
	}
	visible := r.Index.Ancestors(r.Index.Positions(r.View.HeadIDs()))
	var lanes rails
	for p := repo.Pos(r.Index.Len()); p > 1; p-- {
		if !visible.Has(p - 1) {
			continue
		}
		if len(out.Items) == limit {
			out.More = true
			break
		}
		n, err := s.node(ctx, r, r.Index.ID(p-1))
		if err != nil {
			return out, err
		}
		n.Divergent = 1 < len(slices.DeleteFunc(r.Index.ChangePositions(r.Index.ChangeID(p-1)), func(q repo.Pos) bool { return !visible.Has(q) }))
		n.Rail = lanes.next(n)
		out.Items = append(out.Items, n)
	}
	return out, nil
}

func (s *served) node(ctx context.Context, r *repo.Repo, id repo.CommitID) (Node, error) {
	c, err := s.store.Commit(ctx, id)
	if err != nil {
		return Node{}, err
	}
	first, _, _ := strings.Cut(c.Description, "\n")
	n := Node{Commit: id.Hex(), Change: c.ChangeID.String(), Description: first, Author: c.Author.Email,
		When:    time.UnixMilli(c.Committer.When.Millis).UTC(),
		Parents: []string{}, Workspaces: []string{}, Bookmarks: []string{}, Conflict: c.Tree.HasConflict()}
	for _, p := range c.Parents {
		n.Parents = append(n.Parents, p.Hex())
	}
	for name, at := range r.View.Workspaces {
		if at == id {
			n.Workspaces = append(n.Workspaces, name)
		}
	}
	for name, t := range r.View.Bookmarks {
		if slices.Contains(repo.TargetIDs(t), id) {
			n.Bookmarks = append(n.Bookmarks, name)
		}
	}
	slices.Sort(n.Workspaces)
	slices.Sort(n.Bookmarks)
	return n, nil
}

// rails are the commits that the lines of the graph lead down to.
type rails []string

// next is the line of a commit; its parents are awaited below.
func (l *rails) next(n Node) string {
	at := slices.Index(*l, n.Commit)
	if at < 0 {
		at = len(*l)
		*l = append(*l, n.Commit)
	}
	var b strings.Builder
	for i := range *l {
		switch {
		case i != at:
			b.WriteString("│ ")
		case len(n.Workspaces) > 0:
			b.WriteString("@ ")
		case n.Conflict:
			b.WriteString("× ")
		default:
			b.WriteString("○ ")
		}
	}
	rest := slices.Delete(slices.Clone(*l), at, at+1)
	for i, p := range n.Parents {
		if !slices.Contains(rest, p) {
			rest = slices.Insert(rest, min(at+i, len(rest)), p)
		}
	}
	*l = rest
	return strings.TrimRight(b.String(), " ")
}
