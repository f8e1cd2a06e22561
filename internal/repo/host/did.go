package host

import (
	"context"
	"time"

	"tandem/internal/repo"
)

// Did is something that somebody did to a repository.
type Did struct {
	Operation   string `json:"operation"`
	Actor       string `json:"actor,omitempty"` // as the server judged it; the user's name for what was done in its own folder
	Workspace   string `json:"workspace,omitempty"`
	Command     string `json:"command,omitempty"` // as it was typed
	Description string `json:"description,omitempty"`
	Time        string `json:"time"`
}

// How far back news reaches, and how much of it is told at once.
const didBack, didMost = 500, 20

// did are the operations that people and agents made since another head, the
// newest first. What the server does by itself (merging, git's refs) is nobody's.
func (s *served) did(ctx context.Context, head, since repo.OperationID) (out []Did) {
	known := map[repo.OperationID]bool{}
	if since != "" {
		err := repo.WalkOperations(ctx, s.store, []repo.OperationID{since}, func(o *repo.Operation) (bool, error) {
			known[o.ID] = true
			return len(known) < didBack, nil
		})
		if err != nil {
			return nil
		}
	}
	seen := 0
	err := repo.WalkOperations(ctx, s.store, []repo.OperationID{head}, func(o *repo.Operation) (bool, error) {
		if seen++; seen > didBack {
			return false, nil
		}
		if known[o.ID] || len(o.Parents) != 1 || o.Meta.Username == serverUser {
			return true, nil
		}
		d := Did{Operation: o.ID.Hex(), Actor: o.Meta.Attributes["tandem.actor"], Workspace: o.Meta.Workspace, Command: o.Meta.Attributes["args"],
			Description: o.Meta.Description, Time: time.UnixMilli(o.Meta.End.Millis).UTC().Format(time.RFC3339Nano)}
		if d.Actor == "" {
			d.Actor = o.Meta.Username
		}
		out = append(out, d)
		return since != "" && len(out) < didMost, nil // whoever has just come hears the last thing
	})
	if err != nil {
		return nil
	}
	return out
}
