package compat_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/testenv"
)

// The two quick starts of the clients' documentation, word for word, on a fresh machine: the default address, the default model, nothing
// configured. Only the three dots that stand for the token are filled in. They run in a network of their own, where the port is free.
func TestQuickStarts(t *testing.T) {
	if testing.Short() {
		t.Skip("published clients are not part of the short run")
	}
	home := testenv.Dir(t)
	if err := os.Symlink(testenv.NodeModules(t), filepath.Join(home, "node_modules")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"quickstart.mjs", "quickstart.py"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, name), bytes.ReplaceAll(text, []byte(`"..."`), []byte(`"`+token+`"`)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 120*time.Second)
	defer cancel()
	script := `"$1" up >up.log 2>&1 || { cat up.log; exit 1; }; "$2" quickstart.mjs; echo; "$3" quickstart.py; echo; "$1" down >/dev/null`
	cmd := exec.CommandContext(ctx, testenv.Tool(t, "bwrap"), "--dev-bind", "/", "/", "--proc", "/proc", "--unshare-net", "--unshare-pid",
		"--die-with-parent", "--chdir", home, "--",
		"/bin/sh", "-c", script, "sh", testenv.Tandem(t), testenv.Tool(t, "node"), testenv.Tool(t, "python"))
	cmd.Env = append(testenv.Env(t), "HOME="+home, "TANDEM_API_TOKEN="+token)
	out, err := cmd.CombinedOutput()
	if want := "echo: Summarize README.md\necho: Summarize README.md"; err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("they printed %q, %v", out, err)
	}
}
