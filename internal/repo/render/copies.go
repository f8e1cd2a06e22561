package render

import (
	"context"
	"tandem/internal/repo"
)

// Copies says which files came from which others. The zero value knows of none.
type Copies struct {
	origin map[repo.Path]repo.Path // "" where commits disagree
	source map[repo.Path]bool
}

func (c *Copies) add(from, to repo.Path) {
	old, known := c.origin[to]
	switch {
	case known && old == from:
		return
	case known:
		c.origin[to] = ""
	default:
		c.origin[to] = from
	}
	c.source[from] = true
}

// CopiesBetween looks for copies from each of some commits to each of others, as
// for merges and ranges, among the files that match (nil is all). A file with
// more than one origin has none.
func CopiesBetween(ctx context.Context, s repo.Store, from, to []*repo.Commit, match repo.Matcher) (Copies, error) {
	out := Copies{origin: map[repo.Path]repo.Path{}, source: map[repo.Path]bool{}}
	for _, a := range from {
		for _, b := range to {
			err := FindRewrites(ctx, s, a, b, func(from, to repo.Path) {
				if match == nil || match.Match(to) {
					out.add(from, to)
				}
			})
			if err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// CopiesOf finds what a commit copied or renamed, against each of its parents.
func CopiesOf(ctx context.Context, s repo.Store, c *repo.Commit, match repo.Matcher) (Copies, error) {
	var parents []*repo.Commit
	for _, id := range c.Parents {
		p, err := s.Commit(ctx, id)
		if err != nil {
			return Copies{}, err
		}
		parents = append(parents, p)
	}
	return CopiesBetween(ctx, s, parents, []*repo.Commit{c}, match)
}
