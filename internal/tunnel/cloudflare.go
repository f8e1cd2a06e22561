package tunnel

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"tandem/internal/fault"
)

// quick is Cloudflare's quick tunnel: a program of ours that prints an address and lives as long as the tunnel.
type quick struct{ program }

func newQuick(env []string) (Opener, error) {
	p, err := find("cloudflared", byOS("brew install cloudflared",
		"install it: https://developers.cloudflare.com/cloudflare-one/connections/connect-networks/downloads/",
		"winget install --id Cloudflare.cloudflared"), env)
	return quick{p}, err
}

var quickURL = regexp.MustCompile(`https://[a-z0-9-]+\.trycloudflare\.com`)

func local(port string) string { return "http://127.0.0.1:" + port }

// Open starts the program. It outlives ctx, which only bounds the wait for the address.
func (q quick) Open(ctx context.Context, port string) (Opened, error) {
	cmd := exec.Command(q.path, "tunnel", "--no-autoupdate", "--url", local(port))
	cmd.Env, cmd.WaitDelay, cmd.Dir = q.env, time.Second, os.TempDir()
	own(cmd)
	pipe, err := cmd.StderrPipe()
	if err != nil {
		return Opened{}, err
	}
	cmd.Stdout = io.Discard
	if err := cmd.Start(); err != nil {
		return Opened{}, fault.New(fault.Conflict, "tunnel", "cloudflared did not start: %w", err)
	}
	found, ended := make(chan string, 1), make(chan error, 1)
	last := ""
	go func() {
		for lines := bufio.NewScanner(pipe); lines.Scan(); {
			if u := quickURL.FindString(lines.Text()); u != "" && !strings.HasPrefix(u, "https://api.") {
				select {
				case found <- u:
				default:
				}
			}
			last = lines.Text()
		}
		err := cmd.Wait()
		ended <- fmt.Errorf("cloudflared ended: %s", said(last, orEnd(err)))
	}()
	select {
	case u := <-found:
		return Opened{URL: u, PID: cmd.Process.Pid, Wait: func() error { return <-ended }}, nil
	case err := <-ended:
		return Opened{}, fault.New(fault.Conflict, "tunnel", "there is no quick tunnel: %w", err).
			WithNext("try again in a minute, or share with --mode tailscale")
	case <-ctx.Done():
		endProcess(cmd.Process.Pid)
		<-ended
		return Opened{}, fault.New(fault.Conflict, "tunnel", "cloudflared told no address in time").
			WithNext("try again, or share with --mode tailscale")
	}
}

func orEnd(err error) error {
	if err == nil {
		return io.EOF
	}
	return err
}

// Close ends the program, if that process is still the one that was started for this port.
func (q quick) Close(ctx context.Context, pid int, port string) error {
	if pid <= 0 || !strings.Contains(commandLine(ctx, pid, q.env), local(port)) {
		return nil
	}
	endProcess(pid)
	return nil
}

func (q quick) Up(context.Context, string) error { return nil } // it is waited for

// commandLine is a process's own, "" when there is none.
func commandLine(ctx context.Context, pid int, env []string) string {
	if raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil {
		return strings.ReplaceAll(string(raw), "\x00", " ")
	}
	ps, err := lookPath("ps", env)
	if err != nil {
		return ""
	}
	out, err := program{ps, env}.run(ctx, 3*time.Second, "-ww", "-o", "args=", "-p", fmt.Sprint(pid))
	if err != nil {
		return ""
	}
	return out
}
