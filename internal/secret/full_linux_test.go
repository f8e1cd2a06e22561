package secret

import (
	"bytes"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"tandem/internal/testenv"
)

// A disk that is full when a second master key is stored must not take the
// first one along: every secret is sealed under it.
func TestAFullDiskKeepsTheKeys(t *testing.T) {
	if path := os.Getenv("TANDEM_TEST_FULL"); path != "" {
		storeWithoutRoom(t, path)
		return
	}
	path := filepath.Join(t.TempDir(), "secret.key")
	first := bytes.Repeat([]byte{1}, keySize)
	if err := (&fileKeeper{path: path}).Store("first", first); err != nil {
		t.Fatal(err)
	}
	if out, err := testenv.Again(t, "TANDEM_TEST_FULL="+path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got, err := (&fileKeeper{path: path}).Load("first"); err != nil || !bytes.Equal(got, first) {
		t.Errorf("the first key afterwards: %x, %v", got, err)
	}
}

// storeWithoutRoom runs in a process of its own, in which no file grows beyond
// a few bytes.
func storeWithoutRoom(t *testing.T, path string) {
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 10, Max: 10}); err != nil {
		t.Fatal(err)
	}
	if err := (&fileKeeper{path: path}).Store("second", bytes.Repeat([]byte{2}, keySize)); err == nil {
		t.Error("a key that was not written was called stored")
	}
}
