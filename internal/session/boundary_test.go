package session

import (
	"strings"
	"testing"

	"tandem/internal/tool"
	"tandem/internal/tool/box"
)

// A session of our own loop did not say that its commands, where they have the network, reach abstract sockets on a kernel that does not
// keep them apart: only agent programs said so, and Landlock's box was taken to keep them on every kernel.
func TestASessionSaysWhatIsOpenToItsCommands(t *testing.T) {
	for _, c := range []struct {
		kind box.Kind
		open bool
	}{{box.Bubblewrap, true}, {box.Landlock, true}, {box.Seatbelt, false}} { // nothing is known of this kernel
		r := &Room{sandbox: &tool.Sandbox{Machine: &box.Machine{Kind: c.kind}}}
		confined, boundary, err := r.confinement(t.Context(), &Session{Driver: DriverModel})
		if err != nil || confined != string(c.kind) || strings.Contains(boundary, "does not keep it from abstract sockets") != c.open {
			t.Errorf("%s: %q, %q, %v", c.kind, confined, boundary, err)
		}
	}
}
