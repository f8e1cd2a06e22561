package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/automation/wire"
	inbox "tandem/internal/inbox/wire"
	"tandem/internal/testenv"
)

const failing = `
name = "failing"
[[node]]
id = "look"
on_failure = "ON"
[node.operation]
name = "resource.get"
input = { key = "nothing/here" }
`

// A run failed, or a failure paused it, and nobody heard of it: no line in events.log, no row in the inbox.
func TestARunThatDoesNotGoOnIsTold(t *testing.T) {
	k := keptAt(t, "")
	begin := func(on, status string) *wire.Run {
		a := k.must("automation.add", wire.AddIn{Text: strings.Replace(failing, "ON", on, 1)}).(*wire.Automation)
		k.must("automation.on", wire.OnIn{Name: "failing", Digest: a.Latest})
		r := k.must("automation.run", wire.BeginIn{Name: "failing"}).(*wire.Run)
		testenv.Eventually(t, "it is "+status, time.Minute, func() bool {
			r = k.must("automation.trace", wire.RunIn{ID: r.ID}).(*wire.Run)
			return r.Status == status
		})
		return r
	}
	row := func(id string) (out inbox.Row) {
		for _, r := range k.must("inbox.list", inbox.In{}).(inbox.Out).Rows {
			if r.ID == id {
				out = r
			}
		}
		return out
	}
	events := func() string {
		data, _ := os.ReadFile(filepath.Join(k.d.data, "events.log"))
		return string(data)
	}
	failed := begin("fail", "failed")
	if got := row(failed.ID); got.Kind != inbox.Ended || !strings.HasPrefix(got.What, "its run failed: look: ") {
		t.Errorf("the inbox says %+v", got)
	}
	says := func(status string) {
		testenv.Eventually(t, "events.log says "+status, time.Minute, func() bool {
			return strings.Contains(events(), `"type":"automation","status":"`+status+`"`)
		})
	}
	says("failed")
	paused := begin("pause", "paused")
	if got := row(paused.ID); got.Kind != inbox.Run || !strings.HasPrefix(got.What, "look failed: ") || !got.Kind.Waits() {
		t.Errorf("the inbox says %+v", got)
	}
	says("waits")
	k.must("automation.cancel", wire.RunIn{ID: paused.ID})
	if got := row(paused.ID); got.ID != "" {
		t.Errorf("cancelled it still needs somebody: %+v", got)
	}
}
