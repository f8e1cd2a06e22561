package gitstore

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"tandem/internal/repo"
)

// manyPacks makes as many packs as are joined, and gives the texts of their files.
func manyPacks(t *testing.T, s *Store) (texts []string) {
	t.Helper()
	for i := range smallPacks {
		for j := range looseLimit + 1 {
			texts = append(texts, fmt.Sprintf("file %d of pack %d", j, i))
			if _, err := s.PutFile(t.Context(), []byte(texts[len(texts)-1])); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(packsIn(t, s)); n != smallPacks {
		t.Fatalf("there are %d packs", n)
	}
	return texts
}

func TestSmallPacksAreJoined(t *testing.T) {
	dir := t.TempDir()
	s, err := Init(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	texts := manyPacks(t, s)
	other := openTest(t, dir) // somebody who knows the old packs
	if err := s.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(packsIn(t, s)); n != 1 {
		t.Errorf("%d packs are left", n)
	}
	for _, at := range []*Store{s, other, openTest(t, dir)} {
		for _, text := range texts {
			data, err := at.File(t.Context(), repo.FileID(repo.HashObject(repo.BlobObject, []byte(text))))
			if err != nil || string(data) != text {
				t.Fatalf("%s is %q, %v", text, data, err)
			}
		}
	}
}

// What was received is there, also when the packs beside it cannot be joined.
func TestATidyThatFailsRefusesNothing(t *testing.T) {
	dir := t.TempDir()
	first, err := Init(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	manyPacks(t, first)
	damaged := strings.TrimSuffix(packsIn(t, first)[0], ".idx") + ".pack"
	first.Close()
	data, err := os.ReadFile(damaged)
	if err == nil {
		data[14] ^= 1
		err = errors.Join(os.Chmod(damaged, 0o600), os.WriteFile(damaged, data, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	s := openTest(t, dir)
	in := s.Receive(DefaultLimits)
	defer in.Close()
	x := repo.Object{Type: repo.BlobObject, Data: []byte("x")}
	if err := in.Pack(t.Context(), bytes.NewReader(newPack(t, 1, func(w *PackWriter) {
		if err := w.Add("", x); err != nil {
			t.Fatal(err)
		}
	}))); err != nil {
		t.Fatal(err)
	}
	if err := in.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := in.Accept(t.Context()); err != nil {
		t.Errorf("what is durable was refused: %v", err)
	}
	if _, err := s.Object(t.Context(), repo.HashObject(x.Type, x.Data)); err != nil {
		t.Error(err)
	}
	if err := s.Tidy(t.Context()); err == nil {
		t.Error("the damage was not noticed")
	}
}

// Chains of differences from several packs, each as long as may be, do not become
// one that nobody takes.
func TestJoinedChainsAreBounded(t *testing.T) {
	s, err := Init(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var ids []string
	// chain sends a file and n more, each a difference from the one before.
	chain := func(first []byte, n int) (last []byte) {
		data := newPack(t, n+1, func(w *PackWriter) {
			if err := w.Add("", repo.Object{Type: repo.BlobObject, Data: first}); err != nil {
				t.Fatal(err)
			}
			for last = first; n > 0; n-- {
				addRef(t, w, repo.HashObject(repo.BlobObject, last), insertion(last, []byte("y")))
				last = append(bytes.Clone(last), 'y')
				ids = append(ids, repo.HashObject(repo.BlobObject, last))
			}
		})
		in := s.Receive(DefaultLimits)
		defer in.Close()
		if err := in.Pack(t.Context(), bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		if err := in.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := in.Accept(t.Context()); err != nil {
			t.Fatal(err)
		}
		return last
	}
	first, half := []byte("x"), deepest/2+10
	// The second half comes first, so that what it starts from is found at the end
	// of the first half.
	chain(append(bytes.Clone(first), bytes.Repeat([]byte("y"), half)...), half)
	chain(first, half)
	ids = append(ids, repo.HashObject(repo.BlobObject, first))
	slices.Sort(ids)
	var b bytes.Buffer
	if err := s.WritePack(t.Context(), &b, slices.Compact(ids)); err != nil {
		t.Fatal(err)
	}
	to, err := Init(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	in := to.Receive(DefaultLimits)
	defer in.Close()
	if err := in.Pack(t.Context(), &b); err != nil {
		t.Error(err)
	}
}

// A commit that names the root as a parent, which a hand may have made, does not
// keep the rest from being fetched.
func TestDeltaOfAnOddCommit(t *testing.T) {
	s, err := Init(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.PutTree(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	who := "a <a> 0 +0000"
	id, err := s.objects.put(repo.CommitObject, fmt.Appendf(nil, "tree %x\nparent %s\nauthor %s\ncommitter %s\n\n", repo.EmptyTreeID,
		repo.RootCommitID.Hex(), who, who))
	if err != nil {
		t.Fatal(err)
	}
	d := &Delta{store: s, commits: []repo.CommitID{repo.CommitID(id)}}
	if ids := objectsOf(t, d); len(ids) != 2 || ids[0] != id {
		t.Errorf("it has %d objects", len(ids))
	}
}
