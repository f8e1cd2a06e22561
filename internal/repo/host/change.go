package host

import (
	"bytes"
	"context"
	"time"
	"unicode/utf8"

	"tandem/internal/fault"
	"tandem/internal/repo"
)

// ChangeIn names a commit.
type ChangeIn struct {
	Repo   string `json:"repo" jsonschema:"the repository, by name or id"`
	Commit string `json:"commit" jsonschema:"the commit's id, 40 digits"`
}

// ChangedPath is a file that a commit touches, as it was and as it is. A
// conflict is shown with its markers.
type ChangedPath struct {
	Status  string `json:"status"` // A added, M modified, D removed, C conflicted
	Path    string `json:"path"`
	Before  string `json:"before,omitempty"`
	After   string `json:"after,omitempty"`
	Omitted string `json:"omitted,omitempty"` // why the texts are not here
}

// ChangeOperation is an operation that made a version of the change.
type ChangeOperation struct {
	Operation   string    `json:"operation"`
	Description string    `json:"description"`
	Workspace   string    `json:"workspace,omitempty"`
	Actor       string    `json:"actor,omitempty"` // as the operation says; else the user's name
	When        time.Time `json:"when"`
	Commit      string    `json:"commit"` // the version that it made
}

// ChangeOut is a commit with what it touches and what led to it.
type ChangeOut struct {
	Node
	Text       string            `json:"text"` // the whole description
	Paths      []ChangedPath     `json:"paths"`
	More       bool              `json:"more"`
	Operations []ChangeOperation `json:"operations"` // latest first
}

const (
	maxPaths      = 500
	maxText       = 64 << 10  // of one file
	maxTexts      = 512 << 10 // of all
	maxOperations = 50
	maxWalk       = 2000 // operations looked at
)

func (h *Host) changeOf(ctx context.Context, in ChangeIn) (ChangeOut, error) {
	out := ChangeOut{Paths: []ChangedPath{}, Operations: []ChangeOperation{}}
	s, err := h.find(ctx, in.Repo)
	if err != nil {
		return out, err
	}
	head, _, _ := s.now()
	r, err := s.store.At(ctx, head)
	if err != nil {
		return out, err
	}
	id, ok := repo.ParseCommitID(in.Commit)
	if !ok || !r.Index.Has(id) {
		return out, fault.New(fault.NotFound, "repo.change", "there is no commit %q in %s", clip(in.Commit), s.name)
	}
	if out.Node, err = s.node(ctx, r, id); err != nil {
		return out, err
	}
	c, err := s.store.Commit(ctx, id)
	if err != nil {
		return out, err
	}
	out.Text = c.Description
	if err := s.paths(ctx, r, c, &out); err != nil {
		return out, err
	}
	out.Operations, err = s.operationsOf(ctx, r, c.ChangeID)
	return out, err
}

// paths lists what a commit touches, of what the caller may see.
func (s *served) paths(ctx context.Context, r *repo.Repo, c *repo.Commit, out *ChangeOut) error {
	base, err := repo.ParentTree(ctx, s.store, r.Index, c)
	if err != nil {
		return err
	}
	room := maxTexts
	listed := map[repo.Path]bool{}
	add := func(p repo.Path, before, after repo.Merge[repo.TreeValue]) error {
		listed[p] = true
		if !s.shows(ctx, string(p)) {
			return nil
		}
		if len(out.Paths) == maxPaths {
			out.More = true
			return nil
		}
		x := ChangedPath{Status: "M", Path: string(p)}
		switch {
		case !after.IsResolved():
			x.Status = "C"
		case !repo.IsPresent(before):
			x.Status = "A"
		case !repo.IsPresent(after):
			x.Status = "D"
		}
		a, err := repo.Content(ctx, s.store, before, base.Labels)
		if err != nil {
			return err
		}
		b, err := repo.Content(ctx, s.store, after, c.Tree.Labels)
		if err != nil {
			return err
		}
		switch {
		case !readable(a) || !readable(b):
			x.Omitted = "not text"
		case len(a) > maxText || len(b) > maxText || len(a)+len(b) > room:
			x.Omitted = "too long to show"
		default:
			x.Before, x.After = string(a), string(b)
			room -= len(a) + len(b)
		}
		out.Paths = append(out.Paths, x)
		return nil
	}
	if err := repo.DiffTrees(ctx, s.store, base, c.Tree, repo.Everything{}, add); err != nil {
		return err
	}
	// A merge inherits conflicts that it does not touch itself.
	nothing := repo.Merge[repo.TreeValue]{{}}
	return repo.Conflicts(ctx, s.store, c.Tree, repo.Everything{}, func(p repo.Path, v repo.Merge[repo.TreeValue]) error {
		if listed[p] {
			return nil
		}
		return add(p, nothing, v)
	})
}

func readable(text []byte) bool { return bytes.IndexByte(text, 0) < 0 && utf8.Valid(text) }

// operationsOf finds the operations that made versions of a change.
func (s *served) operationsOf(ctx context.Context, r *repo.Repo, change repo.ChangeID) ([]ChangeOperation, error) {
	out := []ChangeOperation{}
	versions := map[repo.CommitID]bool{}
	for _, p := range r.Index.ChangePositions(change) {
		versions[r.Index.ID(p)] = true
	}
	looked := 0
	err := repo.WalkOperations(ctx, s.store, []repo.OperationID{r.Operation.ID}, func(o *repo.Operation) (bool, error) {
		for id := range o.Predecessors {
			if !versions[id] {
				continue
			}
			x := ChangeOperation{Operation: o.ID.Hex(), Description: o.Meta.Description, Workspace: o.Meta.Workspace,
				Actor: o.Meta.Attributes["tandem.actor"], When: time.UnixMilli(o.Meta.End.Millis).UTC(), Commit: id.Hex()}
			if x.Actor == "" {
				x.Actor = o.Meta.Username
			}
			out = append(out, x)
			delete(versions, id)
		}
		looked++
		return len(versions) > 0 && len(out) < maxOperations && looked < maxWalk, ctx.Err()
	})
	return out, err
}
