package testenv

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// Tandem is the path of the program as users get it: static, built from this
// checkout. TANDEM_TEST_BINARY names one that is already built.
func Tandem(t testing.TB) string {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatalf("build tandem: %v", err)
	}
	return path
}

var program = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("TANDEM_TEST_BINARY"); path != "" {
		return filepath.Abs(path)
	}
	gomod, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	root := filepath.Dir(strings.TrimSpace(string(gomod)))
	// One folder for each checkout: test processes of the same one share the
	// build, and the go command sees by itself whether it is stale.
	sum := sha256.Sum256([]byte(root))
	dir := filepath.Join(Tools(), "build", hex.EncodeToString(sum[:6]))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	unlock, err := lockedfile.MutexAt(filepath.Join(dir, "lock")).Lock()
	if err != nil {
		return "", err
	}
	defer unlock()
	path := filepath.Join(dir, "tandem")
	build := exec.Command("go", "build", "-trimpath", "-o", path, "./cmd/tandem")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", &buildError{string(out), err}
	}
	return path, nil
})

type buildError struct {
	out string
	err error
}

func (e *buildError) Error() string { return e.err.Error() + "\n" + e.out }
