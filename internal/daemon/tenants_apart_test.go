package daemon

import (
	"testing"

	"tandem/internal/fault"
	"tandem/internal/op"
)

// What let the house's machine in at another server was used for a space of any tenant. Now a tenant is refused, and not told which
// servers the house has joined.
func TestATenantUsesNoTokenOfTheHouse(t *testing.T) {
	wards(t, func(w *ward) {
		_, ana := w.acme()
		_, err := w.calls(op.CallerFrom(owner(t, w.Daemon)), "workspace.trust", TrustIn{Server: "far.example:443", Token: "tdm_of_the_house"})
		w.must(err)
		var said []string
		for _, host := range []string{"far.example:443", "other.example:443"} {
			_, err := w.calls(ana, "space.create", map[string]any{"name": "theirs", "host": host})
			w.refused(host, err, fault.Denied)
			said = append(said, err.Error())
		}
		if said[0] != said[1] {
			t.Errorf("which servers the house has joined is told: %q", said)
		}
	})
}
