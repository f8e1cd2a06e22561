package logfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// On a full disk a line was cut off, and the next one that had room was written behind its half: neither could be read as JSON.
func TestALineIsWholeOrNotThere(t *testing.T) {
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	l, err := Open(filepath.Join(t.TempDir(), "tandem.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	full := was
	full.Cur = 10 // as a disk with room for ten bytes
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full); err != nil {
		t.Fatal(err)
	}
	_, err = l.Write([]byte("one\n"))
	_, cut := l.Write([]byte("a line that is too long\n"))
	if back := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil || cut == nil || back != nil {
		t.Fatal(errors.Join(err, cut, back))
	}
	if _, err := l.Write([]byte("two\n")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(l.path); err != nil || strings.TrimSpace(string(got)) != "one\ntwo" {
		t.Errorf("%q, %v", got, err)
	}
}
