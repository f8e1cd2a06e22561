//go:build unix

package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tandem/internal/fault"
)

// A daemon that is killed while it starts a program leaves its lock to that program for a moment. The next daemon waits for that, and
// does not wait for one that runs.
func TestTheLockOfAKilledDaemonIsWaitedFor(t *testing.T) {
	data := t.TempDir()
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	leave := func(pid int) *exec.Cmd {
		t.Helper()
		f, err := os.OpenFile(filepath.Join(data, "lock"), os.O_CREATE|os.O_RDWR|os.O_TRUNC, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := tryLock(f); err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(strconv.Itoa(pid)); err != nil {
			t.Fatal(err)
		}
		heir := exec.Command("sleep", "1")
		heir.ExtraFiles = []*os.File{f}
		if err := heir.Start(); err != nil {
			t.Fatal(err)
		}
		return heir
	}
	heir := leave(dead.Process.Pid)
	release, err := hold(data)
	if err != nil {
		t.Fatal(err)
	}
	release()
	heir.Wait() //nolint:errcheck // it slept
	heir = leave(os.Getpid())
	start := time.Now()
	if _, err := hold(data); !fault.Is(err, fault.Conflict) || time.Since(start) > 900*time.Millisecond {
		t.Errorf("%v after %v", err, time.Since(start))
	}
	heir.Wait() //nolint:errcheck // it slept
}

// A daemon that begins anew in the same process gets its lock although a program that was just being started has it, too.
func TestTheLockIsGivenUpForEverybody(t *testing.T) {
	data := t.TempDir()
	release, err := hold(data)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := os.Stat(filepath.Join(data, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	var heir int
	for fd := 3; heir == 0 && fd < 1<<16; fd++ { // the one that hold opened
		var st syscall.Stat_t
		if syscall.Fstat(fd, &st) == nil && st.Ino == lock.Sys().(*syscall.Stat_t).Ino && st.Dev == lock.Sys().(*syscall.Stat_t).Dev {
			if heir, err = unix.Dup(fd); err != nil {
				t.Fatal(err)
			}
		}
	}
	defer unix.Close(heir)
	release()
	again, err := hold(data)
	if err != nil {
		t.Fatal(err)
	}
	again()
}
