package since

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// git reads from a repository that an agent may have prepared: only commands that run no filter, hook or helper of its configuration, for
// a few seconds, and nothing is fetched.
func git(ctx context.Context, folder string, in []byte, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", folder, "--no-pager", "-c", "core.fsmonitor=false", "-c",
		"core.hooksPath=" + os.DevNull}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "HOME=" + filepath.Dir(os.DevNull)}
	cmd.Stdin, cmd.WaitDelay = bytes.NewReader(in), 200*time.Millisecond
	return cmd.Output()
}

// head is the commit that a folder's repository stands at; "" without one.
func head(ctx context.Context, folder string) string {
	out, err := git(ctx, folder, nil, "rev-parse", "--verify", "--quiet", "HEAD")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// stored says which contents the folder's repository holds, so that they need not be kept a second time.
func stored(ctx context.Context, folder string, hashes []string) map[string]bool {
	out, err := git(ctx, folder, []byte(strings.Join(hashes, "\n")+"\n"), "cat-file", "--batch-check=%(objectname) %(objecttype)")
	have := map[string]bool{}
	if err != nil {
		return have
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		if hash, ok := strings.CutSuffix(lines.Text(), " blob"); ok {
			have[hash] = true
		}
	}
	return have
}

// blob is a content that the folder's repository holds.
func blob(ctx context.Context, folder, hash string) ([]byte, bool) {
	out, err := git(ctx, folder, nil, "cat-file", "blob", hash)
	return out, err == nil
}
