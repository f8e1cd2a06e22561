package year

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandem/internal/client"
	"tandem/internal/testenv"
)

const pin = "246813" // of all frozen folders

// house is the server under trial, on a small disk of its own.
type house struct {
	t       *testing.T
	r       *rand.Rand
	program string
	clock   string // the file that moves the clock of the program
	moved   time.Duration
	home    string   // on the small disk
	view    string   // what stands before a path of the small disk, outside of it
	enter   []string // what starts a program where the small disk is
	near    []string // what starts a program on the network of the house
	env     []string
	addr    string
	args    []string // of a start
	pg      *testenv.Cluster

	client *client.Client

	cmd  *exec.Cmd
	done chan struct{}
}

// room is the size of the small disk.
const room = "448m" // a repository of a year, two copies of it, and one in the making

// newHouse prepares a house on a small disk. Nothing runs yet.
func newHouse(t *testing.T, r *rand.Rand, program string) *house {
	t.Helper()
	dir := testenv.Dir(t)
	h := &house{t: t, r: r, program: program, clock: filepath.Join(dir, "clock"), home: filepath.Join(dir, "disk"),
		addr: "10.99.7.1:13013"} // beyond loopback, as far as the program knows: it speaks TLS there
	h.setClock()
	if err := os.Mkdir(h.home, 0o700); err != nil {
		t.Fatal(err)
	}
	line := []string{testenv.Tool(t, "unshare")}
	if os.Getuid() != 0 {
		line = append(line, "--map-root-user")
	}
	line = append(line, "-m", "-n", "sh", "-ec", `ip link set lo up; ip addr add 10.99.7.1/32 dev lo
		mount -t tmpfs -o mode=0700,size=`+room+` tmpfs "$0"; echo ready; exec cat`, h.home)
	keeper := exec.Command(line[0], line[1:]...)
	in, err := keeper.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := keeper.StdoutPipe()
	if err == nil {
		err = keeper.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); keeper.Wait() })
	said := make([]byte, 16)
	if n, err := out.Read(said); string(said[:n]) != "ready\n" {
		t.Fatalf("make a small disk: %q %v", said[:n], err)
	}
	h.view = fmt.Sprintf("/proc/%d/root", keeper.Process.Pid)
	h.client = client.Socket(h.see(".tandem/tandem.sock"))
	h.enter = []string{testenv.Tool(t, "nsenter"), "--target", fmt.Sprint(keeper.Process.Pid), "--mount", "--net", "--wd=" + h.home}
	h.near = []string{h.enter[0], h.enter[1], h.enter[2], "--net"}
	if os.Getuid() != 0 {
		h.enter = append(h.enter, "--user", "--preserve-credentials")
		h.near = append(h.near, "--user", "--preserve-credentials")
	}
	h.env = testenv.Env(t, "HOME="+h.home, "TANDEM_SECRET_KEEPER=file", "TANDEM_MOVED_CLOCK="+h.clock, "NO_COLOR=1")
	h.args = []string{"--repo", filepath.Join(h.home, "project")}
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := os.ReadFile(h.see(".tandem/tandem.log"))
			t.Logf("the server's log ends with:\n%s", log[max(0, len(log)-6000):])
		}
	})
	return h
}

// see is a path of the small disk as it is seen from outside.
func (h *house) see(name string) string { return h.view + filepath.Join(h.home, name) }

func (h *house) setClock() {
	h.t.Helper()
	next := h.clock + ".next"
	if err := os.WriteFile(next, []byte(h.moved.String()), 0o644); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Rename(next, h.clock); err != nil {
		h.t.Fatal(err)
	}
}

// line is a command line of the house's user.
func (h *house) line(ctx context.Context, args ...string) *exec.Cmd {
	line := slices.Concat(h.enter, []string{h.program}, args)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env = h.env
	return cmd
}

// run types a command and returns all that it printed.
func (h *house) run(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(h.t.Context(), 2*time.Minute)
	defer cancel()
	out, err := h.line(ctx, args...).CombinedOutput()
	return string(out), err
}

// must types a command that has to succeed.
func (h *house) must(args ...string) string {
	h.t.Helper()
	out, err := h.run(args...)
	if err != nil {
		h.t.Fatalf("tandem %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// local speaks to the server as programs of its user do.
func (h *house) local() *client.Client { return h.client }

// call does one operation with a person's PIN.
func (h *house) call(name string, in, out any) error {
	ctx, cancel := context.WithTimeout(h.t.Context(), 2*time.Minute)
	defer cancel()
	return h.local().WithPIN(pin).Call(ctx, name, in, out)
}

// tryStart starts the server and waits until it answers.
func (h *house) tryStart() error {
	line := slices.Concat(h.enter, []string{h.program, "serve", "--daemon", "--listen", h.addr}, h.args)
	h.cmd = exec.Command(line[0], line[1:]...)
	h.cmd.Env, h.cmd.SysProcAttr = h.env, &syscall.SysProcAttr{Setpgid: true}
	if err := h.cmd.Start(); err != nil {
		return err
	}
	cmd, done := h.cmd, make(chan struct{})
	h.done = done
	go func() { cmd.Wait(); close(done) }()
	h.t.Cleanup(func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); <-done })
	up := testenv.Within(time.Minute, func() bool {
		select {
		case <-done:
			return true
		default:
			ctx, cancel := context.WithTimeout(h.t.Context(), time.Second)
			defer cancel()
			return h.local().Call(ctx, "server.status", nil, nil) == nil
		}
	})
	if !h.alive() {
		return fmt.Errorf("it ended: %v", cmd.ProcessState)
	}
	if !up {
		return fmt.Errorf("it does not answer after a minute")
	}
	return nil
}

func (h *house) alive() bool {
	select {
	case <-h.done:
		return false
	default:
		return true
	}
}

func (h *house) start() {
	h.t.Helper()
	if err := h.tryStart(); err != nil {
		out, _ := h.run("doctor")
		h.t.Fatalf("start: %v\n%s", err, out)
	}
}

// kill ends the server as a crash does.
func (h *house) kill() {
	syscall.Kill(-h.cmd.Process.Pid, syscall.SIGKILL)
	<-h.done
}

// stop ends the server in order.
func (h *house) stop() {
	h.t.Helper()
	syscall.Kill(-h.cmd.Process.Pid, syscall.SIGTERM)
	select {
	case <-h.done:
	case <-time.After(30 * time.Second):
		h.t.Fatal("it does not stop")
	}
}
