package jj

import (
	"context"
	"path/filepath"
	"slices"

	"tandem/internal/repo/gitstore"
)

// recordWorkspace remembers where a workspace lies.
func recordWorkspace(ctx context.Context, s *gitstore.Store, name, root string) error {
	rel, err := filepath.Rel(s.Dir(), root)
	if err != nil {
		rel = root
	}
	return s.SetWorkspaces(ctx, func(list []gitstore.Workspace) []gitstore.Workspace {
		list = slices.DeleteFunc(list, func(w gitstore.Workspace) bool { return w.Name == name })
		return append(list, gitstore.Workspace{Name: name, Path: filepath.ToSlash(rel)})
	})
}

// workspacePath is where a workspace lies, or "".
func (st *state) workspacePath(name string) (string, error) {
	list, err := st.store.Workspaces()
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(list, func(x gitstore.Workspace) bool { return x.Name == name })
	switch {
	case i < 0:
		return "", nil
	case filepath.IsAbs(list[i].Path):
		return list[i].Path, nil
	}
	return filepath.Join(st.ws.repoDir, filepath.FromSlash(list[i].Path)), nil
}
