package tunnel

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// lookPath finds a program on the PATH of env, not on this process's.
func lookPath(name string, env []string) (string, error) {
	if runtime.GOOS == "windows" {
		return exec.LookPath(name)
	}
	for _, kv := range env {
		list, ok := strings.CutPrefix(kv, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			if p := filepath.Join(dir, name); filepath.IsAbs(dir) && executable(p) {
				return p, nil
			}
		}
	}
	return "", exec.ErrNotFound
}

func executable(path string) bool {
	st, err := os.Stat(path)
	return err == nil && !st.IsDir() && st.Mode()&0o111 != 0
}
