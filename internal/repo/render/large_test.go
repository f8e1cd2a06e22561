package render

import (
	"bytes"
	"strings"
	"testing"

	"tandem/internal/repo"
	"tandem/internal/repo/gitstore"
	"tandem/internal/repo/text"
)

// Both sides of a changed file of a gigabyte were read whole, though nobody is shown a byte of a binary one.
func TestOfALargeBinaryFileTheBeginningIsRead(t *testing.T) {
	ctx := t.Context()
	s, err := gitstore.Init(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	tree := func(body []byte) repo.MergedTree {
		id, err := s.PutLargeFile(ctx, bytes.NewReader(body), int64(len(body)))
		if err != nil {
			t.Fatal(err)
		}
		top, err := s.PutTree(ctx, repo.Tree{{Name: "big", Value: repo.TreeValue{Kind: repo.File, ID: string(id)}}})
		if err != nil {
			t.Fatal(err)
		}
		return repo.ResolvedTree(top)
	}
	body := bytes.Repeat([]byte("0123456\x00"), (repo.LargeFile+1024)/8)
	before := tree(body)
	d := &Diff{Store: s, From: before, To: tree(append(body[:len(body):len(body)], "more"...))}
	stats, err := d.Stats(ctx)
	if err != nil || len(stats) != 1 || !stats[0].Binary || stats[0].Delta != 4 {
		t.Fatalf("%+v, %v", stats, err)
	}
	c, err := d.read(ctx, stats[0].Before, repo.Labels{})
	if err != nil || len(c.data) > headSize || c.size != int64(len(body)) {
		t.Errorf("%d of %d bytes are held, %v", len(c.data), c.size, err)
	}
	var o text.Text
	if err := d.Git(ctx, &o); err != nil || !strings.Contains(o.String(), "Binary files a/big and b/big differ") {
		t.Errorf("%q, %v", o.String(), err)
	}
}
