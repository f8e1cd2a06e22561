package repo

import (
	"crypto/rand"
	"encoding/hex"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/internal/cli/kit"
	"tandem/internal/jj/config"
	model "tandem/internal/repo"
	"tandem/internal/repo/replica"
	"tandem/internal/wholefile"
)

// workspaceConfig is what a workspace's jj is told, ours and a stock one: mend
// stale files by itself, need no file watcher, and show in the log what everybody
// works on and where everybody is. What is another's is guarded by the server,
// which knows whose it is; nothing is hidden or frozen for it.
const workspaceConfig = `[snapshot]
auto-update-stale = true

[fsmonitor]
backend = "none"

[revsets]
log = "present(@) | ancestors(immutable_heads().., 2) | trunk() | working_copies()"
`

// hidingConfig is what workspaces were told before: it took others' working copies
// for immutable, which hid them from the log and froze what they stood on.
const hidingConfig = `[snapshot]
auto-update-stale = true

[fsmonitor]
backend = "none"

[revset-aliases]
"immutable_heads()" = "builtin_immutable_heads() | (working_copies() ~ @::)"
`

// reconfigure brings the settings of a copy that was made before up to date, where
// nobody changed them.
func reconfigure(k *kit.Kit, repoDir string) error {
	path := configFile(k, repoDir)
	if path == "" {
		return nil
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != hidingConfig {
		return nil // jj itself says what is wrong with it
	}
	return wholefile.Write(path, []byte(workspaceConfig))
}

// configFile is where the settings of a copy are, "" when it has none.
func configFile(k *kit.Kit, repoDir string) string {
	id, err := os.ReadFile(filepath.Join(repoDir, "config-id"))
	if dir := configDir(k); err == nil && dir != "" {
		return filepath.Join(dir, "repos", strings.TrimSpace(string(id)), "config.toml")
	}
	return ""
}

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

// configured is the name and the address that jj was told to write under, each
// "" where it was told none.
func configured(k *kit.Kit, more ...string) (name, email string) {
	name, email = lookup(k.Env, "JJ_USER"), lookup(k.Env, "JJ_EMAIL")
	files := filepath.SplitList(lookup(k.Env, "JJ_CONFIG"))
	if len(files) == 0 {
		files = []string{filepath.Join(lookup(k.Env, "HOME"), ".jjconfig.toml"), filepath.Join(configDir(k), "config.toml")}
	}
	for _, f := range append(files, more...) {
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
	return name, email
}

// signed is the environment with a name and an address to write under: where jj
// was told none, they are those of the actor that the server knows.
func signed(k *kit.Kit, repoDir, actor, server string) []string {
	name, email := configured(k, configFile(k, repoDir))
	if actor == "" || name != "" && email != "" {
		return k.Env
	}
	env := slices.Clone(k.Env)
	if name == "" {
		env = append(env, "JJ_USER="+actor)
	}
	if email == "" {
		env = append(env, "JJ_EMAIL="+addressOf(actor, server))
	}
	return env
}

// addressOf is an actor's address where it has no other: at its server.
func addressOf(actor, server string) string {
	host, _, err := net.SplitHostPort(server)
	if ip := net.ParseIP(host); err != nil || ip != nil && ip.IsLoopback() {
		host = "localhost"
	}
	return actor + "@" + host
}

// identityOf is in whose name a workspace is made: what jj is configured to, and where that is nobody the actor that the server knows.
func identityOf(k *kit.Kit, server string) replica.Signer {
	name, email := configured(k)
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	now := func() model.Timestamp {
		t := time.Now()
		_, offset := t.Zone()
		return model.Timestamp{Millis: t.UnixMilli(), Offset: int32(offset / 60)}
	}
	return func(actor string) *model.Identity {
		who := &model.Identity{Name: name, Email: email, Hostname: host, Username: lookup(k.Env, "USER"),
			Now: now, OpNow: now, NewChangeID: model.RandomChangeID}
		if actor != "" && who.Name == "" {
			who.Name = actor
		}
		if actor != "" && who.Email == "" {
			who.Email = addressOf(actor, server)
		}
		return who
	}
}
