package daemon

import (
	"fmt"
	"syscall"
	"testing"
)

// --listen 0.0.0.0:PORT opened the port on every IPv6 address, too.
func TestAnIPv4AddressOpensNoIPv6(t *testing.T) {
	for host, want := range map[string]string{"0.0.0.0": "tcp4", "127.0.0.1": "tcp4", "::": "tcp", "::1": "tcp", "localhost": "tcp"} {
		if got := family(host); got != want {
			t.Errorf("%s is listened on by %s", host, got)
		}
	}
}

// On Windows a taken port was an error of another kind, and on macOS people were to use a program that is not there.
func TestATakenPortIsKnownOnEverySystem(t *testing.T) {
	of := func(n syscall.Errno) error { return fmt.Errorf("listen: %w", n) }
	for _, c := range []struct {
		system string
		err    error
		want   bool
	}{{"linux", of(syscall.EADDRINUSE), true}, {"darwin", of(syscall.EADDRINUSE), true}, {"windows", of(10048), true},
		{"windows", of(10013), false}, {"linux", of(10048), false}, {"linux", of(syscall.EACCES), false}} {
		if got := inUse(c.err, c.system); got != c.want {
			t.Errorf("%s, %v: %v", c.system, c.err, got)
		}
	}
	for system, want := range map[string]string{"linux": "ss -ltnp", "darwin": "lsof -nP -iTCP:39731 -sTCP:LISTEN",
		"windows": "netstat -ano"} {
		if got := whoListens(system, "39731"); got != want {
			t.Errorf("on %s: %s", system, got)
		}
	}
}
