package terminal

import (
	"os/exec"
	"syscall"
	"testing"
	"time"

	"tandem/internal/testenv"
)

// A program that somebody stopped is known by that, also below another one, and not by what it runs; one that goes on is not.
func TestAStoppedProgramIsKnown(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "sleep 61 & sleep 62; wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // it is the test's own
		cmd.Wait()                                      //nolint:errcheck // it was killed
	})
	soon := func(what string, ok func() bool) {
		t.Helper()
		if !testenv.Within(10*time.Second, ok) {
			t.Fatal(what)
		}
	}
	soon("it starts nothing", func() bool { return len(offspring(cmd.Process.Pid, 6)) == 3 })
	child := offspring(cmd.Process.Pid, 6)[1]
	if frozen(cmd.Process.Pid, "sleep") {
		t.Error("nobody stopped it")
	}
	if err := syscall.Kill(child, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	soon("it is stopped, and nobody sees it", func() bool { return frozen(cmd.Process.Pid, "sleep") })
	if frozen(cmd.Process.Pid, "claude") {
		t.Error("what it runs is taken for the program")
	}
	if err := syscall.Kill(child, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	soon("it goes on, and is said to be stopped", func() bool { return !frozen(cmd.Process.Pid, "sleep") })
}
