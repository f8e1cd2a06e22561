package gitstore

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"io"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/repo"
)

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// addZeros writes an object of very many zeros in very few bytes.
func addZeros(t *testing.T, w *PackWriter, typ repo.ObjectType, size int) {
	t.Helper()
	w.head(typ, size)
	z := zlib.NewWriter(&w.buf)
	if _, err := io.CopyN(z, zeros{}, int64(size)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.addEncoded("", w.buf.Bytes()); err != nil {
		t.Fatal(err)
	}
}

// peak is by how many bytes the heap grew at most while something ran.
func peak(do func()) (most uint64) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for tick := time.NewTicker(5 * time.Millisecond); ; {
			select {
			case <-stop:
				tick.Stop()
				return
			case <-tick.C:
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc-min(before, m.HeapAlloc))
			}
		}
	}()
	do()
	close(stop)
	<-stopped
	return most
}

// Four requests of a few hundred kilobytes that unpack to gigabytes took three
// gigabytes of memory. A large file is named as it goes by, and stored as it came.
func TestLargeObjectsTakeLittleMemory(t *testing.T) {
	const size, callers = 300 << 20, 4
	data := newPack(t, 1, func(w *PackWriter) { addZeros(t, w, repo.BlobObject, size) })
	stores := make([]*Store, callers)
	for i := range stores {
		s, err := Init(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		stores[i] = s
	}
	most := peak(func() {
		var wg sync.WaitGroup
		for _, s := range stores {
			wg.Go(func() {
				in := s.Receive(DefaultLimits)
				defer in.Close()
				for _, err := range []error{in.Pack(t.Context(), bytes.NewReader(data)), in.Check(t.Context()), in.Accept(t.Context())} {
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	})
	t.Logf("four packs of %d bytes that unpack to %d each: the heap grew by %d bytes", len(data), size, most)
	if most > 64<<20 {
		t.Errorf("the heap grew by %d bytes", most)
	}
	if got := stores[0].CountObjects(); got == 0 {
		t.Error("the file was not stored")
	}
}

// What must be held in memory is refused when it is too large, before it is
// unpacked.
func TestTooLargeToHold(t *testing.T) {
	const size = 64 << 20
	limits := DefaultLimits
	limits.Held = 8 << 20
	s, err := Init(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	base := []byte("base")
	for name, data := range map[string][]byte{
		"a tree":       newPack(t, 1, func(w *PackWriter) { addZeros(t, w, repo.TreeObject, size) }),
		"a difference": newPack(t, 1, func(w *PackWriter) { addZeros(t, w, refDelta, size) }),
		"its result": newPack(t, 2, func(w *PackWriter) {
			if err := w.Add(repo.HashObject(repo.BlobObject, base), repo.Object{Type: repo.BlobObject, Data: base}); err != nil {
				t.Fatal(err)
			}
			d := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(len(base))), size)
			addRef(t, w, repo.HashObject(repo.BlobObject, base), append(d, 0x80|0x10, 4))
		}),
	} {
		most := peak(func() {
			in := s.Receive(limits)
			defer in.Close()
			if err := in.Pack(t.Context(), bytes.NewReader(data)); err == nil {
				t.Errorf("%s was taken", name)
			}
		})
		if most > 16<<20 {
			t.Errorf("%s: the heap grew by %d bytes", name, most)
		}
	}
}

// What something differs from is held as well: two megabytes that differ from a
// file of two gigabytes took as much memory, and as often as they said so.
func TestABaseThatIsTooLargeToHold(t *testing.T) {
	const size = 64 << 20
	limits := DefaultLimits
	limits.Held = 8 << 20
	head := beginning(make([]byte, size), 1)
	liar := beginning(make([]byte, 10), 1) // it says that its base is small
	zeroID := func() string {
		h := repo.NewObjectHash(repo.BlobObject, size)
		if _, err := io.CopyN(h, zeros{}, size); err != nil {
			t.Fatal(err)
		}
		return string(h.Sum(nil))
	}()
	inPack, loose := largeStore(t), largeStore(t)
	if _, err := inPack.PutLargeFile(t.Context(), bytes.NewReader(make([]byte, size)), size); err != nil {
		t.Fatal(err)
	}
	if _, err := loose.PutFile(t.Context(), make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	if err := loose.Flush(); err != nil {
		t.Fatal(err)
	}
	behind := func(delta []byte) []byte {
		return newPack(t, 2, func(w *PackWriter) {
			at := w.at
			addZeros(t, w, repo.BlobObject, size)
			var z bytes.Buffer
			deflate(&z, delta)
			if err := w.addDelta("", len(delta), w.at-at, z.Bytes()); err != nil {
				t.Fatal(err)
			}
		})
	}
	waiting := newPack(t, 2, func(w *PackWriter) {
		addRef(t, w, zeroID, head)
		addZeros(t, w, repo.BlobObject, size)
	})
	outside := newPack(t, 1, func(w *PackWriter) { addRef(t, w, zeroID, liar) })
	for _, c := range []struct {
		name  string
		store *Store
		packs [][]byte
	}{
		{"in its pack", largeStore(t), [][]byte{behind(head)}},
		{"in its pack, and it lies", largeStore(t), [][]byte{behind(liar)}},
		{"behind it", largeStore(t), [][]byte{waiting}},
		{"in the pack before", largeStore(t), [][]byte{
			newPack(t, 1, func(w *PackWriter) { addZeros(t, w, repo.BlobObject, size) }), outside}},
		{"in a pack of the repository", inPack, [][]byte{outside}},
		{"loose in the repository", loose, [][]byte{outside}},
	} {
		most := peak(func() {
			in := c.store.Receive(limits)
			defer in.Close()
			var err error
			for _, data := range c.packs {
				err = in.Pack(t.Context(), bytes.NewReader(data))
			}
			if err == nil || fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "too large") {
				t.Errorf("a base %s: %v", c.name, err)
			}
		})
		if most > 16<<20 {
			t.Errorf("a base %s: the heap grew by %d bytes", c.name, most)
		}
	}
}

// Two bases that are read in turn are unpacked only so often, and a chain of large
// ones is read once.
func TestBasesAreUnpackedOnlySoOften(t *testing.T) {
	const size = large + 1
	limits := DefaultLimits
	limits.Total = 4 * size
	other := bytes.Repeat([]byte{1}, size)
	add := func(w *PackWriter, base int64, delta []byte) {
		var z bytes.Buffer
		deflate(&z, delta)
		if err := w.addDelta("", len(delta), w.at-base, z.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	hostile := newPack(t, 42, func(w *PackWriter) {
		first := w.at
		addZeros(t, w, repo.BlobObject, size)
		second := w.at
		if err := w.Add("", repo.Object{Type: repo.BlobObject, Data: other}); err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			add(w, first, beginning(other, 2*i+1))
			add(w, second, beginning(other, 2*i+2))
		}
	})
	in := largeStore(t).Receive(limits)
	defer in.Close()
	if err := in.Pack(t.Context(), bytes.NewReader(hostile)); err == nil || !strings.Contains(err.Error(), "unpack to more") {
		t.Errorf("bases that were read in turn: %v", err)
	}
	honest := newPack(t, 41, func(w *PackWriter) {
		base := w.at
		addZeros(t, w, repo.BlobObject, size)
		for i := range 40 {
			add(w, base, beginning(other, i+1))
		}
	})
	calm := largeStore(t).Receive(limits)
	defer calm.Close()
	if err := calm.Pack(t.Context(), bytes.NewReader(honest)); err != nil {
		t.Errorf("one base of many: %v", err)
	}
}

// A difference from a file that nobody holds, as git writes it, travels whole.
func TestADifferenceFromALargeFileTravelsWhole(t *testing.T) {
	kept := DefaultLimits
	t.Cleanup(func() { DefaultLimits = kept })
	DefaultLimits.Held = 8 << 20
	const size = 64 << 20
	from, to := largeStore(t), largeStore(t)
	unbounded := DefaultLimits
	unbounded.Held = math.MaxInt
	send := func(to *Store, limits Limits, data []byte) {
		t.Helper()
		in := to.Receive(limits)
		defer in.Close()
		for _, err := range []error{in.Pack(t.Context(), bytes.NewReader(data)), in.Check(t.Context()), in.Accept(t.Context())} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	var ids []string
	send(from, unbounded, newPack(t, 2, func(w *PackWriter) {
		at := w.at
		addZeros(t, w, repo.BlobObject, size)
		delta := beginning(make([]byte, size), 3)
		var z bytes.Buffer
		deflate(&z, delta)
		if err := w.addDelta("", len(delta), w.at-at, z.Bytes()); err != nil {
			t.Fatal(err)
		}
	}))
	for _, p := range from.objects.order {
		for i := range p.index.count {
			ids = append(ids, string(p.index.id(i)))
		}
	}
	if len(ids) != 2 {
		t.Fatalf("%d objects were stored", len(ids))
	}
	var b bytes.Buffer
	if err := from.WritePack(t.Context(), &b, ids); err != nil {
		t.Fatal(err)
	}
	send(to, DefaultLimits, b.Bytes())
	if o, err := to.Object(t.Context(), repo.HashObject(repo.BlobObject, make([]byte, 3))); err != nil || len(o.Data) != 3 {
		t.Errorf("it arrived with %d bytes: %v", len(o.Data), err)
	}
}
