package server

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"tandem/internal/fault"
)

// The secrets of containers can be read by all in them and lie where nobody can write: they were refused, with the advice to chmod.
func TestASecretThatNobodyCanLockIsTaken(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing there")
	}
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte("open sesame\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		mode         fs.FileMode
		chmod        error
		next, warned string
	}{
		{0o600, nil, "", ""},
		{0o400, syscall.EROFS, "", ""},
		{0o711, nil, "", ""},
		{0o640, nil, "chmod 600", ""},
		{0o604, nil, "chmod 600", ""},
		{0o644, syscall.EPERM, "install -m 600", ""},
		{0o644, syscall.EROFS, "", "can be read by others"},
		{0o440, syscall.EROFS, "", "can be read by others"},
	} {
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		var warned strings.Builder
		line, err := secretLine(&warned, path, func(string, fs.FileMode) error { return c.chmod })
		switch {
		case c.next == "" && (err != nil || line != "open sesame"):
			t.Errorf("%o, %v: %q, %v", c.mode, c.chmod, line, err)
		case c.next != "" && (err == nil || !strings.Contains(fault.Public(err).Next, c.next)):
			t.Errorf("%o, %v: %q, %v", c.mode, c.chmod, line, err)
		case !strings.Contains(warned.String(), c.warned) || c.warned == "" && warned.Len() > 0:
			t.Errorf("%o, %v: it says %q", c.mode, c.chmod, warned.String())
		}
	}
	for path, want := range map[string]bool{"/run/secrets/x": true, "/run/secrets/../x": false, "/etc/x": false} {
		if ofContainer(path) != want {
			t.Errorf("%s: a container's is %v", path, !want)
		}
	}
}
