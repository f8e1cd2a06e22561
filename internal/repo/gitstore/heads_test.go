package gitstore

import (
	"crypto/sha512"
	"fmt"
	"slices"
	"testing"

	"tandem/internal/repo"
)

// A reader takes no lock: whenever it looks there is a head, and where writers
// replace each other's heads in turn there is one.
func TestAHeadIsNeverMissing(t *testing.T) {
	s, err := Init(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	first, err := s.Heads()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	last := first[0]
	go func() {
		for i := range 300 {
			sum := sha512.Sum512(fmt.Append(nil, i))
			next := repo.OperationID(sum[:])
			if err := s.PublishHead(next, last); err != nil {
				done <- err
				return
			}
			last = next
		}
		done <- nil
	}()
	for {
		heads, err := s.Heads()
		if err != nil || len(heads) != 1 {
			t.Fatalf("%d heads, %v", len(heads), err)
		}
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			if heads, err := s.Heads(); err != nil || !slices.Equal(heads, []repo.OperationID{last}) {
				t.Errorf("at the end: %v, %v", heads, err)
			}
			return
		default:
		}
	}
}

// A head that somebody else has replaced meanwhile is not missed, and what
// both made stays for the next reader to merge.
func TestTwoHeadsFromOne(t *testing.T) {
	s, err := Init(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	heads, err := s.Heads()
	if err != nil {
		t.Fatal(err)
	}
	var want []repo.OperationID
	for i := range 2 {
		sum := sha512.Sum512(fmt.Append(nil, i))
		want = append(want, repo.OperationID(sum[:]))
		if err := s.PublishHead(want[i], heads...); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(want)
	if got, err := s.Heads(); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	both := sha512.Sum512([]byte("both"))
	if err := s.PublishHead(repo.OperationID(both[:]), want...); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Heads(); err != nil || !slices.Equal(got, []repo.OperationID{repo.OperationID(both[:])}) {
		t.Errorf("after the merge: %v, %v", got, err)
	}
}
