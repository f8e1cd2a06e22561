package daemon

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"syscall"
	"testing"

	"tandem/internal/journal"
	"tandem/internal/session/agents"
	"tandem/internal/space/peer"
	"tandem/internal/testenv"
)

// A loss of power forgets a new name unless its folder is synced behind it. Nothing tells of the sync itself, but a folder has
// to be opened for it, and the kernel tells of that.
func TestNewNamesOutliveALossOfPower(t *testing.T) {
	k := keptAt(t, "")
	for name, write := range map[string]func(path string) error{
		"journal.key": func(path string) error { _, err := journal.Key(path); return err },
		"space.key":   func(path string) error { _, err := peer.Key(path); return err },
		"agent.json":  func(path string) error { return agents.WriteJSON(path, obj{"a": 1}) },
		"copy":        func(path string) error { _, err := k.do("server.backup", BackupIn{Path: path}); return err },
	} {
		t.Run(name, func(t *testing.T) {
			dir := testenv.Dir(t)
			said := told(t, dir, func() {
				if err := write(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			})
			named := bytes.LastIndex(said, []byte("named "+name+"\n"))
			if named < 0 || !bytes.Contains(said[named:], []byte("opened .\n")) {
				t.Errorf("the folder was not synced after the name was made:\n%s", said)
			}
		})
	}
}

// told is what the kernel tells of a folder while fn runs: which names were made in it, and that it was opened itself.
func told(t *testing.T, dir string, fn func()) (said []byte) {
	t.Helper()
	fd, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if _, err := syscall.InotifyAddWatch(fd, dir, syscall.IN_OPEN|syscall.IN_CREATE|syscall.IN_MOVED_TO); err != nil {
		t.Fatal(err)
	}
	fn()
	buf := make([]byte, 64<<10)
	n, err := syscall.Read(fd, buf)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < n; { // watch, mask, cookie, length of the name, the name
		mask, size := binary.NativeEndian.Uint32(buf[at+4:]), int(binary.NativeEndian.Uint32(buf[at+12:]))
		name := bytes.TrimRight(buf[at+16:at+16+size], "\x00")
		switch {
		case mask&(syscall.IN_CREATE|syscall.IN_MOVED_TO) != 0:
			said = append(said, "named "+string(name)+"\n"...)
		case mask&syscall.IN_ISDIR != 0 && size == 0:
			said = append(said, "opened .\n"...)
		}
		at += 16 + size
	}
	return said
}
