package repo

import "context"

// Repo is a repository as it is at one operation. It does not change.
type Repo struct {
	Store     Store
	Operation *Operation
	View      *View
	Index     *Index
}

// Workspace is the working-copy commit of a workspace.
func (r *Repo) Workspace(ctx context.Context, name string) (*Commit, error) {
	id, ok := r.View.Workspaces[name]
	if !ok {
		return nil, &MissingError{"workspace", name}
	}
	return r.Store.Commit(ctx, id)
}

// IsVisible says whether a commit is an ancestor of a head.
func (r *Repo) IsVisible(id CommitID) bool {
	for head := range r.View.Heads {
		if r.Index.IsAncestor(id, head) {
			return true
		}
	}
	return false
}
