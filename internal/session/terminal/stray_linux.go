package terminal

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// strays are processes of this user that say in their environment which session of this data folder they belong to.
func strays(data string) map[string][]int {
	out := map[string][]int{}
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return out
	}
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		env, readErr := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || readErr != nil || pid == os.Getpid() {
			continue
		}
		var session, socket string
		for _, kv := range strings.Split(string(env), "\x00") {
			if v, ok := strings.CutPrefix(kv, "TANDEM_SESSION="); ok {
				session = v
			}
			if v, ok := strings.CutPrefix(kv, "TANDEM_SESSION_SOCKET="); ok {
				socket = v
			}
		}
		if session != "" && strings.HasPrefix(socket, data+string(filepath.Separator)) {
			out[session] = append(out[session], pid)
		}
	}
	return out
}
