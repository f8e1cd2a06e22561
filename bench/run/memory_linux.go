package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// memory compares the highest resident size of one run of both programs. What
// wait4 tells of a child includes the size of the process that forked it, so
// the child's own high-water mark is read while it runs.
func (b *jjBench) memory(what, repo string, args ...string) error {
	peak := func(bin string) (int64, error) {
		var said bytes.Buffer
		cmd := exec.Command(bin, args...)
		cmd.Dir, cmd.Env, cmd.Stderr = repo, b.env, &said
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		most := int64(0)
		for {
			most = max(most, highWater(cmd.Process.Pid))
			select {
			case err := <-ended:
				if err != nil {
					return 0, fmt.Errorf("%s: %w\n%s", bin, err, said.String())
				}
				return most >> 10, nil
			case <-time.After(200 * time.Microsecond):
			}
		}
	}
	ours, err := peak(b.ours)
	if err != nil {
		return err
	}
	stock, err := peak(b.stock)
	if err != nil {
		return err
	}
	b.s.figures = append(b.s.figures, figure{what: what, value: fmt.Sprintf("%d MiB", ours), compared: fmt.Sprintf("stock jj %d MiB", stock)})
	return nil
}

// highWater is the most that a process held, in KiB; 0 before it has become the
// program, and when it is gone.
func highWater(pid int) int64 {
	if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err != nil || exe == "" || exe == self {
		return 0
	}
	return statusOf(pid, "VmHWM:")
}

// residentNow is what a process holds, in KiB.
func residentNow(pid int) int64 { return statusOf(pid, "VmRSS:") }

// switches is how often the threads of a process have begun to wait.
func switches(pid int) (n int64) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid)) // the pattern is a good one
	for _, path := range threads {
		data, _ := os.ReadFile(path) // it may have ended
		_, rest, _ := strings.Cut(string(data), "\nvoluntary_ctxt_switches:")
		if fields := strings.Fields(rest); len(fields) > 0 {
			one, _ := strconv.ParseInt(fields[0], 10, 64)
			n += one
		}
	}
	return n
}

// statusOf is a line of what the system tells of a process; 0 when it is gone.
func statusOf(pid int, line string) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), line)
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	n, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

var self, _ = os.Executable()
