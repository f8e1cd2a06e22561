package checkout

import (
	"context"
	"strconv"
	"strings"
)

// Blob is a file of a commit that no diff shows, since it is not text.
type Blob struct {
	Path  string // the newer name
	ID    string // git's name for its content, which is a digest of it; "" for one that is gone
	Size  int64
	Begin string // its first bytes
}

// blobBegin is how much of a file that is not text is looked at.
const blobBegin = 16 << 10

// Blobs lists the files that differ between two commits and are not text, in the order in which their diff names them.
func (t Tools) Blobs(ctx context.Context, repo, from, to string) ([]Blob, error) {
	differ, err := t.counted(ctx, repo, from, to)
	if err != nil {
		return nil, err
	}
	var all []Blob
	for _, f := range differ {
		if f.added == "-" {
			all = append(all, Blob{Path: f.name})
		}
	}
	for i := range all {
		b := &all[i]
		line, err := t.git(ctx, repo, "--literal-pathspecs", "ls-tree", "-z", "-l", "--full-tree", to, "--", b.Path)
		if err != nil {
			return nil, err
		}
		what, _, _ := strings.Cut(line, "\t")
		f := strings.Fields(what) // mode, type, id, size
		if len(f) != 4 || f[1] != "blob" {
			continue // it is gone
		}
		b.ID = f[2]
		b.Size, _ = strconv.ParseInt(f[3], 10, 64) // git wrote it
		first := t
		first.whole, first.limit, first.cut = true, blobBegin, true
		if b.Begin, err = first.git(ctx, repo, "cat-file", "blob", b.ID); err != nil {
			return nil, err
		}
	}
	return all, nil
}
