package proof

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/internal/testenv"
)

// A workspace on another machine: beyond loopback everything is TLS with a key
// that the server made itself and the other side pins; git clones over HTTPS.
func TestWorkspaceOnAnotherMachine(t *testing.T) {
	if !inNetwork(t) {
		return
	}
	server, laptop := newBox(t, 1, "server"), newBox(t, 2, "laptop")
	project := filepath.Join(server.home, "project")
	server.must("down")
	server.must("up", "--listen", server.listen, "--repo", project)
	server.typed("pin", "set")
	invite := regexp.MustCompile(`#tdj_[A-Za-z0-9~_-]+`).FindString(server.typed("invite"))
	if invite == "" {
		t.Fatal("no invitation")
	}
	work := filepath.Join(laptop.home, "work")
	in := func(dir string, args ...string) string {
		t.Helper()
		cmd := laptop.command(context.Background(), args...)
		cmd.Dir = dir
		cmd.Env = append(cmd.Env, "JJ_USER=Laptop", "JJ_EMAIL=laptop@example.com")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tandem %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	in(laptop.home, "init", "--tandem-server", server.listen+invite, "--workspace", "laptop", work)
	text := []byte("from another machine\n")
	if err := os.WriteFile(filepath.Join(work, "f.txt"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	in(work, "commit", "-m", "over TLS")
	in(work, "bookmark", "create", "main", "-r", "@-")
	pins, err := os.ReadFile(filepath.Join(laptop.home, ".tandem", "known_servers"))
	if err != nil || !strings.Contains(string(pins), server.listen) {
		t.Errorf("the server's key is not pinned: %q %v", pins, err)
	}

	// git trusts the key that the server shows, and nobody gets in without a token.
	clone := func(url, to string) ([]byte, error) {
		line := append(slices.Clone(laptop.enter), "git", "-c", "http.sslCAInfo="+filepath.Join(server.home, ".tandem", "tls-cert.pem"), "clone",
			"--quiet", "--branch", "main", url, to)
		cmd := exec.Command(line[0], line[1:]...)
		cmd.Env = testenv.Env(t, "GIT_TERMINAL_PROMPT=0")
		return cmd.CombinedOutput()
	}
	if out, err := clone("https://"+server.listen+"/project.git", filepath.Join(laptop.home, "no")); err == nil {
		t.Errorf("a stranger cloned: %s", out)
	}
	token := regexp.MustCompile(`tdm_[A-Za-z0-9~_-]+`).FindString(server.typed("token", "show", "api"))
	if out, err := clone("https://x:"+token+"@"+server.listen+"/project.git", filepath.Join(laptop.home, "clone")); err != nil {
		t.Fatalf("clone: %v\n%s", err, out)
	}
	if got, err := os.ReadFile(filepath.Join(laptop.home, "clone", "f.txt")); err != nil || !bytes.Equal(got, text) {
		t.Errorf("the clone has %q, %v", got, err)
	}

	// The cable is pulled: work goes on, and goes up when it is back.
	laptop.cut()
	if out := in(work, "describe", "-m", "without a cable"); !strings.Contains(out, "to be sent") {
		t.Errorf("without a cable: %s", out)
	}
	laptop.mend()
	testenv.Eventually(t, "all is sent, with the cable again", 2*time.Minute, func() bool { // the bridge needs a moment
		return !strings.Contains(in(work, "st"), "to be sent")
	})
	if out := server.must("repo", "workspaces", "project"); !strings.Contains(string(out), "without a cable") {
		t.Errorf("the server knows: %s", out)
	}
}
