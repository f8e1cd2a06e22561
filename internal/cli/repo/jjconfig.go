package repo

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tandem/internal/cli/jj/config"
	"tandem/internal/cli/kit"
	model "tandem/internal/repo"
)

// workspaceConfig is what stock jj is told when somebody runs it in a workspace:
// mend stale files by itself, need no file watcher, leave others' working copies
// alone. Those that stand on ours do not freeze it: they follow when it changes.
const workspaceConfig = `[snapshot]
auto-update-stale = true

[fsmonitor]
backend = "none"

[revset-aliases]
"immutable_heads()" = "builtin_immutable_heads() | (working_copies() ~ @::)"
`

func lookup(env []string, key string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], key+"="); ok {
			return v
		}
	}
	return ""
}

func configDir(k *kit.Kit) string {
	if d := lookup(k.Env, "XDG_CONFIG_HOME"); d != "" {
		return filepath.Join(d, "jj")
	}
	if h := lookup(k.Env, "HOME"); h != "" {
		return filepath.Join(h, ".config", "jj")
	}
	return ""
}

// configure writes the settings of a copy where jj looks for them: in the
// user's folder, under an id that the copy names.
func configure(k *kit.Kit, repoDir string) error {
	dir := configDir(k)
	if dir == "" {
		return nil
	}
	random := make([]byte, 10)
	rand.Read(random) // never fails
	id := hex.EncodeToString(random)
	dir = filepath.Join(dir, "repos", id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// The one field of the metadata is the path that the settings belong to;
	// jj copies them when it finds the repository elsewhere.
	meta := append([]byte{0x0a, byte(len(repoDir))}, repoDir...)
	if n := len(repoDir); n > 127 {
		meta = append([]byte{0x0a, byte(n&0x7f | 0x80), byte(n >> 7)}, repoDir...)
	}
	for name, data := range map[string][]byte{"config.toml": []byte(workspaceConfig), "metadata.binpb": meta} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(repoDir, "config-id"), []byte(id), 0o600)
}

// identityOf is in whose name a workspace is made: what jj is configured to.
func identityOf(k *kit.Kit) *model.Identity {
	name, email := lookup(k.Env, "JJ_USER"), lookup(k.Env, "JJ_EMAIL")
	files := filepath.SplitList(lookup(k.Env, "JJ_CONFIG"))
	if len(files) == 0 {
		files = []string{filepath.Join(lookup(k.Env, "HOME"), ".jjconfig.toml"), filepath.Join(configDir(k), "config.toml")}
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			continue // absent, or a folder: jj itself will say so if it matters
		}
		table, err := config.ParseTOML(string(data))
		if err != nil {
			continue
		}
		stack := config.Stack{Layers: []config.Layer{{Source: config.User, Root: table}}}
		if v := stack.Str("user.name"); v != "" && lookup(k.Env, "JJ_USER") == "" {
			name = v
		}
		if v := stack.Str("user.email"); v != "" && lookup(k.Env, "JJ_EMAIL") == "" {
			email = v
		}
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	now := func() model.Timestamp {
		t := time.Now()
		_, offset := t.Zone()
		return model.Timestamp{Millis: t.UnixMilli(), Offset: int32(offset / 60)}
	}
	return &model.Identity{Name: name, Email: email, Hostname: host, Username: lookup(k.Env, "USER"),
		Now: now, OpNow: now, NewChangeID: model.RandomChangeID}
}
