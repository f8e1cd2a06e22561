package proof

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"tandem/internal/testenv"
)

// inNetwork runs a test again in a network of its own, in which it can make
// machines. It says whether it is there already.
func inNetwork(t *testing.T) bool {
	t.Helper()
	const inside = "TANDEM_TEST_NETWORK_INSIDE"
	if os.Getenv(inside) != "" {
		return true
	}
	line := append(unshare(t, "-n"), "sh", "-ec", `ip link set lo up
ip link add bridge type bridge
ip link set bridge up
exec "$0" "$@"`, os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = append(os.Environ(), inside+"=1", "TANDEM_TEST_BINARY="+testenv.Tandem(t), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, regexp.MustCompile(`(?m)^ *(=== |--- PASS).*\n`).ReplaceAll(out, nil))
	}
	for _, l := range strings.Split(string(out), "\n") {
		if _, said, ok := strings.Cut(l, "_test.go:"); ok {
			t.Log(said)
		}
	}
	return false
}

// box is a machine: a network namespace with one cable to a common bridge, a
// home, and a daemon with an address.
type box struct {
	t                        *testing.T
	name, home, listen, wire string
	enter                    []string // the program that starts others on this machine
}

func newBox(t *testing.T, n int, name string) *box {
	t.Helper()
	cmd := exec.Command(testenv.Tool(t, "unshare"), "-n", "sh", "-c", "echo ready; exec cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	if said, err := bufio.NewReader(out).ReadString('\n'); said != "ready\n" {
		t.Fatalf("make a machine: %q %v", said, err)
	}
	pid := strconv.Itoa(cmd.Process.Pid)
	b := &box{t: t, name: name, home: testenv.Dir(t), wire: "wire" + strconv.Itoa(n), listen: fmt.Sprintf("10.99.1.%d:4431", n),
		enter: []string{testenv.Tool(t, "nsenter"), "--target", pid, "--net"}}
	b.ip("link", "add", b.wire, "type", "veth", "peer", "name", "eth0", "netns", pid)
	b.ip("link", "set", b.wire, "master", "bridge", "up")
	for _, line := range [][]string{{"ip", "link", "set", "lo", "up"}, {"ip", "addr", "add", fmt.Sprintf("10.99.1.%d/24", n), "dev", "eth0"},
		{"ip", "link", "set", "eth0", "up"}} {
		if out, err := exec.Command(b.enter[0], append(slices.Clone(b.enter[1:]), line...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v %s", line, err, out)
		}
	}
	b.must("up", "--listen", b.listen)
	t.Cleanup(b.kill)
	b.must("space", "rename", name)
	return b
}

func (b *box) ip(args ...string) {
	b.t.Helper()
	if out, err := exec.Command(testenv.Tool(b.t, "ip"), args...).CombinedOutput(); err != nil {
		b.t.Fatalf("ip %v: %v %s", args, err, out)
	}
}

// cut pulls the machine's cable; mend puts it in again.
func (b *box) cut()  { b.ip("link", "set", b.wire, "down") }
func (b *box) mend() { b.ip("link", "set", b.wire, "up") }

func (b *box) command(ctx context.Context, args ...string) *exec.Cmd {
	line := append(append(slices.Clone(b.enter), testenv.Tandem(b.t)), args...)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Dir = b.home
	cmd.Env = []string{"HOME=" + b.home, "TMPDIR=" + b.home, "PATH=/usr/bin:/bin", "LANG=C.UTF-8"}
	return cmd
}

func (b *box) try(args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	out, err := b.command(ctx, args...).Output()
	if e, ok := err.(*exec.ExitError); ok {
		err = fmt.Errorf("%w: %s", err, e.Stderr)
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("it did not end within two minutes: %w", err)
	}
	return out, err
}

func (b *box) must(args ...string) []byte {
	b.t.Helper()
	out, err := b.try(args...)
	if err != nil {
		b.t.Fatalf("%s: tandem %s: %v", b.name, strings.Join(args, " "), err)
	}
	return out
}

func (b *box) json(into any, args ...string) {
	b.t.Helper()
	if err := json.Unmarshal(b.must(append(args, "--json")...), into); err != nil {
		b.t.Fatalf("%s: tandem %s: %v", b.name, strings.Join(args, " "), err)
	}
}

// typed runs a command on a terminal and types the PIN when it asks.
func (b *box) typed(args ...string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := b.command(ctx, args...)
	tty, err := pty.Start(cmd)
	if err != nil {
		b.t.Fatal(err)
	}
	defer tty.Close()
	var all, unanswered bytes.Buffer
	buf := make([]byte, 4096)
	for {
		n, err := tty.Read(buf)
		all.Write(buf[:n])
		unanswered.Write(buf[:n])
		if asks(unanswered.Bytes()) {
			unanswered.Reset()
			if _, err := io.WriteString(tty, pin+"\n"); err != nil {
				b.t.Fatal(err)
			}
		}
		if err != nil { // a terminal whose program has ended
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		b.t.Fatalf("%s: tandem %v: %v\n%s", b.name, args, err, all.String())
	}
	return all.String()
}

// kill ends the daemon as a crash does.
func (b *box) kill() {
	var s struct{ PID int }
	out, _ := b.try("status", "--json") // it fails when nothing runs
	if json.Unmarshal(out, &s) != nil || s.PID <= 1 {
		return
	}
	syscall.Kill(s.PID, syscall.SIGKILL)
	testenv.Eventually(b.t, "the killed daemon is gone", time.Minute, func() bool { return !alive(s.PID) })
}
