package host

import (
	"context"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/op"
	"tandem/internal/repo"
)

// settled is how many operations in a row must hold nothing new before those further back are taken as known.
const settled = 256

// recall gives changes, workspaces and bookmarks back to those who made them, where the database is older than the repository: it was
// restored from a copy, and the folder was not. Operations name their actor, which was compared when they came; without this, work since
// the copy would be the server's own, and those who did it could not go on.
func (h *Host) recall(ctx context.Context, s *served) error {
	head, _, _ := s.now()
	owners, err := h.owners(ctx, s)
	if err != nil {
		return err
	}
	b := &returned{h: h, s: s, owners: owners, by: map[string]author{}, places: map[string]author{}}
	fresh := map[repo.ChangeID]author{}
	seen := map[repo.OperationID]bool{}
	calm := 0
	for queue := []repo.OperationID{head}; len(queue) > 0 && calm < settled; {
		id := queue[0]
		queue = queue[1:]
		if seen[id] || id == repo.RootOperationID {
			continue
		}
		seen[id] = true
		o, err := s.store.Operation(ctx, id)
		if err != nil {
			h.Log.Warn("look who made the newest changes", "repo", s.name, "err", err)
			break
		}
		queue = append(queue, o.Parents...)
		b.ops = append(b.ops, o)
		calm++
		if name := o.Meta.Attributes["tandem.actor"]; name == "" || strings.Contains(name, ",") || o.Meta.Username == serverUser {
			continue
		}
		for commit, before := range o.Predecessors {
			change, made := s.makes(ctx, commit, before)
			if _, known := s.authors.of[change]; known || !made {
				continue
			}
			a, ok, err := b.who(ctx, o)
			if err != nil {
				return err
			}
			if ok {
				fresh[change], calm = a, 0
				if _, owned := owners[o.Meta.Workspace]; !owned && o.Meta.Workspace != "" {
					b.places[o.Meta.Workspace] = a
				}
			}
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	h.Log.Warn("the database is older than the repository: what was done since is given back to those who did it", "repo", s.name,
		"changes", len(fresh))
	if err := h.storeAuthors(ctx, s, fresh); err != nil {
		return err
	}
	return b.recallNames(ctx)
}

// makes says which change a commit is of, and whether its operation began that change: none of the commits that it replaces is of it.
func (s *served) makes(ctx context.Context, commit repo.CommitID, before []repo.CommitID) (repo.ChangeID, bool) {
	c, err := s.store.Commit(ctx, commit)
	if err != nil { // collected since
		return repo.ChangeID(""), false
	}
	for _, id := range before {
		if was, err := s.store.Commit(ctx, id); err != nil || was.ChangeID == c.ChangeID {
			return c.ChangeID, false
		}
	}
	return c.ChangeID, true
}

// recallNames gives workspaces and bookmarks back that the newest operations brought.
func (b *returned) recallNames(ctx context.Context) error {
	now, err := b.s.store.View(ctx, b.ops[0].View)
	if err != nil {
		return err
	}
	older, err := b.s.store.View(ctx, b.ops[len(b.ops)-1].View)
	if err != nil {
		return err
	}
	err = b.h.DB.Write(ctx, func(tx *db.Tx) error { return b.h.give(tx, b.s, op.CallerFrom(ctx), b.placesIn(now)) })
	if err != nil {
		return err
	}
	b.current = &repo.Repo{View: older}
	slices.Reverse(b.ops)
	return b.keepRefs(ctx, now)
}
