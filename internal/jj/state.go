package jj

import (
	"context"
	"fmt"

	"tandem/internal/repo"
	"tandem/internal/repo/fileset"
	"tandem/internal/repo/gitstore"
)

// state is the repository at an operation, as the workspace of this name has
// it. A session has one: whoever publishes moves it on for all parts.
type state struct {
	*env
	store *gitstore.Store
	repo  *repo.Repo
	name  string // of the workspace
}

func (st *state) paths() fileset.Paths { return fileset.Paths{Cwd: st.io.Dir, Root: st.ws.root} }

// wcCommit is the workspace's commit, or nil when it has none.
func (st *state) wcCommit(ctx context.Context) (*repo.Commit, error) {
	id, ok := st.repo.View.Workspaces[st.name]
	if !ok {
		return nil, nil
	}
	return st.store.Commit(ctx, id)
}

func (st *state) markerStyle() (repo.MarkerStyle, error) {
	s := st.conf.Str("ui.conflict-marker-style")
	styles := map[string]repo.MarkerStyle{"diff": repo.DiffMarkers, "diff-experimental": repo.DiffFirstSnapshotMarkers,
		"snapshot": repo.SnapshotMarkers, "git": repo.GitMarkers}
	if st, ok := styles[s]; ok {
		return st, nil
	}
	return 0, st.conf.Mistyped("ui.conflict-marker-style",
		fmt.Errorf("unknown variant `%s`, expected one of `diff`, `diff-experimental`, `snapshot`, `git`", s))
}
