package gitstore

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/repo"
	"tandem/internal/repo/stocktest"
)

// packed history: so many versions of a few files that git keeps nearly all of
// them as differences.
func deltaHistory(t *testing.T, j *stocktest.JJ) string {
	dir := filepath.Join(t.TempDir(), "r")
	j.Git(filepath.Dir(dir), "init", "-q", "-b", "main", dir)
	var in strings.Builder
	for c := range 400 {
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter B <b@example.com> %d +0000\ndata 1\nc\n", 1_600_000_000+c)
		for f := range 40 {
			if c == 0 || f == c%40 {
				text := fmt.Sprintf("file %d\n%s\nas of %d\n", f, strings.Repeat("a line that stays\n", 40+f), c)
				fmt.Fprintf(&in, "M 100644 inline d%d/f%02d\ndata %d\n%s\n", f%4, f, len(text), text)
			}
		}
	}
	cmd := exec.Command("git", "-C", dir, "fast-import", "--quiet")
	cmd.Stdin = strings.NewReader(in.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("fast-import: %v\n%s", err, out)
	}
	j.Git(dir, "repack", "-q", "-a", "-d", "-f", "--depth=50")
	j.Run(dir, "git", "init", "--colocate")
	return dir
}

// deltas counts the differences in a pack; git reads it, with nothing else there.
func deltas(t *testing.T, j *stocktest.JJ, data []byte) (n int) {
	t.Helper()
	dir := t.TempDir()
	j.Git(dir, "init", "-q", "--bare", ".")
	path := filepath.Join(dir, "objects", "pack", "p.pack")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	j.Git(dir, "index-pack", path)
	for _, line := range strings.Split(j.Git(dir, "verify-pack", "-v", path), "\n") {
		if len(strings.Fields(line)) == 7 { // id type size size-in-pack offset depth base
			n++
		}
	}
	return n
}

// A pack travels as the server has it, differences and all, and arrives whole.
func TestDifferencesTravel(t *testing.T) {
	j := stocktest.New(t)
	from := openTest(t, deltaHistory(t, j))
	d, err := from.Delta(t.Context(), nil, []repo.OperationID{headOp(t, from)})
	if err != nil {
		t.Fatal(err)
	}
	ids := objectsOf(t, d)
	if n := from.Part(ids); n != len(ids) || n < copyFrom {
		t.Fatalf("%d of %d objects in the first part", n, len(ids))
	}
	var b bytes.Buffer
	if err := from.WritePack(t.Context(), &b, ids); err != nil {
		t.Fatal(err)
	}
	if n := deltas(t, j, b.Bytes()); n < len(ids)/2 {
		t.Errorf("%d of %d objects travel as differences", n, len(ids))
	}
	dir := t.TempDir()
	to, err := Init(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	carry(t, from, to, j.Identity())
	for _, id := range ids {
		want, err := from.Object(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := to.Object(t.Context(), id); err != nil || got.Type != want.Type || !bytes.Equal(got.Data, want.Data) {
			t.Fatalf("object %x arrived as another: %v", id, err)
		}
	}
	j.Git(to.GitDir(), "fsck", "--strict", "--no-dangling")
	packs, _ := filepath.Glob(filepath.Join(to.GitDir(), "objects", "pack", "*.pack"))
	if len(packs) != 1 {
		t.Fatalf("arrived as %d packs", len(packs))
	}
	if st, err := os.Stat(packs[0]); err != nil || st.Size() > int64(2*b.Len()) {
		t.Errorf("%d bytes were sent and %d are stored (%v)", b.Len(), st.Size(), err)
	}
}

// Whatever is chosen of a repository, no pack needs anything that is not in it.
func TestAPackNeedsNothingElse(t *testing.T) {
	j := stocktest.New(t)
	s := openTest(t, deltaHistory(t, j))
	d, err := s.Delta(t.Context(), nil, []repo.OperationID{headOp(t, s)})
	if err != nil {
		t.Fatal(err)
	}
	all := objectsOf(t, d)
	for _, every := range []int{2, 3} {
		for first := range every {
			var ids []string
			for i := first; i < len(all); i += every {
				ids = append(ids, all[i])
			}
			if len(ids) < copyFrom {
				t.Fatalf("%d objects are too few to be copied", len(ids))
			}
			var b bytes.Buffer
			if err := s.WritePack(t.Context(), &b, ids); err != nil {
				t.Fatal(err)
			}
			n := deltas(t, j, b.Bytes())
			if got := binary.BigEndian.Uint32(b.Bytes()[8:]); int(got) != len(ids) {
				t.Errorf("%d objects in a pack of %d", got, len(ids))
			}
			t.Logf("%d objects, %d of them differences", len(ids), n)
		}
	}
}

// Parts are cut by bytes too, and one object that is larger goes alone.
func TestPartsAreBounded(t *testing.T) {
	s, err := Init(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var ids []string
	for _, size := range []int{partBytes / 2, partBytes / 4, partBytes / 2, partBytes + 1, 5} {
		noise := make([]byte, size)
		rand.NewChaCha8([32]byte{byte(len(ids))}).Read(noise)
		id, err := s.PutFile(t.Context(), noise)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, string(id))
	}
	var parts []int
	for rest := ids; len(rest) > 0; {
		n := s.Part(rest)
		parts, rest = append(parts, n), rest[n:]
	}
	if fmt.Sprint(parts) != "[2 1 1 1]" {
		t.Errorf("parts of %v objects", parts)
	}
	many := make([]string, PartObjects+1)
	for i := range many {
		many[i] = string(binary.BigEndian.AppendUint32(make([]byte, 16), uint32(i)))
	}
	if n := s.Part(many); n != PartObjects {
		t.Errorf("a part of %d objects", n)
	}
}

// A damaged pack is noticed by whoever sends it.
func TestDamageIsNotSent(t *testing.T) {
	j := stocktest.New(t)
	dir := deltaHistory(t, j)
	s := openTest(t, dir)
	d, err := s.Delta(t.Context(), nil, []repo.OperationID{headOp(t, s)})
	if err != nil {
		t.Fatal(err)
	}
	ids := objectsOf(t, d)
	s.Close()
	packs, _ := filepath.Glob(filepath.Join(dir, ".git", "objects", "pack", "*.pack"))
	data, err := os.ReadFile(packs[0])
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.Chmod(packs[0], 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(packs[0], data, 0o644); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := openTest(t, dir).WritePack(t.Context(), &b, ids); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged pack was sent: %v", err)
	}
}
