package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// portHolder is the program of this machine that listens on a TCP port; 0 and "" where that cannot be seen, as with another user's.
func portHolder(port string) (pid int, program string) {
	n, err := strconv.Atoi(port)
	if err != nil {
		return 0, ""
	}
	sockets := listening(fmt.Sprintf(":%04X", n))
	if len(sockets) == 0 {
		return 0, ""
	}
	fds, _ := filepath.Glob("/proc/[0-9]*/fd/*") // its pattern is well formed
	for _, fd := range fds {
		to, err := os.Readlink(fd)
		if err != nil || !sockets[to] {
			continue
		}
		dir := filepath.Dir(filepath.Dir(fd))
		if pid, err = strconv.Atoi(filepath.Base(dir)); err != nil {
			continue
		}
		name, _ := os.ReadFile(filepath.Join(dir, "comm")) // it may have ended meanwhile
		return pid, strings.TrimSpace(string(name))
	}
	return 0, ""
}

// listening are the sockets that listen on a port, as the links below /proc/PID/fd name them.
func listening(port string) map[string]bool {
	const listen = "0A"
	out := map[string]bool{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, _ := os.ReadFile(table) // where there is none, nothing is known
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 9 && f[3] == listen && strings.HasSuffix(f[1], port) {
				out["socket:["+f[9]+"]"] = true
			}
		}
	}
	return out
}
