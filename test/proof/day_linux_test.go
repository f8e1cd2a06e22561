package proof

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/testenv"
)

// leftOut are commands that the day cannot have as their example stands.
var leftOut = map[string]string{
	"serve":                  "it is what runs",
	"up":                     "it runs already",
	"down":                   "ends the day",
	"uninstall":              "ends the day",
	"service install":        "changes the machine",
	"service uninstall":      "changes the machine",
	"connector add":          "talks to the address it is given, which the example puts outside",
	"remote trust":           "talks to the address it is given, which the example puts outside",
	"login HOST:PORT#INVITE": "talks to the address it is given, which the example puts outside",
	"phone":                  "tells the service of the example, which is outside, that it will be told",
	"init":                   "talks to the address it is given, which the example puts outside",
	"space join":             "talks to the address it is given, which the example puts outside",
}

// Nothing calls home: on a whole day with every command once, idle after it, and
// started again when months have passed, no packet leaves loopback.
func TestNoPacketLeaves(t *testing.T) {
	q := quietNetwork(t)
	s := newServer(t)
	s.within(q)
	s.start()
	if out, err := s.typed("pin", "set"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := examples(t)
	for _, line := range lines {
		s.once(line)
	}
	idle := 10 * time.Minute
	if !testenv.Soak() {
		idle = 15 * time.Second
	}
	quiet := func() bool { return q.packets() == 0 }
	testenv.Stays(t, "no packet tries to leave", idle, quiet)
	s.stop()
	s.program = later(t, "2160h")
	s.start()
	s.must("audit", "verify")
	var key struct {
		At time.Time `json:"updated_at"`
	}
	if err := json.Unmarshal([]byte(s.must("resource", "put", "later", "1", "--json")), &key); err != nil ||
		time.Until(key.At) < 2000*time.Hour {
		t.Fatalf("its clock is not ahead: %v %v", key.At, err)
	}
	testenv.Stays(t, "no packet tries to leave three months later", idle/3, quiet)
	s.stop()
	t.Logf("%d commands, %s idle, and %s three months later", len(lines), idle, idle/3)
}

// later is the program with its clock ahead.
func later(t *testing.T, by string) string {
	t.Helper()
	path := filepath.Join(testenv.Dir(t), "tandem")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-X tandem/internal/daemon.ahead="+by, "-o", path, "./cmd/tandem")
	cmd.Dir, cmd.Env = root(t), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return path
}

// root is the checkout.
func root(t *testing.T) string {
	t.Helper()
	gomod, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(strings.TrimSpace(string(gomod)))
}

// once runs a command line on a terminal, as a person would, for a few seconds
// at most; some follow something and never end. A leading ~ is the server's
// home, as in a shell.
func (s *server) once(line []string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	for i, word := range line {
		if rest, ok := strings.CutPrefix(word, "~/"); ok {
			line[i] = filepath.Join(s.home, rest)
		}
	}
	out, err := s.typingUntil(ctx, pin, line...)
	s.t.Logf("tandem %s: %v", strings.Join(line, " "), err)
	if strings.Contains(out, "goroutine ") || strings.Contains(out, "internal error") {
		s.t.Errorf("tandem %s:\n%s", strings.Join(line, " "), out)
	}
}

// examples are the first example of every command in the reference, which is
// generated from the commands, so none is forgotten.
func examples(t *testing.T) [][]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root(t), "docs", "cli.md"))
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for _, section := range strings.Split(string(data), "\n### `tandem ")[1:] {
		title, _, _ := strings.Cut(section, "`")
		skip := false
		for name := range leftOut {
			skip = skip || title == name || strings.HasPrefix(title, name+" ")
		}
		_, code, ok := strings.Cut(section, "\n```\n")
		if skip {
			continue
		}
		line, _, _ := strings.Cut(strings.TrimSpace(code), "\n")
		line, isTandem := strings.CutPrefix(strings.TrimSpace(line), "tandem ")
		if !ok || !isTandem {
			t.Errorf("tandem %s has no example that begins with tandem", title)
			continue
		}
		all = append(all, words(line))
	}
	if len(all) < 20 {
		t.Fatalf("only %d examples", len(all))
	}
	return all
}
