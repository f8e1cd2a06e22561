package gitstore

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"io"
	"runtime"
	"sync"
	"testing"
	"time"

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
