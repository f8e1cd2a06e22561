package host

import (
	"context"
	"slices"

	"tandem/internal/op"
	"tandem/internal/repo"
)

// findRewrites finds what a push hides and what it brings.
func (j *judgement) findRewrites() {
	ix := j.r.Index
	old, now := ix.Positions(j.was.HeadIDs()), ix.Positions(j.r.View.HeadIDs())
	j.gone = map[repo.CommitID]struct{}{}
	for _, p := range ix.Range(now, old) {
		j.gone[ix.ID(p)] = struct{}{}
	}
	j.became = map[repo.ChangeID][]repo.CommitID{}
	for _, p := range ix.Range(old, now) {
		change := ix.ChangeID(p)
		j.became[change] = append(j.became[change], ix.ID(p))
	}
}

// commits: one's own may become anything; another's may only follow what they
// stand on, unless the caller has the right to run on NAME/rewrite.
func (j *judgement) commits(ctx context.Context) error {
	if j.admin || op.Allowed(j.ctx, "repo.run", repoAt(j.s.name, "rewrite")) {
		return nil
	}
	right := repoAt(j.s.name, "rewrite")
	for id := range j.gone {
		p, _ := j.r.Index.Pos(id)
		change := j.r.Index.ChangeID(p)
		of, known := j.s.authors.of[change]
		if j.mine(of, known) {
			continue
		}
		now := j.became[change]
		if len(now) == 0 {
			return j.needsRight(right, "the change %.12s is %s, and it would be abandoned", change, whose(of, known))
		}
		for _, n := range now {
			follows, err := j.follows(ctx, id, n)
			if err != nil {
				return err
			}
			if !follows {
				return j.needsRight(right, "the change %.12s is %s, and it was changed by more than a rebase of what stands on your own", change,
					whose(of, known))
			}
		}
	}
	return nil
}

// follows says whether a commit is another one, rebased because what it stands
// on was rewritten, as a merge here would rebase it: same change, author and
// description, parents that its own became, and the tree that we get.
func (j *judgement) follows(ctx context.Context, old, now repo.CommitID) (bool, error) {
	a, err := j.r.Store.Commit(ctx, old)
	if err != nil {
		return false, err
	}
	b, err := j.r.Store.Commit(ctx, now)
	if err != nil {
		return false, err
	}
	if a.ChangeID != b.ChangeID || a.Description != b.Description || a.Author.Name != b.Author.Name || a.Author.Email != b.Author.Email {
		return false, nil
	}
	if ok, err := j.parentsFollow(ctx, a.Parents, b.Parents); err != nil || !ok {
		return false, err
	}
	try := *j.r
	try.Store = repo.NewOverlay(j.r.Store)
	d, err := try.Begin(j.s.who).NewMove(a, b.Parents).RebaseDraft(ctx, repo.RebaseOptions{})
	if err != nil {
		return false, err
	}
	return d.Tree.SameIDs(b.Tree), nil
}

// parentsFollow says whether parents are what others became: the same where
// they are still there, else what replaced them, else what they stood on.
func (j *judgement) parentsFollow(ctx context.Context, old, now []repo.CommitID) (bool, error) {
	may := map[repo.CommitID]bool{}
	seen := map[repo.CommitID]bool{}
	stack := slices.Clone(old)
	for len(stack) > 0 {
		id := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[id] {
			continue
		}
		seen[id] = true
		if _, gone := j.gone[id]; !gone {
			may[id] = true
			continue
		}
		c, err := j.r.Store.Commit(ctx, id)
		if err != nil {
			return false, err
		}
		if now := j.became[c.ChangeID]; len(now) > 0 {
			for _, n := range now {
				may[n] = true
			}
			continue
		}
		stack = append(stack, c.Parents...)
	}
	for _, id := range now {
		if !may[id] {
			return false, nil
		}
		delete(may, id)
	}
	delete(may, repo.RootCommitID) // it adds nothing beside others
	return len(may) == 0 || j.divergent(may), nil
}

// divergent says whether what was left out are other versions of changes.
func (j *judgement) divergent(left map[repo.CommitID]bool) bool {
	for id := range left {
		p, ok := j.r.Index.Pos(id)
		if !ok || len(j.became[j.r.Index.ChangeID(p)]) < 2 {
			return false
		}
	}
	return true
}
