package tool

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/internal/tool/box"
)

// Without the network a box reads what the person has downloaded; with it, as agents' programs have it, what is missing goes to the
// folder's own caches, and a `go get` does not end at a read-only file system. What the program keeps for itself nobody sets.
func TestWear(t *testing.T) {
	home, folder := t.TempDir(), t.TempDir()
	for _, dir := range []string{"go/pkg/mod", ".cargo/registry", ".m2/repository", ".nvm/versions/node/v1/bin"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	bin := filepath.Join(home, ".nvm/versions/node/v1/bin")
	if err := os.WriteFile(filepath.Join(bin, "node"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	k := FindKit(home, bin, filepath.Join(t.TempDir(), "caches"))
	scope := NewScope([]Folder{{Path: folder, Outfit: Outfit{Path: []string{"/given"},
		Env: []string{"LANG=x", "HOME=" + folder, "GOFLAGS=-v"}}}})
	wear := func(network bool, who Wearer) (b box.Box, env map[string]string) {
		t.Helper()
		who.Folder = folder
		b = box.Box{Env: []string{"LANG=C", "PATH=/own"}, Network: network}
		if err := k.Wear(&b, scope, who); err != nil {
			t.Fatal(err)
		}
		env = map[string]string{}
		for _, kv := range b.Env {
			name, value, _ := strings.Cut(kv, "=")
			if _, twice := env[name]; twice {
				t.Errorf("%s is set twice: %q", name, b.Env)
			}
			env[name] = value
		}
		return b, env
	}
	writable := func(b box.Box, path string) bool {
		for _, m := range slices.Backward(b.Mounts) {
			if at := m.At; box.Below(at, path) && at != "" || at == "" && box.Below(m.From, path) {
				return m.Write
			}
		}
		return false
	}
	b, env := wear(false, Wearer{})
	if env["PATH"] != "/given:"+bin+":/own" || env["LANG"] != "x" || env["HOME"] != folder || env["GOFLAGS"] != "-v" {
		t.Errorf("%v", env)
	}
	if env["GOMODCACHE"] != filepath.Join(home, "go/pkg/mod") ||
		env["CARGO_NET_OFFLINE"] != "true" || !strings.HasPrefix(env["MAVEN_ARGS"], "-o ") {
		t.Errorf("without the network: %v", env)
	}
	if !writable(b, env["GOCACHE"]) || writable(b, env["GOMODCACHE"]) || writable(b, filepath.Join(env["CARGO_HOME"], "registry")) {
		t.Errorf("%+v", b.Mounts)
	}
	b, env = wear(true, Wearer{CachesAt: "/tmp/caches", Keeps: func(name string) bool { return name == "HOME" || name == "XDG_CACHE_HOME" }})
	if env["HOME"] != "" || env["XDG_CACHE_HOME"] != "" || env["GOCACHE"] != "/tmp/caches/go-build" {
		t.Errorf("a program's own: %v", env)
	}
	if env["CARGO_NET_OFFLINE"]+env["GOTOOLCHAIN"] != "" || strings.HasPrefix(env["MAVEN_ARGS"], "-o ") ||
		env["GOPROXY"] != "" || !writable(b, env["GOMODCACHE"]) ||
		!writable(b, filepath.Join(env["CARGO_HOME"], "registry")) || writable(b, filepath.Join(home, "go/pkg/mod")) {
		t.Errorf("with the network: %v %+v", env, b.Mounts)
	}
}
