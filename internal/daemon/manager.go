package daemon

import (
	"os"
	"path"
	"strconv"
	"strings"
)

// managed is the unit of systemd that this very process is the main one of, and the start of a command that speaks to its manager; "" when
// a person or a command started it. What systemd tells it also reaches everything that it starts, so the process is looked at.
func managed() (unit, control string) {
	if os.Getenv("INVOCATION_ID") == "" {
		return "", ""
	}
	if pid := os.Getenv("SYSTEMD_EXEC_PID"); pid != strconv.Itoa(os.Getpid()) && (pid != "" || parent() != "systemd") {
		return "", ""
	}
	unit, control = "tandem.service", "systemctl"
	text, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
		group := strings.TrimSpace(line[strings.LastIndex(line, ":")+1:])
		if strings.HasSuffix(group, ".service") {
			unit = path.Base(group)
		}
		if strings.Contains(group, "/user@") {
			control = "systemctl --user"
		}
	}
	return unit, control
}

// parent is the name of the program that started this one.
func parent() string {
	name, _ := os.ReadFile("/proc/" + strconv.Itoa(os.Getppid()) + "/comm")
	return strings.TrimSpace(string(name))
}
