package logfile

import (
	"bytes"
	"path/filepath"
	"syscall"
	"testing"
)

// On a disk that was full to its last page the log had no room for the line that says so.
func TestTheLogHasRoomOnAFullDisk(t *testing.T) {
	l, err := Open(filepath.Join(t.TempDir(), "tandem.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := reserve(l.f, 0, 1); err != nil {
		t.Skip("this disk keeps no room: ", err)
	}
	line := append(bytes.Repeat([]byte("x"), 1000), '\n')
	for n := range 200 {
		st, err := l.f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		if room := st.Sys().(*syscall.Stat_t).Blocks*512 - st.Size(); room < 8<<10 || room > 2*ahead {
			t.Fatalf("after %d lines there is room for %d bytes", n, room)
		}
		if _, err := l.Write(line); err != nil {
			t.Fatal(err)
		}
	}
}
