package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// jjVersion is the stock jj that scripts/tools-jj builds.
const jjVersion = "0.45.1"

// cached says where a program lies below the cache of test programs. Other
// programs come from the system's packages.
var cached = map[string]string{
	"jj":           "jj-" + jjVersion + "/bin/jj",
	"claude":       "npm/node_modules/.bin/claude",
	"codex":        "npm/node_modules/.bin/codex",
	"opencode":     "npm/node_modules/.bin/opencode",
	"python":       "python/bin/python",
	"schemathesis": "python/bin/schemathesis",
}

// Tools is the folder where make test-tools keeps what it installs.
func Tools() string {
	if dir := os.Getenv("TANDEM_TEST_TOOLS"); dir != "" {
		return dir
	}
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		cache = filepath.Join(os.Getenv("HOME"), ".cache") // as scripts/test-tools has it, on every system
	}
	return filepath.Join(cache, "tandem-test")
}

// Tool is the path of a program that tests drive, such as "jj", "claude",
// "tmux" or "chromium". It fails the test when the program is missing.
func Tool(t testing.TB, name string) string {
	t.Helper()
	if below, ok := cached[name]; ok {
		return must(t, name, filepath.Join(Tools(), filepath.FromSlash(below)))
	}
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	for _, dir := range []string{"/usr/sbin", "/sbin"} { // not on every user's path
		if path := filepath.Join(dir, name); executable(path) {
			return path
		}
	}
	t.Fatalf("%s is missing: run make test-tools", name)
	return ""
}

// NodeModules is the folder of npm packages that tests load (playwright-core,
// axe-core, the published SDK).
func NodeModules(t testing.TB) string {
	t.Helper()
	return must(t, "node_modules", filepath.Join(Tools(), "npm", "node_modules"))
}

func must(t testing.TB, name, path string) string {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s is missing (%v): run make test-tools", name, err)
	}
	return path
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir() && info.Mode()&0o111 != 0
}
