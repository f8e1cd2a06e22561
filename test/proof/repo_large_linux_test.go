package proof

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tandem/internal/testenv"
)

// A file of 128 MB is committed, pushed, pulled and checked out, and neither the
// commands nor the server hold it: it goes by. It travels once each way, and the
// commit that follows a snapshot does not send it again.
func TestALargeFileGoesBy(t *testing.T) {
	const size, room = 128 << 20, 64 << 20
	s := newServer(t)
	f := newFleetOn(t, s, filepath.Join(s.home, "project"))
	wire := newShears(t, f.addr)
	f.addr = wire.addr()
	f.join(2)
	a, b := f.agents[0], f.agents[1]
	var seed [32]byte
	if _, err := writeFrom(filepath.Join(a.dir, "big"), io.LimitReader(rand.NewChaCha8(seed), size)); err != nil {
		t.Fatal(err)
	}
	_, idle := f.watched(a.dir, "log", "--ignore-working-copy")
	server := resident(s.cmd.Process.Pid, "VmRSS:")
	run := func(dir string, args ...string) string {
		t.Helper()
		out, peak := f.watched(dir, args...)
		t.Logf("%s: %d MB, the server %d MB", strings.Join(args, " "), peak>>20, resident(s.cmd.Process.Pid, "VmHWM:")>>20)
		if peak > idle+room {
			t.Errorf("%s held %d MB, and a command that does nothing %d MB", strings.Join(args, " "), peak>>20, idle>>20)
		}
		return out
	}
	const all = "--config=snapshot.max-new-file-size=0"
	run(a.dir, "st", all)
	sent := wire.sent.Load()
	if sent < size || sent > size*5/4 {
		t.Errorf("a file of %d bytes took %d to send", size, sent)
	}
	run(a.dir, "commit", "-m", "a large file", all)
	if again := wire.sent.Load() - sent; again > 1<<20 {
		t.Errorf("the commit after it sent %d bytes", again)
	}
	id := strings.TrimSpace(run(a.dir, "log", "--ignore-working-copy", "--no-graph", "-r", "@-", "-T", "commit_id"))
	run(b.dir, "new", id)
	if x, y := sum(t, filepath.Join(a.dir, "big")), sum(t, filepath.Join(b.dir, "big")); x != y {
		t.Error("another file was checked out")
	}
	run(b.dir, "st", all)
	if most := resident(s.cmd.Process.Pid, "VmHWM:"); most > server+room {
		t.Errorf("the server held %d MB, and %d MB before", most>>20, server>>20)
	}
	f.sound()
}

func writeFrom(path string, r io.Reader) (int64, error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return io.Copy(f, r)
}

func sum(t *testing.T, path string) (out [sha256.Size]byte) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		t.Fatal(err)
	}
	h.Sum(out[:0])
	return out
}

// watched runs a command, and says how much memory it had at most.
func (f *fleet) watched(dir string, args ...string) (out string, peak int64) {
	f.t.Helper()
	var said bytes.Buffer
	program := testenv.Tandem(f.t)
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, f.env, &said, &said
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		if exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", cmd.Process.Pid)); filepath.Base(exe) == filepath.Base(program) {
			peak = max(peak, resident(cmd.Process.Pid, "VmHWM:"))
		}
		select {
		case err := <-ended:
			if err != nil {
				f.t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, said.String())
			}
			return said.String(), peak
		case <-time.After(time.Millisecond):
		}
	}
}

// resident is a line of what the system tells about a process, in bytes; 0 when it
// is gone.
func resident(pid int, what string) int64 {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // it may have ended
	_, rest, _ := strings.Cut(string(data), what)
	n := int64(0)
	if fields := strings.Fields(rest); len(fields) > 0 {
		n, _ = strconv.ParseInt(fields[0], 10, 64)
	}
	return n << 10
}
