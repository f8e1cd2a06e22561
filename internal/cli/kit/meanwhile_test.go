//go:build unix

package kit

import (
	"bufio"
	"testing"

	"github.com/creack/pty"
)

// A command that waited for half a minute said nothing while it did.
func TestWhoWaitsIsToldForWhat(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer tty.Close()
	screen := bufio.NewReader(master)
	k := &Kit{Err: tty}
	k.Meanwhile("not told, for it came at once")()
	defer k.Meanwhile("starting %s …", "builder")()
	if got, err := screen.ReadString('\n'); err != nil || got != "starting builder …\r\n" {
		t.Errorf("%q %v", got, err)
	}
}
