package replica

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"tandem/internal/client"
	"tandem/internal/repo"
	"tandem/internal/repo/exchange"
	"tandem/internal/repo/gitstore"
)

func emptyStore(t *testing.T) *gitstore.Store {
	t.Helper()
	s, err := gitstore.Init(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// smallServer is a repository with two commits and what serves it; objects are its
// ids in the order in which they travel.
func smallServer(t *testing.T) (s *gitstore.Store, m Remote, objects []string) {
	t.Helper()
	s = emptyStore(t)
	at, err := s.At(t.Context(), repo.RootOperationID)
	if err != nil {
		t.Fatal(err)
	}
	now := func() repo.Timestamp { return repo.Timestamp{} }
	tx := at.Begin(&repo.Identity{Name: "a", Email: "a@example.com", Hostname: "h", Username: "a", Now: now, OpNow: now,
		NewChangeID: repo.RandomChangeID})
	parent := repo.RootCommitID
	for _, text := range []string{"one", "two"} {
		file, err := s.PutFile(t.Context(), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		tree, err := s.PutTree(t.Context(), repo.Tree{{Name: "f", Value: repo.TreeValue{Kind: repo.File, ID: string(file)}}})
		if err != nil {
			t.Fatal(err)
		}
		c, err := tx.Write(t.Context(), tx.NewCommit([]repo.CommitID{parent}, repo.MergedTree{IDs: repo.Resolved(tree)}))
		if err != nil {
			t.Fatal(err)
		}
		parent = c.ID
	}
	done, err := tx.Finish(t.Context(), "two commits")
	if err == nil {
		err = s.Publish(t.Context(), done)
	}
	if err != nil {
		t.Fatal(err)
	}
	head := done.Operation.ID
	d, err := s.Delta(t.Context(), nil, []repo.OperationID{head})
	if err != nil {
		t.Fatal(err)
	}
	for id, err := range d.Objects(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, id)
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q exchange.Question
		if err := exchange.NewReader(r.Body).Head(&q); err != nil {
			t.Error(err)
		}
		io.Copy(io.Discard, r.Body)
		out := exchange.NewWriter(w)
		if err := out.JSON(exchange.Head, exchange.Answer{Head: head.Hex(), Version: 1, Objects: len(objects)}); err != nil {
			t.Error(err)
		}
		if err := exchange.Send(r.Context(), out, s, d, q.Skip); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(web.Close)
	return s, Remote{Client: client.Remote(web.URL, "", nil)}, objects
}

// A first fetch that goes on from objects which are gone fails once, and the next
// one starts anew.
func TestAFetchThatLacksSomethingStartsAnew(t *testing.T) {
	s, m, objects := smallServer(t)
	for _, c := range []struct {
		name       string
		said, have int // objects that are said to be there, and that are
	}{
		{"a commit that is wanted", 1, 0},
		{"a file that nothing wants which arrives", 3, 2},
	} {
		r := &Replica{Store: emptyStore(t)}
		if c.have > 0 {
			var pack bytes.Buffer
			if err := s.WritePack(t.Context(), &pack, objects[:c.have]); err != nil {
				t.Fatal(err)
			}
			in := r.Store.Receive(gitstore.DefaultLimits)
			in.Arrived = func(int) error { return nil }
			if err := in.Pack(t.Context(), &pack); err != nil {
				t.Fatal(err)
			}
			in.Close()
		}
		at, err := s.Heads()
		if err != nil {
			t.Fatal(err)
		}
		if err := writeHint(r.path("fetching.json"), fetching{Head: at[0].Hex(), Objects: c.said}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Sync(t.Context(), m, nil); err == nil {
			t.Errorf("%s: nothing was missed", c.name)
		}
		if _, err := r.Sync(t.Context(), m, nil); err != nil {
			t.Errorf("%s, again: %v", c.name, err)
		}
		for _, id := range objects {
			if !r.Store.Has(id) {
				t.Errorf("%s: object %x is missing", c.name, id)
			}
		}
	}
}

// A sync tidies the copy.
func TestASyncTidies(t *testing.T) {
	_, m, _ := smallServer(t)
	r := &Replica{Store: emptyStore(t)}
	if err := writeJSON(r.path("replica.json"), r.Config); err != nil { // as Create does
		t.Fatal(err)
	}
	for i := range 50 {
		for j := range 20 {
			if _, err := r.Store.PutFile(t.Context(), fmt.Appendf(nil, "file %d of pack %d", j, i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Store.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Sync(t.Context(), m, nil); err != nil {
		t.Fatal(err)
	}
	if names, err := filepath.Glob(filepath.Join(r.Store.GitDir(), "objects", "pack", "*.pack")); err != nil || len(names) != 1 {
		t.Errorf("%d packs are left, %v", len(names), err)
	}
}
