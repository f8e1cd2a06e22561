package replica

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/repo"
	"tandem/internal/repo/exchange"
	"tandem/internal/repo/gitstore"
)

// takingServer serves what smallServer has and takes in what comes; the syncs
// from the nth to the mth find it dead.
func takingServer(t *testing.T, from, to int32) Remote {
	t.Helper()
	s, _, _ := smallServer(t)
	var count atomic.Int32
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n := count.Add(1); n >= from && n <= to {
			panic(http.ErrAbortHandler)
		}
		if err := takeAndAnswer(s, w, r); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(web.Close)
	return Remote{Client: client.Remote(web.URL, "", nil)}
}

func takeAndAnswer(s *gitstore.Store, w http.ResponseWriter, r *http.Request) error {
	in := exchange.NewReader(r.Body)
	var q exchange.Question
	if err := in.Head(&q); err != nil {
		return err
	}
	quarantine := s.Receive(gitstore.DefaultLimits)
	defer quarantine.Close()
	if err := exchange.Take(r.Context(), in, quarantine); err != nil {
		return err
	}
	if err := quarantine.Accept(r.Context()); err != nil {
		return err
	}
	have, err := exchange.ParseOperations(q.Have)
	if err != nil {
		return err
	}
	tips, err := exchange.ParseOperations(q.Heads)
	if err != nil {
		return err
	}
	at, err := s.Integrate(r.Context(), somebody(""), tips, repo.MergeOptions{}, nil)
	if err != nil {
		return err
	}
	d, err := s.Delta(r.Context(), append(have, tips...), []repo.OperationID{at.Operation.ID})
	if err != nil {
		return err
	}
	out := exchange.NewWriter(w)
	if err := out.JSON(exchange.Head, exchange.Answer{Repository: "repo_00000000000000000000000000", Head: at.Operation.ID.Hex(),
		Version: 1}); err != nil {
		return err
	}
	return exchange.Send(r.Context(), out, s, d, q.Skip)
}

func somebody(string) *repo.Identity {
	now := func() repo.Timestamp { return repo.Timestamp{Millis: time.Now().UnixMilli()} }
	return &repo.Identity{Name: "a", Email: "a@example.com", Hostname: "h", Username: "a", Now: now, OpNow: now,
		NewChangeID: repo.RandomChangeID}
}

// The server dies between the two syncs of the making of a workspace. What is
// there can be worked in, is known to be unfinished, and the same call goes on.
func TestCreateGoesOnBetweenTheSyncs(t *testing.T) {
	m := takingServer(t, 2, 3)
	root := t.TempDir()
	c := Config{Server: "s", Repo: "p", First: "w"}
	if _, err := Create(t.Context(), root, c, m, somebody, nil); !fault.Is(err, fault.Unavailable) {
		t.Fatalf("the server died: %v", err)
	}
	r, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	if files, err := r.Edited(t.Context()); err != nil || len(files) > 0 {
		t.Errorf("edited: %v, %v", files, err)
	}
	r.Close()
	if _, ok := Unfinished(t.Context(), root); !ok {
		t.Fatal("it is taken for finished")
	}
	// Killed before its files were there, and the server is still away.
	if err := os.RemoveAll(filepath.Join(root, ".jj", "working_copy")); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(t.Context(), root, c, m, somebody, nil); !fault.Is(err, fault.Unavailable) {
		t.Fatalf("the server is dead: %v", err)
	}
	c, ok := Unfinished(t.Context(), root)
	if !ok {
		t.Fatal("it is taken for finished")
	}
	if r, err = Create(t.Context(), root, c, m, somebody, nil); err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n, err := r.Waiting(t.Context()); err != nil || n > 0 {
		t.Errorf("%d operations wait, %v", n, err)
	}
	if _, ok := Unfinished(t.Context(), root); ok {
		t.Error("it is finished")
	}
	head, err := r.Head()
	if err != nil {
		t.Fatal(err)
	}
	if v, err := r.viewAt(t.Context(), head); err != nil || len(v.Workspaces) != 1 {
		t.Errorf("workspaces: %v, %v", v.Workspaces, err)
	}
}
