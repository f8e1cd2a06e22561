package kit

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"tandem/internal/fault"
)

// A full disk of this machine is named as that, with what to do; what a server says of its own disk stays as it is.
func TestAFullDiskHereIsNamed(t *testing.T) {
	full := &os.PathError{Op: "write", Path: "work/pack", Err: syscall.ENOSPC}
	there := fault.New(fault.Unavailable, "repo.push", "the server's disk is full: %w", full)
	for _, c := range []struct {
		err         error
		says, quiet string
	}{
		{fmt.Errorf("receive: %w", full), "on this machine", "server"},
		{there, "the server's disk is full", "on this machine"},
	} {
		var out bytes.Buffer
		k := &Kit{Err: &out}
		if code := k.Fail(c.err); code != 1 || !strings.Contains(out.String(), c.says) || strings.Contains(out.String(), c.quiet) {
			t.Errorf("%v: exit %d\n%s", c.err, code, out.String())
		}
	}
}
