package terminal

import (
	"os"
	"strconv"
	"strings"
)

// frozen says whether a process of the program itself, below the terminal's own, was stopped by a signal. A program that is stopped says
// nothing of that, and tmux wakes only what it started itself. What the program runs for its turn does not count.
func frozen(pid int, program string) bool {
	for _, p := range offspring(pid, 6) {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(p) + "/stat")
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(stat[max(0, strings.LastIndexByte(string(stat), ')')):]), " ")
		if !strings.HasPrefix(rest, "T ") {
			continue
		}
		line, err := os.ReadFile("/proc/" + strconv.Itoa(p) + "/cmdline")
		args := strings.SplitN(string(line), "\x00", 3)
		if err == nil && strings.Contains(strings.Join(args[:min(2, len(args))], " "), program) {
			return true
		}
	}
	return false
}

// offspring are a process and those that it started, so many generations deep.
func offspring(pid, deep int) []int {
	out := []int{pid}
	if deep == 0 || pid <= 1 {
		return out
	}
	tasks, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
	if err != nil {
		return out
	}
	for _, t := range tasks {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/task/" + t.Name() + "/children")
		if err != nil {
			continue
		}
		for _, child := range strings.Fields(string(text)) {
			if n, err := strconv.Atoi(child); err == nil {
				out = append(out, offspring(n, deep-1)...)
			}
		}
	}
	return out
}
