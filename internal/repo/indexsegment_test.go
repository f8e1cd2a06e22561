package repo

import (
	"slices"
	"testing"
)

// The first commit with more than two parents is written where a commit without
// parents has its mark, and is told from it by their number.
func TestIndexOfManyParents(t *testing.T) {
	ix := NewIndex()
	var parents []CommitID
	add := func(n byte, parents ...CommitID) CommitID {
		c := &Commit{ID: CommitID(slices.Repeat([]byte{n}, CommitIDLen)), ChangeID: ChangeID(slices.Repeat([]byte{n}, ChangeIDLen)),
			Parents: parents}
		if err := ix.Add(c); err != nil {
			t.Fatal(err)
		}
		return c.ID
	}
	for n := range byte(3) {
		parents = append(parents, add(n+1, RootCommitID))
	}
	octopus := add(9, parents...)
	data, name := ix.Freeze()
	seg, err := ParseIndexSegment(name, data, 0)
	if err != nil {
		t.Fatal(err)
	}
	read, err := IndexOver([]*IndexSegment{seg})
	if err != nil {
		t.Fatal(err)
	}
	p, _ := read.Pos(octopus)
	var got []CommitID
	for _, q := range read.Parents(p) {
		got = append(got, read.ID(q))
	}
	if !slices.Equal(got, parents) {
		t.Errorf("read back with the parents %v", got)
	}
	root, _ := read.Pos(RootCommitID)
	if n := len(read.Parents(root)); n != 0 {
		t.Errorf("the root has %d parents", n)
	}
}
