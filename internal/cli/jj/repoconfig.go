package jj

import (
	"os"
	"path/filepath"
	"strings"

	"tandem/internal/cli/jj/config"
)

// The settings of a repository are kept in the user's folder under an id that
// the repository names, so that a downloaded repository cannot bring settings
// along.

// scopedConfig is the file of a repository's or workspace's settings, or ""
// when none was made yet.
func (e *env) scopedConfig(src config.Source) string {
	if e.ws == nil || e.ws.err != nil || e.configDir() == "" {
		return ""
	}
	id, err := os.ReadFile(e.idFile(src))
	if err != nil {
		return ""
	}
	name := strings.TrimSpace(string(id))
	if len(name) != 20 || strings.Trim(name, "0123456789abcdef") != "" {
		return ""
	}
	return filepath.Join(e.configDir(), scopeDir(src), name, "config.toml")
}

func scopeDir(src config.Source) string {
	if src == config.Repo {
		return "repos"
	}
	return "workspaces"
}

func (e *env) idFile(src config.Source) string {
	if src == config.Repo {
		return filepath.Join(e.ws.repoDir, "config-id")
	}
	return filepath.Join(e.ws.root, ".jj", "workspace-config-id")
}

func (e *env) addRepoLayers() error {
	for _, src := range []config.Source{config.Repo, config.Workspace} {
		if path := e.scopedConfig(src); path != "" {
			if err := e.addFile(src, path); err != nil {
				return err
			}
		}
	}
	return nil
}
