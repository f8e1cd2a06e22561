package proof

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/testenv"
)

// A full disk gives a clear error and loses nothing; with room again the
// server goes on by itself.
func TestDiskFull(t *testing.T) {
	s := newServer(t)
	disk := filepath.Join(s.home, "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	s.data = filepath.Join(disk, "data")
	s.wrap = append(unshare(t, "-m"), "sh", "-ec", `mount -t tmpfs -o size=8m,mode=0700 tmpfs "$0"; exec "$@"`, disk)
	s.start()
	inside := fmt.Sprintf("/proc/%d/root%s", s.cmd.Process.Pid, disk) // the disk is mounted for the server alone
	ballast := filepath.Join(inside, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	value := strings.Repeat("x", 30_000)
	put := func(n int) answer {
		return s.as(s.token, "PUT", fmt.Sprintf("/resource/full/%04d", n), map[string]any{"value": fmt.Sprint(n, value)})
	}
	n := 0
	var refused answer
	for n < 2000 {
		if refused = put(n); refused.status/100 != 2 {
			break
		}
		n++
	}
	if refused.status != http.StatusServiceUnavailable || !strings.Contains(refused.String(), "disk is full") ||
		!strings.Contains(refused.String(), "df -h") {
		t.Fatalf("after %d writes the full disk is explained as: %s", n, refused)
	}
	check := func() {
		t.Helper()
		for i := range n {
			if a := s.as(s.token, "GET", fmt.Sprintf("/resource/full/%04d", i), nil); !strings.Contains(string(a.body), fmt.Sprintf(`"%dx`, i)) {
				t.Fatalf("write %d of %d was acknowledged and is %.200s", i, n, a)
			}
		}
	}
	check()
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if a := put(n); a.status/100 != 2 {
		t.Errorf("with room again: %s", a)
	}
	check()
	if a := s.as(s.token, "POST", "/audit/verify", map[string]any{}); a.status != http.StatusOK || !strings.Contains(a.String(), `"ok":true`) {
		t.Errorf("the journal: %s", a)
	}
	t.Logf("full after %d writes of 30 kB", n)
}

// A start on a full disk says so at once. It used to wait, and then to name a socket that was not there.
func TestUpOnAFullDisk(t *testing.T) {
	s := newServer(t)
	disk := filepath.Join(s.home, "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	s.data = filepath.Join(disk, "data")
	s.enter = append(unshare(t, "-m"), "sh", "-ec", `mount -t tmpfs -o size=1m,mode=0700 tmpfs "$0"
mkdir -m 700 "$0/data"
cat /dev/zero >"$0/ballast" 2>&- || true
exec "$@"`, disk)
	testenv.Tandem(t) // built before the clock runs
	out, err := s.run("up")
	if err == nil || !strings.Contains(out, "the disk is full on this machine") || !strings.Contains(out, "df -h") {
		t.Errorf("up on a full disk: %v\n%s", err, out)
	}
}

// A read-only disk is refused at start, in a sentence, and nothing is lost.
func TestReadOnlyDisk(t *testing.T) {
	s := newServer(t).start()
	if a := s.as(s.token, "PUT", "/resource/kept", map[string]any{"value": "kept"}); a.status/100 != 2 {
		t.Fatal(a)
	}
	s.stop()
	s.wrap = append(unshare(t, "-m"), "sh", "-ec", `mount --bind "$0" "$0"; mount -o remount,ro,bind "$0"; exec "$@"`, s.data)
	if err := s.tryStart(); err == nil {
		t.Error("it starts on a read-only disk")
	}
	if said := s.log.String(); !strings.Contains(said, "writable") || strings.Contains(said, "goroutine") {
		t.Errorf("it does not say what is wrong:\n%s", said)
	}
	s.wrap = nil
	s.start()
	if a := s.as(s.token, "GET", "/resource/kept", nil); !strings.Contains(a.String(), "kept") {
		t.Errorf("afterwards: %s", a)
	}
	s.must("audit", "verify")
}
