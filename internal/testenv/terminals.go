package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// EndTerminals ends the tmux server at a socket and returns when nothing runs any more that was started in it: a program that still writes
// brings new files into a folder that is being removed. Programs may end in order; what they leave behind is killed.
func EndTerminals(sock string) {
	out, _ := exec.Command("tmux", "-S", sock, "list-panes", "-a", "-F", "#{pane_pid}").Output()
	panes := strings.Fields(string(out))
	below := descendants(panes)
	exec.Command("tmux", "-S", sock, "kill-server").Run() //nolint:errcheck // it may have ended by itself
	ended := func(pids map[string]string) func() bool {
		return func() bool {
			for pid, began := range pids {
				if s, ok := process(pid); ok && s.began == began {
					return false
				}
			}
			return true
		}
	}
	first := map[string]string{}
	for _, pid := range panes {
		first[pid] = below[pid]
	}
	Within(20*time.Second, ended(first))
	for _, pid := range panes {
		exec.Command("kill", "-9", "--", "-"+pid).Run() //nolint:errcheck // there is nobody, as a rule
	}
	for pid, began := range below {
		if s, ok := process(pid); ok && s.began == began {
			exec.Command("kill", "-9", pid).Run() //nolint:errcheck // it may end meanwhile
		}
	}
	Within(20*time.Second, ended(below))
}

// state is what the system says of a process: whose child it is, and when it began, which tells it from a later one of its number.
type state struct{ parent, began string }

// process looks at one that runs. Where there is no /proc, none does.
func process(pid string) (state, bool) {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return state{}, false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	f := strings.Fields(rest)
	if len(f) < 20 || f[0] == "Z" {
		return state{}, false
	}
	return state{f[1], f[19]}, true
}

// descendants are processes with all that they started, and when each began.
func descendants(pids []string) map[string]string {
	all := map[string]state{}
	paths, _ := filepath.Glob("/proc/[0-9]*")
	for _, path := range paths {
		if s, ok := process(filepath.Base(path)); ok {
			all[filepath.Base(path)] = s
		}
	}
	found := map[string]string{}
	for _, pid := range pids {
		if _, err := strconv.Atoi(pid); err == nil {
			found[pid] = all[pid].began
		}
	}
	for more := true; more; {
		more = false
		for pid, s := range all {
			if _, known := found[pid]; known {
				continue
			}
			if _, child := found[s.parent]; child {
				found[pid], more = s.began, true
			}
		}
	}
	return found
}
