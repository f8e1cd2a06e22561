package proof

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"tandem/internal/testenv"
)

// machine makes a machine of its own: names, network, processes, /home, /srv and /tmp. Its person is "me", the program is in
// ~/.local/bin as make install puts it; /home/tools holds the programs that tests drive, /home/checkout the sources,
// /home/go a toolchain that has built them before. All ends with it.
const machine = `
hostname "$0"
mount --bind "$1" /etc/hosts
mount -t tmpfs -o mode=755 none "$2"
mkdir -p "$2/me/.local/bin" "$2/tools" "$2/checkout" "$2/go" "$2/built" "$2/modules"
touch "$2/program"
ln -s /home/program "$2/me/.local/bin/tandem"
mount --bind "$3" "$2/program"
mount --rbind "$4" "$2/tools"
mount --bind "$5" "$2/checkout"
mount --bind "$6" "$2/go"
mount --bind "$7" "$2/built"
mount --bind "$8" "$2/modules"
mount --rbind "$2" /home
mount -t tmpfs none /srv
mount -t tmpfs none /tmp
ip link set lo up
echo ready
exec cat
`

// question is the end of what is shown when somebody is asked for something.
var question = regexp.MustCompile(`(: |\] |^> |\n> )$`)

var staged int // machines so far: their wires have different names

// stage makes the machines of a story; inNetwork must have said yes.
func stage(t *testing.T, w *world, names, env []string) map[string]*place {
	t.Helper()
	hosts := "127.0.0.1 localhost\n" + worldAddr + " " + strings.Join(worldNames, " ") + "\n"
	for i, name := range names {
		hosts += fmt.Sprintf("10.99.2.%d %s\n", i+1, name)
	}
	file := filepath.Join(testenv.Dir(t), "hosts")
	if err := os.WriteFile(file, []byte(hosts), 0o644); err != nil {
		t.Fatal(err)
	}
	all := map[string]*place{}
	for i, name := range names {
		all[name] = newMachine(t, fmt.Sprintf("10.99.2.%d", i+1), name, file)
		all[name].env = append(all[name].env, env...)
		if err := os.WriteFile(all[name].root+"/home/roots.pem", w.ca, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func newMachine(t *testing.T, addr, name, hosts string) *place {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	folders, err := exec.Command("go", "env", "GOROOT", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	line := append([]string{"-nmupf", "--kill-child", "--mount-proc", "sh", "-ec", machine,
		name, hosts, testenv.Dir(t), testenv.Tandem(t), testenv.Tools(), root}, strings.Fields(string(folders))...)
	cmd := exec.Command(testenv.Tool(t, "unshare"), line...)
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
	parent := strconv.Itoa(cmd.Process.Pid)
	child, err := os.ReadFile("/proc/" + parent + "/task/" + parent + "/children")
	if err != nil {
		t.Fatal(err)
	}
	pid := strings.TrimSpace(string(child))
	p := &place{t: t, name: name, addr: addr, home: "/home/me", dir: "/home/me", root: "/proc/" + pid + "/root",
		enter: []string{testenv.Tool(t, "nsenter"), "--target", pid, "--net", "--mount", "--uts", "--pid"},
		env: []string{"HOME=/home/me", "PATH=/home/me/.local/bin:/home/go/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LANG=C.UTF-8",
			"TERM=xterm-256color", "NO_COLOR=1", "USER=me", "SHELL=/bin/sh", "SSL_CERT_FILE=/home/roots.pem",
			"GOCACHE=/home/built", "GOMODCACHE=/home/modules", "GOFLAGS=-mod=readonly", "GOPROXY=off", "GOTOOLCHAIN=local"}}
	staged++
	wire := "stage" + strconv.Itoa(staged)
	for _, line := range []string{
		"ip link add " + wire + " type veth peer name eth0 netns " + pid,
		"ip link set " + wire + " master bridge up",
	} {
		if out, err := exec.Command("sh", "-c", line).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v %s", line, err, out)
		}
	}
	p.must("ip addr add " + addr + "/24 dev eth0; ip link set eth0 up; ip route add default via 10.99.2.254")
	return p
}

// leave presses the keys that leave a program, Ctrl-C where none are named, and gives what ends that. tmux takes keys within a
// millisecond of others, or of attaching, for a paste, and does not obey them. A hand is slower, and presses them again; so does this.
func leave(tty io.Writer, keys string) (stop func()) {
	if keys == "" {
		io.WriteString(tty, "\x03")
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for pause := 100 * time.Millisecond; ; pause = 2 * time.Second {
			for _, key := range []byte(keys) {
				select {
				case <-ctx.Done():
					return
				case <-time.After(pause):
				}
				tty.Write([]byte{key})
				pause = 50 * time.Millisecond
			}
		}
	}()
	return func() { cancel(); <-done }
}

// types types a line on the machine's terminal. It answers what is asked, with the given texts and then with the PIN, and interrupts
// when it sees until. Others act meanwhile, once they are needed. It gives all that was shown, and the exit code.
func (p *place) types(s *step, line string, others func() error) (string, int, error) {
	most := cmp.Or(s.within, patience)
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	cmd := p.command(ctx, line)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 200})
	if err != nil {
		return "", 0, err
	}
	defer tty.Close()
	defer context.AfterFunc(ctx, func() { tty.Close() })() // what it started may outlive it and hold the terminal open
	if s.after > 0 {
		var again *time.Timer
		again = time.AfterFunc(s.after, func() {
			io.WriteString(tty, "\x03")
			again.Reset(time.Second) // a program that is still starting does not hear the first
		})
		defer again.Stop()
	}
	var all, unanswered bytes.Buffer
	answers, buf, interrupted, met := s.typed, make([]byte, 16<<10), false, make(chan error, 1)
	for {
		n, err := tty.Read(buf)
		all.Write(buf[:n])
		unanswered.Write(buf[:n])
		if s.until != "" && !interrupted && pattern("…"+s.until+"…").Match(all.Bytes()) {
			interrupted = true
			defer leave(tty, s.leave)()
		}
		if s.when != "" && others != nil && pattern("…"+s.when+"…").Match(all.Bytes()) {
			go func(f func() error) { met <- f() }(others)
			others = nil
		}
		if question.Match(unanswered.Bytes()) {
			unanswered.Reset()
			answer := pin
			if len(answers) > 0 {
				answer, answers = answers[0], answers[1:]
			}
			io.WriteString(tty, answer+"\r") // it may have ended meanwhile
		}
		if err != nil { // a terminal whose program has ended
			break
		}
	}
	err = cmd.Wait()
	if s.when != "" && others == nil {
		if err := <-met; err != nil {
			return all.String(), 0, err
		}
	}
	shown := strings.ReplaceAll(all.String(), "\r", "")
	if ctx.Err() != nil {
		return shown, 0, fmt.Errorf("it does not end within %s", most)
	}
	p.moved()
	var exit *exec.ExitError
	switch {
	case s.when != "" && others != nil:
		return shown, 0, fmt.Errorf("it never shows %q", s.when)
	case s.until != "" && !interrupted:
		return shown, 0, fmt.Errorf("it never shows %q", s.until)
	case s.until != "" || s.after > 0:
		return shown, s.exit, nil
	case errors.As(err, &exit):
		return shown, exit.ExitCode(), nil
	}
	return shown, 0, err
}
