package repo

import (
	"bytes"
	"context"
	"testing"
)

// unread is a repository whose large files nobody may read whole.
type unread struct {
	*Overlay
	t *testing.T
}

func (u unread) File(ctx context.Context, id FileID) ([]byte, error) {
	data, err := u.Overlay.File(ctx, id)
	if len(data) > LargeFile {
		u.t.Error("a large file was read whole")
	}
	return data, err
}

// A conflict of large files stays one without a look at its terms, is shown as a
// description, and ends with what somebody puts in its place.
func TestAConflictOfLargeFiles(t *testing.T) {
	ctx, s := t.Context(), unread{NewOverlay(nil), t}
	var trees Merge[TreeID]
	var values Merge[TreeValue]
	for _, c := range []byte("abc") {
		data := bytes.Repeat([]byte{'x', '\n'}, LargeFile/2+1)
		data[len(data)/2] = c
		id, err := s.PutFile(ctx, data)
		if err != nil {
			t.Fatal(err)
		}
		v := TreeValue{File, string(id)}
		tree, err := s.PutTree(ctx, Tree{{"big", v}})
		if err != nil {
			t.Fatal(err)
		}
		trees, values = append(trees, tree), append(values, v)
	}
	got, err := MergeTrees(ctx, s, trees)
	if err != nil || got.IsResolved() {
		t.Fatalf("merged to %d terms: %v", len(got), err)
	}
	if c, err := ReadFileConflict(ctx, s, values, nil); c != nil || err != nil {
		t.Errorf("its terms were read: %v", err)
	}
	ids, _ := FileIDs(values)
	same, err := UpdateConflict(ctx, s, ids, []byte(DescribeConflict(values, nil)), MinMarkerLen)
	if err != nil || !same.Equal(ids) {
		t.Errorf("its description is taken for its end: %v", err)
	}
	now, err := UpdateConflict(ctx, s, ids, []byte("mine\n"), MinMarkerLen)
	if id, ok := now.AsResolved(); err != nil || !ok || id != FileID(HashObject(BlobObject, []byte("mine\n"))) {
		t.Errorf("what was put in its place is not taken: %v", err)
	}
}
