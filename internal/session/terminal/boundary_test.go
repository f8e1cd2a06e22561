package terminal

import (
	"strings"
	"testing"

	"tandem/internal/tool/box"
)

// Where the kernel does not keep a box from the abstract sockets of other programs, a session says so when it is opened. (Where it does,
// `internal/tool/box` TestAbstractSocketsStayOutside shows it, and TestADevServerIsReached that loopback goes on.)
func TestABoundarySaysWhatIsOpen(t *testing.T) {
	d := &Driver{boxes: &box.Machine{Kind: box.Bubblewrap}} // nothing is known of this kernel
	for _, agent := range []string{"claude", "codex", "opencode"} {
		if got := d.boundary(agent, "bwrap"); !strings.Contains(got, "does not keep it from abstract sockets") {
			t.Errorf("%s: %s", agent, got)
		}
	}
	if got := d.boundary("claude", "none"); !strings.Contains(got, "nothing keeps it") {
		t.Errorf("without a box: %s", got)
	}
}
