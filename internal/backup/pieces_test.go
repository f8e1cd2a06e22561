package backup

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tandem/internal/fault"
)

// A server that locks its copies to somebody else could not tell which pieces are nobody's any more: they stayed for ever, so its
// scheduled copies shared none. The list beside each copy tells.
func TestPiecesGoWithoutTheIdentity(t *testing.T) {
	identity, recipient, err := NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	folder, to := t.TempDir(), Secret{Recipient: recipient}
	pieces := func() int {
		list, err := filepath.Glob(filepath.Join(folder, "chunks", "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	first, whole := write(t, folder, time.Unix(1, 0), to, rows(0, 60_000))
	all := pieces()
	second, less := write(t, folder, time.Unix(2, 0), to, rows(59_000, 60_000))
	if _, err := Prune(folder, 1, to); err != nil {
		t.Fatal(err)
	}
	if left := pieces(); left >= all/2 || less.Written >= whole.Written/2 {
		t.Errorf("%d pieces of %d are left; %d bytes, and before %d", left, all, less.Written, whole.Written)
	}
	if _, err := os.Stat(piecesOf(first)); !os.IsNotExist(err) {
		t.Errorf("the list of a copy that went: %v", err)
	}
	if got, err := read(second, Secret{Identity: identity}); err != nil || !bytes.Equal(got["tables"], rows(59_000, 60_000)) {
		t.Errorf("after pruning: %v", err)
	}
	if err := os.Remove(piecesOf(second)); err != nil { // as a program before this one leaves it
		t.Fatal(err)
	}
	before := pieces()
	third, _ := write(t, folder, time.Unix(3, 0), to, nil)
	if _, err := Prune(folder, 2, to); err != nil || pieces() < before {
		t.Errorf("pieces of a copy that nobody knows go: %d of %d, %v", pieces(), before, err)
	}
	if _, err := read(third, Secret{Identity: identity}); err != nil {
		t.Error(err)
	}
}

// Tidying takes no piece that a copy under way counts on, and a copy of which a piece is gone is not kept.
func TestTidyingLeavesWhatACopyUnderWayCountsOn(t *testing.T) {
	folder, s := t.TempDir(), Secret{}
	rows := bytes.Repeat([]byte("a row that both copies hold\n"), 20_000)
	first, _ := write(t, folder, time.Unix(1, 0), s, rows)
	write(t, folder, time.Unix(3, 0), s, nil)
	begin := func(made time.Time) *Writer {
		t.Helper()
		w, err := Create(folder, made, s, []byte("a house's key"))
		if err == nil {
			err = w.Add(Entry{Name: "tables"}, bytes.NewReader(rows))
		}
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w := begin(time.Unix(4, 0))
	gone, err := Prune(folder, 1, s)
	if err != nil || len(gone) != 1 || gone[0] != first {
		t.Fatalf("pruned %v, %v", gone, err)
	}
	if _, err := w.Keep(); err != nil {
		t.Fatal(err)
	}
	if got, err := read(filepath.Join(folder, filepath.Base(w.Path())), s); err != nil || !bytes.Equal(got["tables"], rows) {
		t.Errorf("the copy that was under way: %v", err)
	}
	w = begin(time.Unix(5, 0))
	for name := range w.names {
		if err := os.Remove(filepath.Join(w.folder, name[:2], name[2:])); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Keep(); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a copy without its pieces: %v", err)
	}
	w.Drop()
}
