package daemon

import (
	"strings"
	"testing"
	"time"

	"tandem/internal/automation/wire"
	"tandem/internal/testenv"
)

const watching = `
name = "watching"
[inputs.event]
type = "string"
[inputs.body]
type = "object"
properties = { resource = { type = "string" } }
[limits]
runs = 100
[[trigger]]
id = "put"
event = "resource.put"
[[node]]
id = "keep"
inputs = { what = "input.body.resource" }
[node.operation]
name = "resource.put"
input = { key = "seen", value = "{{what}}" }
`

// An event of the journal begins one run, also after a restart; what the automation does itself begins none, and events from before it
// was switched on do not either.
func TestAnEventBeginsARun(t *testing.T) {
	k := keptAt(t, "")
	k.must("resource.put", obj{"key": "before", "value": "x"})
	a := k.must("automation.add", wire.AddIn{Text: watching}).(*wire.Automation)
	k.must("automation.on", wire.OnIn{Name: "watching", Digest: a.Latest})
	runs := func() []*wire.Run {
		return k.must("automation.runs", wire.RunsIn{Name: "watching", Limit: 100}).(wire.RunsOut).Runs
	}
	ended := func(n int) {
		t.Helper()
		testenv.Eventually(t, "the runs end", 2*time.Minute, func() bool {
			all := runs()
			for _, r := range all {
				if r.EndedAt.IsZero() {
					return false
				}
			}
			return len(all) >= n
		})
	}
	k.must("resource.put", obj{"key": "first", "value": "x"})
	ended(1)
	k.must("resource.put", obj{"key": "second", "value": "x"})
	ended(2)
	if err := k.stop(); err != nil {
		t.Fatal(err)
	}
	k.start()
	k.must("resource.put", obj{"key": "third", "value": "x"})
	ended(3)
	all := runs()
	if len(all) != 3 || all[0].Status != "completed" || !strings.HasSuffix(all[0].Cause, "resource.put") {
		t.Fatalf("there are %d runs, the newest %+v", len(all), all[0])
	}
	for i, want := range []string{"third", "second", "first"} {
		if body, _ := all[i].Input["body"].(map[string]any); body["resource"] != "resource:/"+want || all[i].Input["event"] != "resource.put" {
			t.Errorf("run %d was given %v", i, all[i].Input)
		}
	}
	if ticks := k.must("automation.ticks", wire.NameIn{Name: "watching"}).(wire.TicksOut).Ticks; len(ticks) != 3 || ticks[0].Run == "" {
		t.Errorf("the rows are %+v", ticks)
	}
}
