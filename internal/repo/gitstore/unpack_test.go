package gitstore

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/repo"
	"tandem/internal/repo/stocktest"
)

// insertion is a difference that keeps all of its base and adds to it.
func insertion(base, more []byte) []byte {
	d := binary.AppendUvarint(nil, uint64(len(base)))
	d = binary.AppendUvarint(d, uint64(len(base)+len(more)))
	d = append(d, 0x80|0x10|0x20, byte(len(base)), byte(len(base)>>8))
	d = append(d, byte(len(more)))
	return append(d, more...)
}

// addRef writes an object as a difference from one that is named.
func addRef(t *testing.T, w *PackWriter, base string, delta []byte) {
	t.Helper()
	w.head(refDelta, len(delta))
	w.buf.WriteString(base)
	deflate(&w.buf, delta)
	if err := w.addEncoded("", w.buf.Bytes()); err != nil {
		t.Fatal(err)
	}
}

func newPack(t *testing.T, count int, fill func(w *PackWriter)) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewPackWriter(&b, count)
	if err != nil {
		t.Fatal(err)
	}
	fill(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Differences may come before what they differ from, in a row as long as the pack.
func TestDifferencesInAnyOrder(t *testing.T) {
	s, err := Init(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const n = 3000
	texts := [][]byte{[]byte("x")}
	for i := 1; i < n; i++ {
		texts = append(texts, fmt.Appendf(nil, "x%d", i))
	}
	id := func(i int) string { return repo.HashObject(repo.BlobObject, texts[i]) }
	data := newPack(t, n, func(w *PackWriter) {
		for i := n - 1; i > 0; i-- {
			base := texts[i-1]
			d := binary.AppendUvarint(nil, uint64(len(base)))
			d = binary.AppendUvarint(d, uint64(len(texts[i])))
			addRef(t, w, id(i-1), append(append(d, byte(len(texts[i]))), texts[i]...))
		}
		if err := w.Add(id(0), repo.Object{Type: repo.BlobObject, Data: texts[0]}); err != nil {
			t.Fatal(err)
		}
	})
	in := s.Receive(DefaultLimits)
	defer in.Close()
	if err := in.Pack(bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	if err := in.Check(); err != nil {
		t.Fatal(err)
	}
	if err := in.Accept(); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if o, err := s.Object(id(i)); err != nil || !bytes.Equal(o.Data, texts[i]) {
			t.Fatalf("object %d arrived as %q, %v", i, o.Data, err)
		}
	}
}

// What cannot be resolved is refused at once, however it is knotted.
func TestKnottedDifferencesAreRefused(t *testing.T) {
	s, err := Init(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	x := repo.Object{Type: repo.BlobObject, Data: []byte("x")}
	one := insertion(x.Data, []byte("y"))
	for _, c := range []struct {
		name, want string
		pack       []byte
	}{
		{"a base that is nowhere", "missing", newPack(t, 1, func(w *PackWriter) { addRef(t, w, strings.Repeat("b", 20), one) })},
		{"two that wait for each other", "missing", newPack(t, 2, func(w *PackWriter) {
			addRef(t, w, strings.Repeat("b", 20), one)
			var z bytes.Buffer
			deflate(&z, one)
			if err := w.addDelta("", len(one), w.at-12, z.Bytes()); err != nil {
				t.Fatal(err)
			}
		})},
		{"a base between two entries", "difference from none", newPack(t, 2, func(w *PackWriter) {
			if err := w.Add("", x); err != nil {
				t.Fatal(err)
			}
			var z bytes.Buffer
			deflate(&z, one)
			if err := w.addDelta("", len(one), w.at-13, z.Bytes()); err != nil {
				t.Fatal(err)
			}
		})},
		{"a chain that is too long", "more than 4095", newPack(t, deepest+2, func(w *PackWriter) {
			data, last := x.Data, w.at
			if err := w.Add("", x); err != nil {
				t.Fatal(err)
			}
			for range deepest + 1 {
				d := insertion(data, []byte("y"))
				data = append(data, 'y')
				var z bytes.Buffer
				deflate(&z, d)
				at := w.at
				if err := w.addDelta("", len(d), at-last, z.Bytes()); err != nil {
					t.Fatal(err)
				}
				last = at
			}
		})},
	} {
		in := s.Receive(DefaultLimits)
		if err := in.Pack(bytes.NewReader(c.pack)); err == nil || fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		in.Close()
	}
}

// A pack that differs from what is there already, as git sends it, is stored
// whole, be it large or small.
func TestThinPacksAreStoredWhole(t *testing.T) {
	j := stocktest.New(t)
	for _, extra := range []int{0, inMemory + 1} {
		dir := filepath.Join(t.TempDir(), "r")
		j.Run(filepath.Dir(dir), "git", "init", "--no-colocate", dir)
		s := openTest(t, dir)
		base := bytes.Repeat([]byte("a line that stays\n"), 500)
		id, err := s.PutFile(base)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Flush(); err != nil {
			t.Fatal(err)
		}
		noise := make([]byte, extra)
		rand.NewChaCha8([32]byte{}).Read(noise)
		data := newPack(t, 20, func(w *PackWriter) {
			if err := w.Add("", repo.Object{Type: repo.BlobObject, Data: noise}); err != nil {
				t.Fatal(err)
			}
			for i := range 19 {
				addRef(t, w, string(id), insertion(base, fmt.Appendf(nil, "and one more: %d\n", i)))
			}
		})
		in := s.Receive(DefaultLimits)
		if err := in.Pack(bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		if err := in.Check(); err != nil {
			t.Fatal(err)
		}
		if err := in.Accept(); err != nil {
			t.Fatal(err)
		}
		for _, path := range packsIn(t, s) {
			j.Git(dir, "verify-pack", path)
		}
		for i := range 19 {
			want := append(bytes.Clone(base), fmt.Sprintf("and one more: %d\n", i)...)
			if o, err := openTest(t, dir).Object(repo.HashObject(repo.BlobObject, want)); err != nil || !bytes.Equal(o.Data, want) {
				t.Errorf("with %d bytes of noise, object %d: %v", extra, i, err)
			}
		}
		j.Git(s.GitDir(), "fsck", "--strict", "--no-dangling")
	}
}

func packsIn(t *testing.T, s *Store) (out []string) {
	t.Helper()
	dir := filepath.Join(s.GitDir(), "objects", "pack")
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if strings.HasPrefix(n.Name(), "tmp_") {
			t.Errorf("%s was left behind", n.Name())
		}
		if strings.HasSuffix(n.Name(), ".idx") {
			out = append(out, filepath.Join(dir, n.Name()))
		}
	}
	return out
}
