// Package browsertest drives the panel in a real Chromium. A test names a
// script in its testdata folder; the script gets a page's address and a folder
// for screenshots, and answers with what it found, as JSON. Only tests import
// it.
package browsertest

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"tandem/internal/testenv"
)

// Shots is the folder in which a test's screenshots are kept.
func Shots(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(testenv.Tools(), "screenshots", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

//go:embed patient.cjs
var patient []byte

// silence is how long a script may do nothing that can be seen. How long it takes in all depends on how much it has to look at, and on
// what else the machine does; a single wait of a script's own is over after two minutes (see patient.cjs).
const silence = 5 * time.Minute

// Run runs a script with node, hands it in as JSON, and decodes its answer
// into out. A script may take as long as it goes on.
func Run(t *testing.T, script string, in, out any) {
	t.Helper()
	input, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	first := filepath.Join(testenv.Dir(t), "patient.cjs")
	if err := os.WriteFile(first, patient, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, testenv.Tool(t, "node"), "--require", first, script)
	cmd.Env = testenv.Env(t, "NODE_PATH="+testenv.NodeModules(t), "CHROMIUM="+testenv.Tool(t, "chromium"), "TZ=UTC")
	cmd.Stdin, cmd.WaitDelay = bytes.NewReader(input), 10*time.Second
	var stdout bytes.Buffer
	stderr := newWatched(silence, cancel)
	defer stderr.end()
	cmd.Stdout, cmd.Stderr = &stdout, stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v, %v\n%s%s", script, err, context.Cause(ctx), stderr.text.String(), stdout.String())
	}
	if err := json.Unmarshal(stdout.Bytes(), out); err != nil {
		t.Fatalf("%s answered %q: %v", script, stdout.String(), err)
	}
}
