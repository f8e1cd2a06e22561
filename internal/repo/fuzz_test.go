package repo

import (
	"bytes"
	"slices"
	"testing"
)

// Whatever bytes come, decoders answer or refuse; what they read they can
// write, and read again as the same.

func FuzzDecodeView(f *testing.F) {
	f.Add(RootView().Encode())
	v := RootView()
	v.SetBookmark("main", RefTarget{RootCommitID, "x", RootCommitID})
	v.SetRemoteTag("origin", "t", RemoteRef{Target: Target(RootCommitID), Tracked: true})
	v.SetGitHead(DefaultWorkspace, Target(RootCommitID))
	v.Workspaces["w"] = RootCommitID
	f.Add(v.Encode())
	other := v.Clone()
	other.Workspaces["w"], other.Workspaces["a"] = "\x01", "\x02"
	other.Heads["\x03"] = struct{}{}
	f.Add(append(v.Encode(), other.Encode()...)) // everything twice, and different
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := DecodeView(data)
		var s, warm ViewScanner
		id, scanErr := s.Scan(data)
		if _, err := warm.Scan(other.Encode()); err != nil {
			t.Fatal(err)
		}
		if again, err := warm.Scan(data); again != id || (err == nil) != (scanErr == nil) {
			t.Fatalf("after another view it is %x (%v), else %x (%v)", again, err, id, scanErr)
		}
		if (err == nil) != (scanErr == nil) {
			t.Fatalf("decoded: %v; scanned: %v", err, scanErr)
		}
		if err != nil {
			return
		}
		if id != v.ComputeID() {
			t.Fatal("scanned and decoded are different views")
		}
		// Of a workspace that stands there twice, both commits are named.
		named := s.Named()
		for _, id := range v.CommitIDs() {
			if !slices.Contains(named, id) {
				t.Fatalf("scanned names %x, not %x", named, id)
			}
		}
		again, err := DecodeView(v.Encode())
		if err != nil {
			t.Fatalf("cannot read back: %v", err)
		}
		if again.ComputeID() != v.ComputeID() {
			t.Fatal("another view after encoding")
		}
	})
}

func FuzzDecodeOperation(f *testing.F) {
	o := Operation{View: RootViewID, Parents: []OperationID{RootOperationID}, Predecessors: map[CommitID][]CommitID{"a": {"b"}}}
	o.Meta.Attributes = map[string]string{"args": "jj"}
	f.Add(o.Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := DecodeOperation(data)
		if err != nil {
			return
		}
		again, err := DecodeOperation(o.Encode())
		if err != nil {
			t.Fatalf("cannot read back: %v", err)
		}
		if again.ComputeID() != o.ComputeID() {
			t.Fatal("another operation after encoding")
		}
	})
}

func FuzzDecodeCommit(f *testing.F) {
	f.Add([]byte("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor a <b> 1 +0200\ncommitter a <b> 1 -0200\njj:conflict-labels x\n" +
		" y\n z\nchange-id zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\ngpgsig a\n b\n\nhello\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := DecodeCommit("12345678901234567890", data)
		if err != nil {
			return
		}
		if len(c.Tree.IDs)%2 == 0 || len(c.ChangeID) != ChangeIDLen {
			t.Fatalf("impossible commit: %+v", c)
		}
		c.ConflictLabel()
	})
}

func FuzzDecodeTree(f *testing.F) {
	f.Add(EncodeTree(Tree{{"a", TreeValue{File, string(EmptyTreeID)}}, {"a.b", TreeValue{Subtree, string(EmptyTreeID)}}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		tree, err := DecodeTree(data)
		if err != nil {
			return
		}
		again, err := DecodeTree(EncodeTree(tree))
		if err != nil || len(again) != len(tree) {
			t.Fatalf("cannot read back: %v", err)
		}
	})
}

func FuzzIndexSegment(f *testing.F) {
	ix := NewIndex()
	for i := range 5 {
		id := CommitID(bytes.Repeat([]byte{byte(i + 1)}, CommitIDLen))
		ix.Add(&Commit{ID: id, ChangeID: ChangeID(bytes.Repeat([]byte{byte(i % 2)}, ChangeIDLen)),
			Parents: []CommitID{RootCommitID, RootCommitID, RootCommitID}[:1+i%3]})
	}
	data, _ := ix.Freeze()
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseIndexSegment("name", data, 0)
		if err != nil {
			return
		}
		ix, err := IndexOver([]*IndexSegment{s})
		if err != nil {
			return
		}
		for p := range Pos(ix.Len()) {
			ix.Parents(p)
			ix.ChangePositions(ix.ChangeID(p))
			ix.ShortestChangePrefix(ix.ChangeID(p))
			ix.Pos(ix.ID(p))
		}
		ix.Ancestors([]Pos{Pos(ix.Len() - 1)})
		ix.Heads([]Pos{0, Pos(ix.Len() - 1)})
	})
}

func FuzzParseConflict(f *testing.F) {
	c := FileConflict{Contents: [][]byte{[]byte("a\nb"), []byte("a\n"), []byte("c\n")}}
	for _, style := range []MarkerStyle{DiffMarkers, DiffFirstSnapshotMarkers, SnapshotMarkers, GitMarkers} {
		f.Add(c.Materialize(style, 7), 2, 7)
	}
	f.Fuzz(func(t *testing.T, data []byte, sides, markerLen int) {
		for _, h := range ParseConflict(data, sides, markerLen) {
			if len(h) != 1 && len(h) != 2*sides-1 {
				t.Fatalf("hunk of %d terms for %d sides", len(h), sides)
			}
		}
	})
}
