package checkout

import (
	"bufio"
	"context"
	"crypto/sha1" //nolint:gosec // git's own name for an object
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"

	"tandem/internal/fault"
)

// git believes what lies in the file of an object: it does not look whether the name, which is a hash, fits. Whoever can write the
// repository's files can so have a commit show, and run, what it does not hold.

// Genuine says whether the objects of a commit are what their names say: all that it added since the base, and all files of both. For a
// diff alone only what differs between the two is read.
func (t Tools) Genuine(ctx context.Context, repo, base, commit string, diff bool) error {
	ids := []string{base, commit}
	ask := []question{{"\n", plainObjects, []string{"rev-parse", "--verify", base + "^{tree}"}},
		{"\n", plainObjects, []string{"rev-parse", "--verify", commit + "^{tree}"}}}
	if diff {
		ask = append(ask, question{"\x00", changedObjects,
			[]string{"diff-tree", "-r", "-t", "-z", "--raw", "--no-abbrev", "--no-renames", base, commit}})
	} else {
		ask = append(ask, question{"\x00", treeObjects, []string{"ls-tree", "-r", "-t", "-z", "--full-tree", base}},
			question{"\x00", treeObjects, []string{"ls-tree", "-r", "-t", "-z", "--full-tree", commit}},
			question{"\n", plainObjects, []string{"rev-list", "--objects", "--no-object-names", base + ".." + commit}})
	}
	for _, q := range ask {
		out, err := t.git(ctx, repo, q.args...)
		if err != nil {
			return err
		}
		for line := range strings.SplitSeq(out, q.ends) {
			ids = append(ids, q.objects(line)...)
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(slices.DeleteFunc(ids, func(id string) bool { return strings.Trim(id, "0") == "" }))
	return t.rehash(ctx, repo, ids)
}

// question is a git command, and which objects a line of its answer names.
type question struct {
	ends    string
	objects func(line string) []string
	args    []string
}

func plainObjects(line string) []string { return []string{line} }

// treeObjects are the objects of a line of ls-tree; what lies in another repository is not here.
func treeObjects(line string) []string {
	f := strings.Fields(line)
	if len(f) < 3 || f[0] == "160000" {
		return nil
	}
	return f[2:3]
}

// changedObjects are the objects of a line of diff-tree.
func changedObjects(line string) (ids []string) {
	f := strings.Fields(strings.TrimPrefix(line, ":"))
	if !strings.HasPrefix(line, ":") || len(f) < 5 {
		return nil // a path
	}
	for i, mode := range f[:2] {
		if mode != "160000" {
			ids = append(ids, f[2+i])
		}
	}
	return ids
}

// rehash reads objects and compares each with its name.
func (t Tools) rehash(ctx context.Context, repo string, ids []string) error {
	r, w := io.Pipe()
	t.in, t.to = strings.NewReader(strings.Join(ids, "\n")+"\n"), w
	said := make(chan error, 1)
	go func() {
		in := bufio.NewReader(r)
		var err error
		for _, id := range ids {
			if err = sameName(in, id); err != nil {
				break
			}
		}
		r.CloseWithError(io.ErrClosedPipe) //nolint:errcheck // it never fails
		said <- err
	}()
	_, err := t.git(ctx, repo, "cat-file", "--batch", "--buffer")
	w.Close()
	if wrong := <-said; wrong != nil {
		return wrong
	}
	return err
}

// sameName reads one object as cat-file prints it.
func sameName(in *bufio.Reader, id string) error {
	head, err := in.ReadString('\n')
	if err != nil {
		return forged(id)
	}
	var name, kind string
	var size int64
	if n, _ := fmt.Sscanf(head, "%s %s %d", &name, &kind, &size); n != 3 || name != id {
		return forged(id)
	}
	var sum hash.Hash = sha1.New() //nolint:gosec // as above
	if len(id) == hex.EncodedLen(sha256.Size) {
		sum = sha256.New()
	}
	fmt.Fprintf(sum, "%s %d\x00", kind, size)
	if _, err := io.CopyN(sum, in, size); err != nil {
		return forged(id)
	}
	if _, err := in.Discard(1); err != nil || hex.EncodeToString(sum.Sum(nil)) != id {
		return forged(id)
	}
	return nil
}

func forged(id string) error {
	return fault.New(fault.Conflict, "session.checkout",
		"the repository's object %s is not what its name says: it was overwritten, or is broken",
		id).WithNext("look: git fsck; what is in another clone is not affected")
}
