package testenv

import (
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// Dir makes a folder with a short path, removed after the test. Sockets need
// it: their paths may have about a hundred bytes, and t.TempDir holds the
// test's whole name.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "t")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove the test's folder: %v", err)
		}
	})
	return dir
}

// Env is an environment for a child process: an empty home of its own, the
// path, and nothing else of the one the tests were started from. Extra entries
// ("NAME=value") are added; later ones win.
func Env(t testing.TB, extra ...string) []string {
	t.Helper()
	home := Dir(t)
	env := []string{
		"HOME=" + home,
		"PATH=" + os.Getenv("PATH"),
		"TMPDIR=" + os.TempDir(),
		"LANG=C.UTF-8",
		"TERM=xterm-256color",
	}
	return append(env, extra...)
}

// Again is the running test in a process of its own, with an environment of Env:
// what it finds in there tells it that it is the child.
func Again(t testing.TB, extra ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = Env(t, extra...)
	return cmd
}

// Port is a TCP port on loopback that is free, and is no other test's until this one ends: the UDP port of that number is held meanwhile.
// It is below those that the kernel gives to outgoing connections.
func Port(t testing.TB) int {
	t.Helper()
	for range 1000 {
		address := "127.0.0.1:" + strconv.Itoa(14000+rand.IntN(18000))
		held, err := net.ListenPacket("udp4", address)
		if err != nil {
			continue
		}
		l, err := net.Listen("tcp", address)
		if err != nil {
			held.Close()
			continue
		}
		l.Close()
		t.Cleanup(func() { held.Close() })
		return l.Addr().(*net.TCPAddr).Port
	}
	t.Fatal("no port on loopback is free")
	return 0
}

// Soak reports whether long proofs run whole (make soak) or a tenth of them.
func Soak() bool { return os.Getenv("TANDEM_SOAK") != "" }

// Rounds is n when long proofs run whole, else a tenth of it, and at least one.
func Rounds(n int) int {
	if Soak() {
		return n
	}
	return max(1, n/10)
}

// Random is a source of chance whose seed is printed; TANDEM_SEED repeats one.
func Random(t testing.TB) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("TANDEM_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("TANDEM_SEED: %v", err)
		}
		seed = n
	}
	t.Logf("seed: TANDEM_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, seed))
}

// Killed waits for a program that the test kills, and fails where it ended in another way: a child that gives up by itself was not killed.
func Killed(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Fatalf("the child was to be killed, and ended by itself: %v", err)
	}
}
