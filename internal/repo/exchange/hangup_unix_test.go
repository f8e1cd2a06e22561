//go:build unix

package exchange

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"tandem/internal/repo"
	"tandem/internal/repo/gitstore"
	"tandem/internal/repo/stocktest"
	"tandem/internal/testenv"
)

// A client that hangs up while the server looks for what to send leaves it with
// nothing to do: it works for less than 100 ms more. The whole proof has a million
// objects.
func TestHangingUpEndsTheSearch(t *testing.T) {
	commits := 40_000
	if testenv.Soak() {
		commits = 334_000
	}
	s, head := chain(t, commits)
	// What the whole search takes, so that the rest of it would be seen.
	before := cpu(t)
	d, err := s.Delta(t.Context(), nil, []repo.OperationID{head})
	if err == nil {
		err = Send(t.Context(), NewWriter(io.Discard), s, d, 3*commits)
	}
	if err != nil {
		t.Fatal(err)
	}
	search := cpu(t) - before
	s.Close() // and what it has in memory goes
	if s, err = gitstore.Open(s.Dir()); err != nil {
		t.Fatal(err)
	}
	defer s.Close()

	ended := make(chan error, 1)
	begun := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		delta, err := s.Delta(r.Context(), nil, []repo.OperationID{head})
		if err == nil { // one who has nearly everything already: all is looked for and nothing sent
			err = Send(r.Context(), NewWriter(w), s, delta, 3*commits)
		}
		ended <- err
	}))
	defer server.Close()

	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if resp, err := server.Client().Do(req); err == nil {
			resp.Body.Close()
		}
	}()
	<-begun
	time.AfterFunc(search/10, hangUp)
	<-gone
	before, at := cpu(t), time.Now()
	err = <-ended
	used, took := cpu(t)-before, time.Since(at)
	t.Logf("a search of %v was left; the server worked for %v more, until %v after", search, used, took)
	if err == nil {
		t.Fatalf("the search went on to its end")
	}
	if used > 100*time.Millisecond {
		t.Errorf("the server worked for %v after its client had hung up", used)
	}
}

// chain is a repository of commits in a row, each with a tree and a file of its own.
func chain(t *testing.T, commits int) (*gitstore.Store, repo.OperationID) {
	t.Helper()
	s, err := gitstore.Init(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for i := range commits {
		text := fmt.Sprintf("text %d", i)
		fmt.Fprintf(&b, "commit refs/heads/main\ncommitter a <a@example.com> %d +0000\ndata 1\nc\n", i)
		fmt.Fprintf(&b, "M 644 inline f\ndata %d\n%s\n\n", len(text), text)
	}
	git := exec.Command("git", "--git-dir", s.GitDir(), "fast-import", "--quiet")
	git.Stdin = &b
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("git: %v: %s", err, out)
	}
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	r, err := s.At(t.Context(), repo.RootOperationID)
	if err != nil {
		t.Fatal(err)
	}
	tx := r.Begin(stocktest.New(t).Identity())
	if _, err := s.ImportRefs(t.Context(), tx, gitstore.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	done, err := tx.Finish(t.Context(), "import")
	if err == nil {
		err = s.Publish(t.Context(), done)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s, done.Operation.ID
}

// cpu is the time that this process has worked.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
