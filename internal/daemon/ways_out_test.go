package daemon

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

// A start that fails after the doors were opened closes them: whoever tries again in
// the same process, or waits for the port, finds it free.
func TestAFailedStartClosesItsDoors(t *testing.T) {
	k := keptAt(t, "")
	k.stop()
	if err := os.RemoveAll(k.d.openingFile()); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(k.d.openingFile(), "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	d := &Daemon{Settings: k.settings, Version: "test"}
	if err := d.Run(t.Context()); err == nil {
		t.Fatal("it started, though its address cannot be kept")
	}
	if len(d.listens) == 0 {
		t.Fatal("it opened no door before it failed")
	}
	for _, address := range d.listens {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			t.Errorf("%s is still open", address)
		}
	}
	if c, err := net.Dial("unix", SocketPath(d.data, d.Settings.Get("control_socket"))); err == nil {
		c.Close()
		t.Error("the control socket is still open")
	}
	if err := os.RemoveAll(d.openingFile()); err != nil {
		t.Fatal(err)
	}
	k.start()
}
