package host

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"tandem/internal/repo"
	"tandem/internal/repo/exchange"
	"tandem/internal/repo/gitstore"
)

// A push tidies the repository behind it, and is taken also when that fails.
func TestAPushTidies(t *testing.T) {
	_, git := ownHome(t)
	for _, damaged := range []bool{false, true} {
		h, s, ctx := serve(t, git)
		for i := range 50 {
			for j := range 20 {
				if _, err := s.store.PutFile(ctx, fmt.Appendf(nil, "file %d of pack %d", j, i)); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.store.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		packs := filepath.Join(s.store.GitDir(), "objects", "pack", "*.pack")
		names, err := filepath.Glob(packs)
		if err != nil || len(names) != 50 {
			t.Fatalf("there are %d packs, %v", len(names), err)
		}
		if damaged {
			data, err := os.ReadFile(names[0])
			if err != nil {
				t.Fatal(err)
			}
			data[14] ^= 1
			if err := os.Remove(names[0]); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(names[0], data, 0o444); err != nil {
				t.Fatal(err)
			}
			s.store.Close()
			if s.store, err = gitstore.Open(s.store.Dir()); err != nil {
				t.Fatal(err)
			}
		}
		head, _, _ := s.now()
		o, err := s.store.Operation(ctx, head)
		if err != nil {
			t.Fatal(err)
		}
		next := *o
		next.Parents = []repo.OperationID{head}
		in := s.store.Receive(gitstore.DefaultLimits)
		defer in.Close()
		id := next.ComputeID()
		if err := in.Operation(id, next.Encode()); err != nil {
			t.Fatal(err)
		}
		if err := in.Check(ctx); err != nil {
			t.Fatal(err)
		}
		out, err := h.push(ctx, PushIn{Repo: s.name, Workspace: "w", Heads: exchange.Hex([]repo.OperationID{id}), brought: in})
		if err != nil || out.Head != id.Hex() {
			t.Errorf("damaged %v: the head is %.12s, want %.12s, %v", damaged, out.Head, id.Hex(), err)
		}
		if names, err := filepath.Glob(packs); err != nil || !damaged && len(names) != 1 {
			t.Errorf("%d packs are left, %v", len(names), err)
		}
	}
}
