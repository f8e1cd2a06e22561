package repo

import (
	"bytes"
	"io"
	"strings"
)

// Engine runs one jj command line in a folder and returns its exit code.
type Engine func(args []string, dir string, env []string, in io.Reader, out, errw io.Writer) int

// quiet runs a command whose output nobody needs to see, and gives it.
func (e Engine) quiet(dir string, env []string, args ...string) (string, bool) {
	var out, errw bytes.Buffer
	code := e(args, dir, env, strings.NewReader(""), &out, &errw)
	return out.String(), code == 0
}
