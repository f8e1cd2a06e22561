// The settings of repositories and workspaces, where jj 0.45.1 keeps them: outside the repository, so that a repository
// from elsewhere brings none.

package jj

import (
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tandem/internal/jj/config"
	"tandem/internal/repo"
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

// makeScopedConfig is the file of a repository's or workspace's settings; the
// folder and the id are made when they are absent. It is "" outside of a
// repository.
func (e *env) makeScopedConfig(src config.Source) (string, error) {
	if e.ws == nil || e.ws.err != nil || e.configDir() == "" {
		return "", nil
	}
	if path := e.scopedConfig(src); path != "" {
		return path, nil
	}
	next := repo.RandomChangeID
	if seed, err := strconv.ParseUint(e.io.getenv("JJ_RANDOMNESS_SEED"), 10, 64); err == nil {
		next = repo.SeededChangeIDs(seed)
	}
	name := hex.EncodeToString([]byte(next())[:10])
	dir := filepath.Join(e.configDir(), scopeDir(src), name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	// The note of where the repository lies: field 1, bytes.
	of := filepath.Dir(e.idFile(src))
	note := append(binary.AppendUvarint([]byte{0x0a}, uint64(len(of))), of...)
	if err := os.WriteFile(filepath.Join(dir, "metadata.binpb"), note, 0o644); err != nil {
		return "", err
	}
	return filepath.Join(dir, "config.toml"), os.WriteFile(e.idFile(src), []byte(name), 0o644)
}
