package daemon

import (
	"net"
	"os"
	"strings"
	"testing"

	"tandem/internal/server/wire"
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
	if now := heldNow(taken); now == nil || *now != *taken {
		t.Errorf("later it says %+v", now)
	}
	if now := heldNow(&wire.Taken{Address: "127.0.0.1:0", PID: 1, Program: "gone"}); now != nil {
		t.Errorf("of a port that nobody has any more it says %+v", now)
	}
	if pid, program := portHolder("0"); pid != 0 || program != "" {
		t.Errorf("nobody's port is held by %d %s", pid, program)
	}
}

// With --listen 0.0.0.0:39731 the server's own door kept loopback's port, and up told its owner to end that program: the server.
func TestItsOwnDoorTakesNoPortFromIt(t *testing.T) {
	for _, every := range []string{"0.0.0.0:0", "[::]:0"} {
		host, _, _ := net.SplitHostPort(every)
		far, err := net.Listen(family(host), every)
		if err != nil {
			t.Logf("%s cannot be listened on here: %v", every, err)
			continue
		}
		defer far.Close()
		_, port, _ := net.SplitHostPort(far.Addr().String())
		near, taken, err := listenBeside(far, port)
		if err != nil {
			t.Fatal(err)
		}
		near.Close()
		if taken != nil {
			t.Errorf("beside %s it says that %s has its port", far.Addr(), taken.Holder())
		}
	}
	far, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	held, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	_, port, _ := net.SplitHostPort(held.Addr().String())
	near, taken, err := listenBeside(far, port)
	if err != nil {
		t.Fatal(err)
	}
	near.Close()
	if taken == nil || taken.Address != held.Addr().String() {
		t.Errorf("of another program's port it says %+v", taken)
	}
}
