//go:build unix

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestAsProgram is the program itself, for tests that need a process of it.
func TestAsProgram(t *testing.T) {
	words := os.Getenv("TANDEM_TEST_WORDS")
	if words == "" {
		t.Skip("run by other tests")
	}
	os.Exit(Main(strings.Split(words, "\n"), os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}

// program is a command line of ours in a folder, as a process that is not started.
func program(t *testing.T, dir, home string, words ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestAsProgram$")
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TANDEM_TEST_WORDS=" + strings.Join(words, "\n")}
	return cmd
}

// Ctrl-C ends a command of jj's soon, and it says what had been done: a look says
// that nothing was changed, one that took a snapshot of the files first names it.
func TestCtrlCEndsAJJCommand(t *testing.T) {
	home, dir := t.TempDir(), filepath.Join(t.TempDir(), "r")
	var history bytes.Buffer
	for i := range 5000 {
		text := strings.Repeat(fmt.Sprintf("line %d\n", i), 50)
		fmt.Fprintf(&history, "commit refs/heads/main\ncommitter a <a@example.com> %d +0000\ndata 1\nc\nM 644 inline f\ndata %d\n%s\n", i,
			len(text), text)
	}
	run := func(in io.Reader, cmd *exec.Cmd) string {
		t.Helper()
		cmd.Stdin = in
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
		}
		return string(out)
	}
	jj := func(words ...string) *exec.Cmd { return program(t, dir, home, append([]string{"jj"}, words...)...) }
	run(nil, exec.Command("git", "init", "--quiet", "--initial-branch=main", dir))
	run(&history, exec.Command("git", "-C", dir, "fast-import", "--quiet"))
	run(nil, jj("git", "init", "--colocate"))

	for _, c := range []struct {
		write bool
		says  string
	}{
		{false, "Interrupted. Nothing was changed.\n"},
		{true, "snapshot working copy\n"},
	} {
		if c.write {
			if err := os.WriteFile(filepath.Join(dir, "new"), []byte("new\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := jj("log", "-r", "::main", "-T", "diff.git()", "--no-graph")
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, 1000)); err != nil { // it is in the middle of it
			t.Fatalf("%v: %s", err, errs.String())
		}
		at := time.Now()
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		rest, _ := io.Copy(io.Discard, out)
		err = cmd.Wait()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 130 {
			t.Errorf("it ended with %v after %d more bytes\n%s", err, rest, errs.String())
		}
		if took := time.Since(at); took > 5*time.Second {
			t.Errorf("it ended %v after Ctrl-C", took)
		}
		if !strings.HasPrefix(errs.String(), "Interrupted. ") || !strings.Contains(errs.String(), c.says) {
			t.Errorf("it says\n%s", errs.String())
		}
	}
	if out := run(nil, jj("op", "log", "--no-graph", "-n1", "-T", "description")); out != "snapshot working copy" {
		t.Errorf("the newest operation is %q", out)
	}
	if out := run(nil, jj("st")); !strings.Contains(out, "A new") {
		t.Errorf("afterwards\n%s", out)
	}
}

// A command that waits for a lock of another jj's can be interrupted, too.
func TestCtrlCEndsAWait(t *testing.T) {
	home, dir := t.TempDir(), filepath.Join(t.TempDir(), "r")
	if out, err := program(t, t.TempDir(), home, "jj", "git", "init", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lock, err := os.OpenFile(filepath.Join(dir, ".jj", "working_copy", "working_copy.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	cmd := program(t, dir, home, "jj", "--debug", "st")
	errs, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 0, 4096)
	for !bytes.Contains(said, []byte("loaded operation")) {
		n, err := errs.Read(said[len(said):cap(said)])
		if said = said[:len(said)+n]; err != nil {
			t.Fatalf("%v: %s", err, said)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	ended := make(chan string, 1)
	go func() {
		rest, _ := io.ReadAll(errs)
		ended <- string(rest)
	}()
	select {
	case rest := <-ended:
		if !strings.HasSuffix(rest, "Interrupted. Nothing was changed.\n") {
			t.Errorf("it says\n%s", rest)
		}
	case <-time.After(20 * time.Second):
		t.Error("it still waits")
		cmd.Process.Kill()
	}
	cmd.Wait()
}
