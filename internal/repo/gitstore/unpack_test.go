package gitstore

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
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

// beginning is a difference that keeps the first bytes of its base.
func beginning(base []byte, n int) []byte {
	d := binary.AppendUvarint(nil, uint64(len(base)))
	d = binary.AppendUvarint(d, uint64(n))
	return append(d, 0x80|0x10|0x20|0x40, byte(n), byte(n>>8), byte(n>>16))
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
	if err := in.Pack(t.Context(), bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	if err := in.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := in.Accept(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if o, err := s.Object(t.Context(), id(i)); err != nil || !bytes.Equal(o.Data, texts[i]) {
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
		{"an object twice", "twice", newPack(t, 3, func(w *PackWriter) {
			if err := w.Add("", x); err != nil {
				t.Fatal(err)
			}
			xy := append(bytes.Clone(x.Data), 'y')
			addRef(t, w, repo.HashObject(repo.BlobObject, x.Data), one)
			addRef(t, w, repo.HashObject(repo.BlobObject, xy), beginning(xy, 1))
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
		if err := in.Pack(t.Context(), bytes.NewReader(c.pack)); err == nil || fault.KindOf(err) != fault.Invalid ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		in.Close()
	}
}

// Packs that differ from each other's objects lead nowhere but back: to what came
// before, and to what was there.
func TestPacksInARing(t *testing.T) {
	s, err := Init(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	long := make([]byte, 9<<20) // too long to be kept in memory once it was read
	short := long[:len(long)-1]
	longID, shortID := repo.HashObject(repo.BlobObject, long), repo.HashObject(repo.BlobObject, short)
	if _, err := s.PutFile(t.Context(), long); err != nil {
		t.Fatal(err)
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	again := binary.AppendUvarint(nil, uint64(len(short)))
	again = binary.AppendUvarint(again, uint64(len(long)))
	n := len(short)
	again = append(again, 0x80|0x10|0x20|0x40, byte(n), byte(n>>8), byte(n>>16), 1, 0)
	in := s.Receive(DefaultLimits)
	defer in.Close()
	for _, data := range [][]byte{
		newPack(t, 1, func(w *PackWriter) { addRef(t, w, longID, beginning(long, len(short))) }),
		newPack(t, 1, func(w *PackWriter) { addRef(t, w, shortID, again) }),
	} {
		if err := in.Pack(t.Context(), bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := in.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := in.Accept(t.Context()); err != nil {
		t.Fatal(err)
	}
	if o, err := s.Object(t.Context(), shortID); err != nil || len(o.Data) != len(short) {
		t.Errorf("it arrived with %d bytes: %v", len(o.Data), err)
	}
}

// Packs that each stand on the one before are refused when they are many: reading
// the last would read them all.
func TestPacksOnPacks(t *testing.T) {
	s, err := Init(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	in := s.Receive(DefaultLimits)
	defer in.Close()
	text := []byte("x")
	data := newPack(t, 1, func(w *PackWriter) {
		if err := w.Add("", repo.Object{Type: repo.BlobObject, Data: text}); err != nil {
			t.Fatal(err)
		}
	})
	for i := range mostThin + 2 {
		err := in.Pack(t.Context(), bytes.NewReader(data))
		if i <= mostThin && err != nil {
			t.Fatalf("pack %d: %v", i, err)
		}
		if i > mostThin && (err == nil || !strings.Contains(err.Error(), "outside of them")) {
			t.Fatalf("pack %d: %v", i, err)
		}
		data = newPack(t, 1, func(w *PackWriter) {
			addRef(t, w, repo.HashObject(repo.BlobObject, text), insertion(text, []byte("y")))
		})
		text = append(text, 'y')
	}
}

// What is wanted and neither there nor coming is refused before it fills memory;
// what is there already is forgotten.
func TestWantsAreBounded(t *testing.T) {
	s, err := Init(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const most = 10
	var there, absent repo.Tree
	for i := range 5 * most {
		id, err := s.PutFile(t.Context(), []byte{byte(i)})
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("%02d", i)
		there = append(there, repo.Entry{Name: "a" + name, Value: repo.TreeValue{Kind: repo.File, ID: string(id)}})
		absent = append(absent, repo.Entry{Name: "b" + name, Value: repo.TreeValue{Kind: repo.File, ID: strings.Repeat(name, 10)}})
	}
	for _, c := range []struct {
		tree repo.Tree
		want string
	}{{there, ""}, {absent[:most], ""}, {absent[:most+1], "missing"}, {slices.Concat(there, absent[:most]), ""}} {
		in := s.Receive(Limits{Objects: most, Bytes: 1 << 20, Total: 1 << 20, Named: 1 << 20})
		err := in.Pack(t.Context(), bytes.NewReader(newPack(t, 1, func(w *PackWriter) {
			if err := w.Add("", repo.Object{Type: repo.TreeObject, Data: repo.EncodeTree(c.tree)}); err != nil {
				t.Fatal(err)
			}
		})))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("a tree of %d: %v, want %q", len(c.tree), err, c.want)
		}
		if len(in.wants) > 2*most {
			t.Errorf("a tree of %d: %d are wanted", len(c.tree), len(in.wants))
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
		id, err := s.PutFile(t.Context(), base)
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
		if err := in.Pack(t.Context(), bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		if err := in.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := in.Accept(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, path := range packsIn(t, s) {
			j.Git(dir, "verify-pack", path)
		}
		for i := range 19 {
			want := append(bytes.Clone(base), fmt.Sprintf("and one more: %d\n", i)...)
			if o, err := openTest(t, dir).Object(t.Context(), repo.HashObject(repo.BlobObject, want)); err != nil || !bytes.Equal(o.Data, want) {
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
