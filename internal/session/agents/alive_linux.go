package agents

import (
	"os"
	"strconv"
	"strings"
)

// alive says whether a registry entry is of a process that still runs: the file outlives a killed one, and numbers are used
// again.
func alive(r Registered) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(r.PID) + "/stat")
	if err != nil {
		return false
	}
	_, rest, ok := strings.Cut(string(stat), ") ") // the name before it may hold anything
	f := strings.Fields(rest)
	return ok && len(f) > 19 && f[0] != "Z" && (r.ProcStart == "" || f[19] == r.ProcStart)
}
