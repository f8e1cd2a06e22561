//go:build unix

package session

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/session/terminal"
)

// both runs a program's server and, attached to it, the program itself in this terminal. They live and end together: nobody
// is left behind, and whoever looks at the terminal sees that both are gone.
func both(l terminal.Launch) error {
	runtime.LockOSThread() // a child that is told to end with its parent ends with the parent's thread
	_ = os.Remove(l.Socket)
	log, err := os.OpenFile(l.Log, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	server := exec.Command(l.Server[0], l.Server[1:]...)
	server.Env, server.Stdout, server.Stderr = l.Env, log, log
	server.SysProcAttr = withParent(true)
	if err := server.Start(); err != nil {
		return fault.New(fault.Conflict, "launch", "the agent's server does not start: %w", err)
	}
	defer func() { _ = syscall.Kill(-server.Process.Pid, syscall.SIGKILL) }()
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	if err := answering(l.Socket, ended); err != nil {
		said, _ := os.ReadFile(l.Log)
		return fault.New(fault.Conflict, "launch", "the agent's server does not start: %v: %s", err, strings.TrimSpace(string(said)))
	}
	shown := exec.Command(l.Argv[0], l.Argv[1:]...)
	shown.Env, shown.Stdin, shown.Stdout, shown.Stderr = l.Env, os.Stdin, os.Stdout, os.Stderr
	shown.SysProcAttr = withParent(false)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP)
	signal.Ignore(syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP) // they are the program's
	if err := shown.Start(); err != nil {
		return fault.New(fault.Conflict, "launch", "the agent does not start: %w", err)
	}
	done := make(chan error, 1)
	go func() { done <- shown.Wait() }()
	for {
		select {
		case s := <-signals:
			_ = shown.Process.Signal(s)
		case err := <-done:
			_ = syscall.Kill(-server.Process.Pid, syscall.SIGTERM)
			select {
			case <-ended:
			case <-time.After(2 * time.Second):
			}
			var code *exec.ExitError
			if errors.As(err, &code) {
				return kit.Silent{Code: max(code.ExitCode(), 1)}
			}
			return err
		case err := <-ended:
			_ = shown.Process.Signal(syscall.SIGTERM)
			select {
			case <-done:
			case <-time.After(2 * time.Second):
				_ = shown.Process.Kill()
			}
			return fault.New(fault.Conflict, "launch", "the agent's server ended: %v", err)
		}
	}
}

// answering waits until somebody listens on a socket.
func answering(path string, ended chan error) error {
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(30 * time.Millisecond) {
		select {
		case err := <-ended:
			ended <- err
			return errors.New("it ended")
		default:
		}
		target := path
		if real, err := os.Readlink(path); err == nil {
			target = real
		}
		if c, err := net.Dial("unix", target); err == nil {
			c.Close()
			return nil
		}
	}
	return errors.New("nobody listens on " + path)
}
