package proof

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/testenv"
)

// make up starts the program, leaves the same one alone, and replaces an older
// one: drained, copied, started again with its data.
func TestMakeUp(t *testing.T) {
	newer := filepath.Join(testenv.Dir(t), "tandem")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-X tandem/internal/cli.version=9.9.9", "-o", newer, "tandem/cmd/tandem")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	home := testenv.Dir(t)
	port := fmt.Sprint(testenv.Port(t))
	env := testenv.Env(t, "HOME="+home, "TANDEM_PORT="+port, "TANDEM_API_TOKEN="+apiToken)
	up := func(program string) string {
		t.Helper()
		cmd := exec.Command(program, "up", "--replace")
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	t.Cleanup(func() {
		cmd := exec.Command(newer, "down")
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("down: %v\n%s", err, out)
		}
	})
	s := &server{t: t, home: home, data: filepath.Join(home, ".tandem"), url: "http://127.0.0.1:" + port, env: env, log: &lockedBuffer{}}
	first := up(testenv.Tandem(t))
	for _, want := range []string{"tandem is running", "signin?code=", `"mcpServers"`, "pin set"} {
		if !strings.Contains(first, want) {
			t.Errorf("it does not say %q:\n%s", want, first)
		}
	}
	if again := up(testenv.Tandem(t)); !strings.Contains(again, "tandem is running") || !strings.Contains(again, "signin?code=") {
		t.Errorf("the second time it says:\n%s", again)
	}
	if a := s.as(apiToken, "PUT", "/resource/kept", map[string]any{"value": "kept"}); a.status/100 != 2 {
		t.Fatal(a)
	}
	out := up(newer)
	if !strings.Contains(out, "replacing version") || !strings.Contains(out, "copy of the data is in") {
		t.Errorf("over an older one it says:\n%s", out)
	}
	if a := s.as(apiToken, "GET", "/resource/kept", nil); !strings.Contains(a.String(), "kept") {
		t.Errorf("afterwards: %s", a)
	}
	if a := s.as("", "GET", "/global/health", nil); !strings.Contains(a.String(), "9.9.9") {
		t.Errorf("it runs %s", a)
	}
	copies, err := filepath.Glob(filepath.Join(s.data, "copies", "*.db"))
	if err != nil || len(copies) != 1 {
		t.Errorf("copies: %v %v", copies, err)
	}
}
