package daemon

import (
	"net"
	"os"
	"strings"
	"testing"
)

// A default port that another program has was left without a word, and what was advised could not work.
func TestATakenPortNamesItsHolder(t *testing.T) {
	held, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	_, port, _ := net.SplitHostPort(held.Addr().String())
	l, taken, err := listenFree("127.0.0.1", port, false)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if taken == nil || taken.Address != held.Addr().String() || taken.PID != os.Getpid() || taken.Program == "" {
		t.Errorf("it says %+v", taken)
	}
	_, _, err = listenFree("127.0.0.1", port, true)
	if err == nil || !strings.Contains(err.Error(), taken.Holder()) {
		t.Errorf("one that was asked for says %v", err)
	}
	if pid, program := portHolder("0"); pid != 0 || program != "" {
		t.Errorf("nobody's port is held by %d %s", pid, program)
	}
}
