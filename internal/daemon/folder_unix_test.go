//go:build unix

package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
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
	leave := func(pid int, seconds string) *exec.Cmd {
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
		heir := exec.Command("sleep", seconds)
		heir.ExtraFiles = []*os.File{f}
		if err := heir.Start(); err != nil {
			t.Fatal(err)
		}
		return heir
	}
	heir := leave(dead.Process.Pid, "1")
	release, err := hold(data)
	if err != nil {
		t.Fatal(err)
	}
	release()
	heir.Wait() //nolint:errcheck // it slept
	heir = leave(os.Getpid(), "60")
	start := time.Now()
	if _, err := hold(data); !fault.Is(err, fault.Conflict) || time.Since(start) > lingers {
		t.Errorf("%v after %v", err, time.Since(start))
	}
	heir.Process.Kill() //nolint:errcheck // it sleeps
	heir.Wait()         //nolint:errcheck // it was killed
}

// Whoever starts a server looks whether the folder is free while the server takes it. The server did not start then, and said that one ran.
func TestWhoLooksIsInNobodysWay(t *testing.T) {
	data := t.TempDir()
	over := make(chan struct{})
	var looks sync.WaitGroup
	for range 4 {
		looks.Go(func() {
			for {
				select {
				case <-over:
					return
				case <-time.After(time.Millisecond):
				}
				if _, err := Free(data); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 200 {
		release, err := hold(data)
		if err != nil {
			t.Error(err)
			break
		}
		if pid := Holder(data); pid != os.Getpid() {
			t.Errorf("it is held by %d", pid)
		}
		if free, err := Free(data); free || err != nil {
			t.Errorf("free is what is held (%v)", err)
		}
		release()
	}
	close(over)
	looks.Wait()
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
