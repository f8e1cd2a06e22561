package backup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tandem/internal/fault"
)

func rows(from, to int) []byte {
	var b bytes.Buffer
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "[%d, \"%x\"]\n", i, uint64(i)*0x9e3779b97f4a7c15)
	}
	return b.Bytes()
}

func write(t *testing.T, path string, made time.Time, s Secret, tables []byte) (string, Sum) {
	t.Helper()
	w, err := Create(path, made, s, []byte("a house's key"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Drop()
	for _, e := range []struct {
		name string
		data []byte
	}{{"head", []byte("{}\n")}, {"tables", tables}, {"empty", nil}} {
		if err := w.Add(Entry{Name: e.name, Mode: 0o600}, bytes.NewReader(e.data)); err != nil {
			t.Fatal(err)
		}
	}
	sum, err := w.Keep()
	if err != nil {
		t.Fatal(err)
	}
	return w.Path(), sum
}

func read(path string, s Secret) (map[string][]byte, error) {
	r, err := Open(path, s)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	out := map[string][]byte{}
	for {
		e, in, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if out[e.Name], err = io.ReadAll(in); err != nil {
			return nil, err
		}
	}
}

// A copy comes back as it was, whatever locks it, and for nobody else; a copy that was
// cut or changed anywhere is none.
func TestWhatIsCopiedComesBack(t *testing.T) {
	identity, recipient, err := NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	tables := rows(0, 30_000)
	for name, c := range map[string]struct{ lock, open, wrong Secret }{
		"open":       {},
		"passphrase": {Secret{Passphrase: "a b c"}, Secret{Passphrase: "a b c"}, Secret{Passphrase: "a b d"}},
		"recipient":  {Secret{Recipient: recipient}, Secret{Identity: identity}, Secret{Passphrase: "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			path, _ := write(t, filepath.Join(t.TempDir(), "copy"), time.Unix(1, 0), c.lock, tables)
			got, err := read(path, c.open)
			if err != nil || !bytes.Equal(got["tables"], tables) || len(got) != 3 {
				t.Fatalf("%d entries, %v", len(got), err)
			}
			if _, err := read(path, c.wrong); name != "open" && (err == nil || fault.Public(err).Next == "") {
				t.Errorf("opened with %+v: %v", c.wrong, err)
			}
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if name != "open" && bytes.Contains(whole, []byte("head")) {
				t.Error("names can be read")
			}
			for _, at := range []int{len(whole) / 3, len(whole) - 1} {
				changed := bytes.Clone(whole)
				changed[at] ^= 1
				for what, data := range map[string][]byte{"cut": whole[:at], "changed": changed} {
					if err := os.WriteFile(path, data, 0o600); err != nil {
						t.Fatal(err)
					}
					if _, err := read(path, c.open); fault.KindOf(err) != fault.Invalid {
						t.Errorf("%s at %d: %v", what, at, err)
					}
				}
			}
		})
	}
}

// In a folder a copy takes the room of what is new, older copies still read, and what
// is pruned leaves nothing behind and takes nothing from the others.
func TestAFolderHasWhatIsNew(t *testing.T) {
	folder := t.TempDir()
	s := Secret{Passphrase: "a b c"}
	first, one := write(t, folder, time.Unix(1, 0), s, rows(0, 100_000))
	more := append(append([]byte("[-1]\n"), rows(0, 100_000)...), rows(200_000, 200_100)...)
	second, two := write(t, folder, time.Unix(2, 0), s, more)
	t.Logf("first copy %d bytes on disk, the second, with 101 of 100,000 rows new, %d", one.Written, two.Written)
	if two.Written > one.Written/4 {
		t.Errorf("the second copy takes %d bytes, the first %d", two.Written, one.Written)
	}
	for path, want := range map[string][]byte{first: rows(0, 100_000), second: more} {
		if got, err := read(path, s); err != nil || !bytes.Equal(got["tables"], want) {
			t.Fatalf("%s: %v", path, err)
		}
	}
	if newest, err := Newest(folder); err != nil || newest != second {
		t.Errorf("newest %s, %v", newest, err)
	}
	gone, err := Prune(folder, 1, s)
	if err != nil || len(gone) != 1 || gone[0] != first {
		t.Fatalf("pruned %v, %v", gone, err)
	}
	if got, err := read(second, s); err != nil || !bytes.Equal(got["tables"], more) {
		t.Fatalf("after pruning: %v", err)
	}
	third, _ := write(t, folder, time.Unix(3, 0), s, nil)
	if _, err := Prune(folder, 1, s); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(folder, "chunks", "*", "*"))
	if _, readErr := read(third, s); err != nil || readErr != nil || len(left) != 1 { // the head's
		t.Errorf("%d pieces are left, %v, %v", len(left), err, readErr)
	}
}
