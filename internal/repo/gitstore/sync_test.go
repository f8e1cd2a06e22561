package gitstore

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/repo"
	"tandem/internal/repo/stocktest"
	"tandem/internal/testenv"
)

// carry brings operations from one repository to another, as a push does.
func carry(t testing.TB, from, to *Store, who *repo.Identity) {
	t.Helper()
	have, err := to.Heads()
	if err != nil {
		t.Fatal(err)
	}
	want, err := from.Heads()
	if err != nil {
		t.Fatal(err)
	}
	d, err := from.Delta(t.Context(), have, want)
	if err != nil {
		t.Fatal(err)
	}
	in := to.Receive(DefaultLimits)
	defer in.Close()
	var pack bytes.Buffer
	if err := from.WritePack(t.Context(), &pack, objectsOf(t, d)); err != nil {
		t.Fatal(err)
	}
	if err := in.Pack(t.Context(), &pack); err != nil {
		t.Fatal(err)
	}
	for _, id := range d.Views {
		data, err := from.ViewBytes(id)
		if err != nil {
			t.Fatal(err)
		}
		if err := in.View(id, data); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range d.Operations {
		data, err := from.OperationBytes(id)
		if err != nil {
			t.Fatal(err)
		}
		if err := in.Operation(id, data); err != nil {
			t.Fatal(err)
		}
	}
	if err := in.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := in.Accept(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := to.Integrate(t.Context(), who, want, repo.MergeOptions{OwnerWins: true}, nil); err != nil {
		t.Fatal(err)
	}
}

func objectsOf(t testing.TB, d *Delta) (ids []string) {
	t.Helper()
	for id, err := range d.Objects(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// Two replicas and a server, worked on by stock jj at once, agree after every
// exchange, and stock jj finds nothing wrong with any of them.
func TestReplicasAgree(t *testing.T) {
	r := testenv.Random(t)
	for range testenv.Rounds(20) {
		j := stocktest.New(t)
		dirs := []string{j.Wander(r)}
		j.Run(dirs[0], "workspace", "add", filepath.Join(t.TempDir(), "ws1"))
		for range 2 {
			dirs = append(dirs, stocktest.CopyDir(t, dirs[0]))
		}
		var stores []*Store
		for _, d := range dirs {
			stores = append(stores, openTest(t, d))
		}
		for range 3 {
			for i, dir := range dirs {
				for range r.IntN(3) {
					j.Stray(r, dir)
				}
				stocktest.Write(t, filepath.Join(dir, fmt.Sprintf("only%d", i)), stocktest.Text(r))
				j.Run(dir, "--ignore-working-copy", "log")
			}
			server := stores[0]
			for _, s := range stores[1:] {
				carry(t, s, server, j.Identity())
			}
			want := headOp(t, server)
			for i, s := range stores[1:] {
				carry(t, server, s, j.Identity())
				if got := headOp(t, s); got != want {
					t.Fatalf("replica %d is at %s, the server at %s", i, got.Hex()[:12], want.Hex()[:12])
				}
			}
			var logs []string
			for _, dir := range dirs {
				// The order of the graph is each index's own; what is in it is not.
				lines := strings.Split(j.Run(dir, "--ignore-working-copy", "log", "-r", "all()", "--no-graph",
					"-T", `commit_id ++ change_id ++ description.first_line() ++ bookmarks ++ tags ++ working_copies ++ "\n"`), "\n")
				slices.Sort(lines)
				logs = append(logs, strings.Join(lines, "\n"))
				j.Run(dir, "--ignore-working-copy", "debug", "reindex")
				j.Git(filepath.Join(dir, ".jj", "repo", "store", "git"), "fsck", "--strict", "--no-dangling")
			}
			if logs[0] != logs[1] || logs[1] != logs[2] {
				t.Fatalf("logs differ:\n%s\n%s\n%s", logs[0], logs[1], logs[2])
			}
		}
	}
}

// What a hostile peer sends is refused, with the reason, and nothing changes.
func TestRefusesBadPushes(t *testing.T) {
	dir := t.TempDir()
	s, err := Init(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	blob := repo.HashObject(repo.BlobObject, []byte("x"))
	tree := func(name string, kind repo.Kind, id string) repo.Object {
		return repo.Object{Type: repo.TreeObject, Data: repo.EncodeTree(repo.Tree{{Name: name, Value: repo.TreeValue{Kind: kind, ID: id}}})}
	}
	packOf := func(objects ...repo.Object) []byte {
		var b bytes.Buffer
		w, err := NewPackWriter(&b, len(objects))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			if err := w.Add(repo.HashObject(o.Type, o.Data), o); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	x := repo.Object{Type: repo.BlobObject, Data: []byte("x")}
	good := packOf(x, tree("a", repo.File, blob))
	flipped := bytes.Clone(good)
	flipped[15] ^= 1
	commit := func(text string) repo.Object {
		return repo.Object{Type: repo.CommitObject, Data: []byte(text)}
	}
	who := "a <a> 0 +0000"
	absent := strings.Repeat("51", 20)
	halfConflict := commit(fmt.Sprintf("tree %x\nauthor %s\ncommitter %s\njj:trees %s %s %s\n\n", repo.EmptyTreeID, who, who, absent, absent,
		absent))
	for _, c := range []struct {
		name, want string
		pack       []byte
	}{
		{"a name that climbs", "climbs", packOf(x, tree("..", repo.File, blob))},
		{"a name with a slash", "separator", packOf(x, tree("a/b", repo.File, blob))},
		{"a repository in the tree", "reserved", packOf(x, tree(".jj", repo.File, blob))},
		{"a repository in other letters", "reserved", packOf(x, tree(".GIT", repo.File, blob))},
		{"a missing blob", "missing", packOf(tree("a", repo.File, strings.Repeat("q", 20)))},
		{"a blob taken for a tree", "takes blob", packOf(x, tree("a", repo.Subtree, blob))},
		{"a missing parent", "missing", packOf(commit(fmt.Sprintf("tree %x\nparent %x\nauthor %s\ncommitter %s\n\n", repo.EmptyTreeID,
			strings.Repeat("p", 20), who, who)))},
		{"the root commit as a parent", "root commit", packOf(commit(fmt.Sprintf("tree %x\nparent %s\nauthor %s\ncommitter %s\n\n",
			repo.EmptyTreeID, repo.RootCommitID.Hex(), who, who)))},
		{"a conflict without its sides", "missing", packOf(halfConflict)},
		{"a commit without a tree", "no tree", packOf(commit("parent 1\n\n"))},
		{"one hidden tree", "jj:trees", packOf(commit(fmt.Sprintf("tree %x\nauthor %s\ncommitter %s\njj:trees %x\n\n", repo.EmptyTreeID, who, who,
			repo.EmptyTreeID)))},
		{"a tag", "tag", packOf(repo.Object{Type: repo.TagObject, Data: []byte("t")})},
		{"a flipped bit", "checksum", flipped},
		{"half a pack", "checksum", good[:len(good)/2]},
		{"not a pack", "not a git pack", []byte("hello")},
	} {
		in := s.Receive(DefaultLimits)
		err := in.Pack(t.Context(), bytes.NewReader(c.pack))
		if err == nil {
			err = in.Check(t.Context())
		}
		if err == nil || fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		in.Close()
	}
	// What the server has, a copy takes: it would get nothing else from it.
	served := s.Receive(DefaultLimits)
	served.Served = true
	if err := served.Pack(t.Context(), bytes.NewReader(packOf(x, tree(".jj", repo.File, blob), halfConflict))); err != nil {
		t.Errorf("served: %v", err)
	}
	if err := served.Check(t.Context()); err != nil {
		t.Errorf("served: %v", err)
	}
	served.Close()
	in := s.Receive(DefaultLimits)
	if err := in.Pack(t.Context(), bytes.NewReader(good)); err != nil {
		t.Fatal(err)
	}
	op := repo.Operation{View: repo.RootViewID, Parents: []repo.OperationID{repo.OperationID(strings.Repeat("o", 64))}}
	if err := in.Operation(repo.RootOperationID, op.Encode()); err == nil || !strings.Contains(err.Error(), "is really") {
		t.Errorf("operation under a false id: %v", err)
	}
	if err := in.Operation(op.ComputeID(), op.Encode()); err != nil {
		t.Fatal(err)
	}
	if err := in.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "needs operation") {
		t.Errorf("operation without parent: %v", err)
	}
	in.Close()
	tiny := s.Receive(Limits{Objects: 1, Bytes: 1 << 20, Total: 1 << 20, Named: 1 << 20})
	if err := tiny.Pack(t.Context(), bytes.NewReader(good)); err == nil || !strings.Contains(err.Error(), "more than 1 objects") {
		t.Errorf("too many objects: %v", err)
	}
	tiny.Close()
	for _, where := range []string{"objects/pack", "refs/jj/keep"} {
		names, _ := os.ReadDir(filepath.Join(s.GitDir(), where))
		if len(names) != 0 {
			t.Errorf("%s holds %v after refusals", where, names)
		}
	}
	if _, err := s.Object(t.Context(), blob); err == nil {
		t.Error("a refused object is readable")
	}
}
