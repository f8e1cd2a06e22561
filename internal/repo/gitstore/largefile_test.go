package gitstore

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/repo"
)

// letters are large bytes that compress a little.
type letters struct{}

func (letters) ReadAt(b []byte, at int64) (int, error) {
	for i := range b {
		x := uint64(at+int64(i)) * 0x9e3779b97f4a7c15
		b[i] = 'a' + byte(x>>58)
	}
	return len(b), nil
}

func largeStore(t *testing.T) *Store {
	t.Helper()
	s, err := Init(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// readBack hashes a file as it is read.
func readBack(t *testing.T, s *Store, id repo.FileID) (string, error) {
	t.Helper()
	r, size, err := s.OpenFile(t.Context(), id)
	if err != nil {
		return "", err
	}
	defer r.Close()
	h := repo.NewObjectHash(repo.BlobObject, int(size))
	_, err = io.Copy(h, r)
	return string(h.Sum(nil)), err
}

// A large file is stored, sent, received and read without being held, whether it
// lies in a pack or loose.
func TestALargeFileIsNotHeld(t *testing.T) {
	const size = 96 << 20
	from, to := largeStore(t), largeStore(t)
	most := peak(func() {
		id, err := from.PutLargeFile(t.Context(), letters{}, size)
		if err != nil {
			t.Fatal(err)
		}
		again, err := from.PutLargeFile(t.Context(), letters{}, size)
		if err != nil || again != id {
			t.Fatalf("the same again is %x, %v", again, err)
		}
		r, w := io.Pipe()
		go func() { w.CloseWithError(from.WritePack(t.Context(), w, []string{string(id)})) }()
		in := to.Receive(DefaultLimits)
		defer in.Close()
		for _, err := range []error{in.Pack(t.Context(), r), in.Check(t.Context()), in.Accept(t.Context())} {
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, s := range []*Store{from, to} {
			if got, err := readBack(t, s, id); err != nil || got != string(id) {
				t.Errorf("read back as %x: %v", got, err)
			}
		}
	})
	t.Logf("the heap grew by %d bytes", most)
	if most > 32<<20 {
		t.Errorf("the heap grew by %d bytes for a file of %d", most, size)
	}
}

// A loose file goes into a pack as it is read, and one that lies beside a damaged
// pack is taken instead of it.
func TestALargeFileThatIsLoose(t *testing.T) {
	const size = large + 1000
	s := largeStore(t)
	data := make([]byte, size)
	if _, err := (letters{}).ReadAt(data, 0); err != nil {
		t.Fatal(err)
	}
	id, err := s.PutLargeFile(t.Context(), bytes.NewReader(data), size)
	if err != nil {
		t.Fatal(err)
	}
	packs, err := filepath.Glob(filepath.Join(s.objects.dir, "pack", "*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatalf("%d packs, %v", len(packs), err)
	}
	raw, err := os.ReadFile(packs[0])
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)/2] ^= 0x55
	if err := errors.Join(os.Chmod(packs[0], 0o644), os.WriteFile(packs[0], raw, 0o644)); err != nil {
		t.Fatal(err)
	}
	if got, err := readBack(t, s, id); err == nil && got == string(id) {
		t.Fatal("a damaged pack was read as if it were whole")
	}
	if err := s.WritePack(t.Context(), io.Discard, []string{string(id)}); err == nil {
		t.Error("a damaged pack was sent")
	}
	piece := Piece{Kind: "object", ID: id.Hex(), Type: "blob", Data: data}
	if err := s.Mend(t.Context(), piece); err != nil {
		t.Fatal(err)
	}
	if got, err := readBack(t, s, id); err != nil || got != string(id) {
		t.Errorf("mended, it is read as %x: %v", got, err)
	}
	if err := s.WritePack(t.Context(), io.Discard, []string{string(id)}); err != nil {
		t.Errorf("mended, it is not sent: %v", err)
	}
	if err := os.RemoveAll(filepath.Dir(packs[0])); err != nil {
		t.Fatal(err)
	}
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.WritePack(t.Context(), &b, []string{string(id)}); err != nil {
		t.Fatal(err)
	}
	other := largeStore(t)
	in := other.Receive(DefaultLimits)
	defer in.Close()
	for _, err := range []error{in.Pack(t.Context(), &b), in.Check(t.Context()), in.Accept(t.Context())} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got, err := readBack(t, other, id); err != nil || got != string(id) {
		t.Errorf("sent on, it is read as %x: %v", got, err)
	}
}

// What is larger than can be read again is refused, and what is cut off meanwhile.
func TestALargeFileThatCannotBeKept(t *testing.T) {
	s := largeStore(t)
	if _, err := s.PutLargeFile(t.Context(), letters{}, maxObject+1); err == nil {
		t.Error("more than can be read was stored")
	}
	if _, err := s.PutLargeFile(t.Context(), bytes.NewReader(make([]byte, large)), large+1); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a file that was cut off: %v", err)
	}
	if _, err := s.PutFile(t.Context(), make([]byte, maxObject+1)); err == nil { // nobody looks at the bytes
		t.Error("more than can be read was put")
	}
	if _, err := repo.NewOverlay(s).PutLargeFile(t.Context(), letters{}, 1<<50); err == nil {
		t.Error("more than can be read was put over it")
	}
	left, err := filepath.Glob(filepath.Join(s.objects.dir, "pack", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A large file is read as it goes by also when git has packed it anew meanwhile, and
// when it has come and is not accepted yet.
func TestALargeFileThatMoves(t *testing.T) {
	const size = 64 << 20
	s := largeStore(t)
	id, err := s.PutLargeFile(t.Context(), letters{}, size)
	if err != nil {
		t.Fatal(err)
	}
	p, _, _ := s.objects.locate(string(id))
	for _, suffix := range []string{".pack", ".idx"} { // as a repack does
		old := strings.TrimSuffix(p.path, ".pack") + suffix
		if err := os.Rename(old, filepath.Join(filepath.Dir(old), "pack-0123456789012345678901234567890123456789"+suffix)); err != nil {
			t.Fatal(err)
		}
	}
	most := peak(func() {
		if got, err := readBack(t, s, id); err != nil || got != string(id) {
			t.Errorf("read back as %x: %v", got, err)
		}
	})
	if most > 16<<20 {
		t.Errorf("packed anew: the heap grew by %d bytes", most)
	}
	var b bytes.Buffer
	if err := s.WritePack(t.Context(), &b, []string{string(id)}); err != nil {
		t.Fatal(err)
	}
	zeroes := newPack(t, 1, func(w *PackWriter) { addZeros(t, w, repo.BlobObject, size) }) // small enough to stay in memory
	for name, data := range map[string][]byte{"letters": b.Bytes(), "zeros": zeroes} {
		in := largeStore(t).Receive(DefaultLimits)
		if err := in.Pack(t.Context(), bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		came := in.packs[0].entries[0].id
		most := peak(func() {
			r, n, err := in.Store().OpenFile(t.Context(), repo.FileID(came))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			h := repo.NewObjectHash(repo.BlobObject, int(n))
			if _, err := io.Copy(h, r); err != nil || string(h.Sum(nil)) != came {
				t.Errorf("%s: not what came: %v", name, err)
			}
		})
		in.Close()
		if most > 16<<20 {
			t.Errorf("%s that came: the heap grew by %d bytes", name, most)
		}
	}
}
