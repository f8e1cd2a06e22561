//go:build unix

package terminal

import (
	"bufio"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// OpenCode is started by another program, which ends with its terminal; OpenCode itself did not, and kept a processor busy for good.
// What belongs to a program ends with it.
func TestWhatAProgramStartedEndsWithIt(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sh", "-c", `(trap "" HUP TERM; sleep 600; :) & echo $!; read -r end`)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
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
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	in.Close()
	_ = cmd.Wait() // it ends, for there is nothing to read
	if syscall.Kill(child, 0) != nil {
		t.Fatal("what it started ended by itself")
	}
	if err := reap(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if syscall.Kill(child, 0) != nil {
			return
		}
		exec.Command("sleep", "0.05").Run()
	}
	t.Error("it is still there")
}
