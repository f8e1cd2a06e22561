package logfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A log that cannot be rotated goes on in the file it has.
func TestALogThatCannotBeRotatedGoesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := Open(filepath.Join(dir, "tandem.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Rename(dir, dir+"-away"); err != nil {
		t.Fatal(err)
	}
	l.size = Size
	for _, line := range []string{"one\n", "two\n"} {
		if _, err := l.Write([]byte(line)); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
	}
	if got, err := os.ReadFile(filepath.Join(dir+"-away", "tandem.log")); err != nil || !strings.HasSuffix(string(got), "one\ntwo\n") {
		t.Errorf("%q, %v", got, err)
	}
}
