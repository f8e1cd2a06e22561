package panel

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/panel/browsertest"
	"tandem/internal/testenv"
)

// A person watches a repository in a real browser: two agents work on the same
// file, their commits appear while the page is open, one change shows its diff
// and its operations, and the merge of both shows its conflict.
func TestReposInABrowser(t *testing.T) {
	repo := filepath.Join(testenv.Dir(t), "project")
	h := startHouse(t, "TANDEM_REPO="+repo)
	home := testenv.Dir(t)
	addr := strings.TrimPrefix(h.near, "http://")
	run := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command(testenv.Tandem(t), args...)
		cmd.Dir = dir
		cmd.Env = testenv.Env(t, "HOME="+home, "TANDEM_API_TOKEN="+h.agent, "JJ_USER=Builder", "JJ_EMAIL=builder@example.com",
			"TANDEM_IDLE_EXIT=2m")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	t.Cleanup(func() { run(home, "down") })
	write := func(dir, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "plan.txt"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	one, two := filepath.Join(home, "one"), filepath.Join(home, "two")
	run(home, "init", "--tandem-server", addr, "--workspace", "one", one)
	write(one, "first\nsecond\n")
	run(one, "commit", "-m", "a plan")
	run(home, "init", "--tandem-server", addr, "--workspace", "two", two)
	run(two, "new", `subject("a plan")`)

	// The script says when it is ready for the next step.
	steps := []func(){
		func() {
			write(one, "first\nONE\n")
			run(one, "commit", "-m", "one's idea")
		},
		func() {
			write(two, "first\nTWO\n")
			run(two, "commit", "-m", "two's idea")
			run(two, "new", `subject("one's idea")`, `subject("two's idea")`, "-m", "both ideas")
		},
	}
	next := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/next", func(w http.ResponseWriter, r *http.Request) {
		next <- struct{}{}
		fmt.Fprintln(w, "done")
	})
	port := testenv.Port(t)
	srv := &http.Server{Addr: fmt.Sprintf("127.0.0.1:%d", port), Handler: mux}
	go srv.ListenAndServe()
	t.Cleanup(func() { srv.Close() })
	go func() {
		for _, step := range steps {
			<-next
			step()
		}
	}()

	var got struct {
		Seen     map[string]any
		Problems []string
	}
	browsertest.Run(t, "testdata/repos.cjs", map[string]any{"base": h.base, "code": h.code(t),
		"steps": fmt.Sprintf("http://127.0.0.1:%d/next", port), "shots": browsertest.Shots(t, "panel")}, &got)
	for _, p := range got.Problems {
		t.Error(p)
	}
	for name, want := range map[string]string{
		"workspaces": "one server two", "diff": "-second +ONE", "operations": "true", "actor": "builder", "conflict": "true", "markers": "true",
		"live": "true",
	} {
		if s := fmt.Sprint(got.Seen[name]); s != want {
			t.Errorf("%s: %q, want %q", name, s, want)
		}
	}
}
