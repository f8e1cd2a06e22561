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
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"tandem/internal/testenv"
)

// patience is how long a line may take on a busy machine.
const patience = time.Minute

// place is a machine on which somebody types lines into a shell: a host name, a
// network address, a home, tandem on the PATH, and nothing of tandem's yet. The
// machines of a test know each other by name.
type place struct {
	t          *testing.T
	name, addr string
	home, dir  string   // where its person is
	root       string   // its files as seen from here, where they are not the same
	enter      []string // the program that starts others on this machine
	env        []string
}

// places makes machines; inNetwork must have said yes.
func places(t *testing.T, names ...string) []*place {
	t.Helper()
	hosts := "127.0.0.1 localhost\n"
	for i, name := range names {
		hosts += fmt.Sprintf("10.99.2.%d %s\n", i+1, name)
	}
	file := filepath.Join(testenv.Dir(t), "hosts")
	if err := os.WriteFile(file, []byte(hosts), 0o644); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(testenv.Dir(t), "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tandem", "jj"} {
		if err := os.Symlink(testenv.Tandem(t), filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	var all []*place
	for i, name := range names {
		all = append(all, newPlace(t, i+1, name, file, bin))
	}
	return all
}

func newPlace(t *testing.T, n int, name, hosts, bin string) *place {
	t.Helper()
	cmd := exec.Command(testenv.Tool(t, "unshare"), "-nmu", "sh", "-ec", `hostname "$0"; mount --bind "$1" /etc/hosts; echo ready; exec cat`,
		name, hosts)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	if said, err := bufio.NewReader(out).ReadString('\n'); said != "ready\n" {
		t.Fatalf("make a machine: %q %v", said, err)
	}
	pid := strconv.Itoa(cmd.Process.Pid)
	home := testenv.Dir(t)
	p := &place{t: t, name: name, addr: fmt.Sprintf("10.99.2.%d", n), home: home, dir: home,
		enter: []string{testenv.Tool(t, "nsenter"), "--target", pid, "--net", "--mount", "--uts"},
		env: []string{"HOME=" + home, "TMPDIR=" + home, "PATH=" + bin + ":/usr/bin:/bin:/usr/sbin:/sbin", "LANG=C.UTF-8", "TERM=xterm",
			"NO_COLOR=1", "GIT_CONFIG_NOSYSTEM=1"}}
	wire := "place" + strconv.Itoa(n)
	for _, line := range []string{
		"ip link add " + wire + " type veth peer name eth0 netns " + pid,
		"ip link set " + wire + " master bridge up",
	} {
		if out, err := exec.Command("sh", "-c", line).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v %s", line, err, out)
		}
	}
	for _, line := range []string{"ip link set lo up", "ip addr add " + p.addr + "/24 dev eth0", "ip link set eth0 up"} {
		p.must(line)
	}
	t.Cleanup(p.end)
	return p
}

// at is the same machine with another person's home.
func (p *place) at(home string) *place {
	other := *p
	other.home, other.dir = home, home
	other.env = append(slices.Clone(p.env), "HOME="+home, "TMPDIR="+home)
	other.t.Cleanup(other.end)
	return &other
}

func (p *place) command(ctx context.Context, line string) *exec.Cmd {
	args := append(slices.Clone(p.enter), "sh", "-c", `cd "$0" || exit 99; eval "$1"; code=$?; pwd >"$2"; exit $code`, p.dir, line,
		filepath.Join(p.home, ".where"))
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = "/", p.env, time.Second
	return cmd
}

// moved notes where the line has left its person.
func (p *place) moved() {
	if where, err := os.ReadFile(filepath.Join(p.root, p.home, ".where")); err == nil {
		p.dir = strings.TrimSpace(string(where))
	}
}

// run types a line and gives what it says, both streams together.
func (p *place) run(line string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := p.command(ctx, line).CombinedOutput()
	p.moved()
	return string(out), err
}

// must is run for a line that works.
func (p *place) must(line string) string {
	p.t.Helper()
	out, err := p.run(line)
	if err != nil {
		p.t.Fatalf("%s$ %s\n%s%v", p.name, line, out, err)
	}
	return out
}

// typed runs a line on a terminal, where the PIN is typed when it is asked for.
func (p *place) typed(line string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := p.command(ctx, line)
	tty, err := pty.Start(cmd)
	if err != nil {
		return "", err
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
			io.WriteString(tty, pin+"\n") // it may have ended meanwhile
		}
		if err != nil { // a terminal whose program has ended
			break
		}
	}
	err = cmd.Wait()
	p.moved()
	return all.String(), err
}

// end ends the daemon of this home, as a crash does.
func (p *place) end() {
	var s struct{ PID int }
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, _ := p.command(ctx, "tandem status --json").Output() // it fails when nothing runs
	if json.Unmarshal(out, &s) != nil || s.PID <= 1 {
		return
	}
	syscall.Kill(s.PID, syscall.SIGKILL)
	testenv.Within(time.Minute, func() bool { return !alive(s.PID) })
}
