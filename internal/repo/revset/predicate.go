package revset

import (
	"errors"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/fileset"
)

var errNoTrees = errors.New("revset: file contents are not available here")

// test asks one commit.
func (ev *evaluator) test(p *predicate, c *repo.Commit) (bool, error) {
	switch p.field {
	case "description":
		return p.str.Match(c.Description), nil
	case "subject":
		line, _, _ := strings.Cut(c.Description, "\n")
		return p.str.Match(line), nil
	case "author_name":
		return p.str.Match(c.Author.Name), nil
	case "author_email":
		return p.str.Match(c.Author.Email), nil
	case "committer_name":
		return p.str.Match(c.Committer.Name), nil
	case "committer_email":
		return p.str.Match(c.Committer.Email), nil
	case "author_date":
		return p.date.Match(c.Author.When.Millis), nil
	case "committer_date":
		return p.date.Match(c.Committer.When.Millis), nil
	case "merges":
		return len(c.Parents) > 1, nil
	case "signed":
		return c.Signed != nil, nil
	case "conflicts":
		return c.Tree.HasConflict(), nil
	case "empty":
		if ev.r.Changes == nil {
			return false, errNoTrees
		}
		changes, err := ev.r.Changes(c, fileset.All())
		return !changes, err
	case "files":
		if ev.r.Changes == nil {
			return false, errNoTrees
		}
		return ev.r.Changes(c, p.files)
	}
	if ev.r.Lines == nil {
		return false, errNoTrees
	}
	found := false
	err := ev.r.Lines(c, p.files.Match, func(side int, line string) bool {
		if (p.side == 0 || p.side == side) && p.str.Match(line) {
			found = true
		}
		return !found
	})
	return found, err
}
