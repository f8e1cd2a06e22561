package automation

import (
	"fmt"
	"strings"
	"testing"

	"tandem/internal/automation/wire"
)

const tooLong = `
name = "all"
[limits]
runs = 1
[inputs.list]
type = "array"
items = { type = "string" }
[[node]]
id = "each"
%s
[node.map]
over = "input.list"
max = 2
[node.map.operation]
name = "mark.send"
input = { text = "{{item}}" }
`

// A run whose first node cannot begin is over, or waits for a person, as soon as it is there, and makes room for the next. It was
// shown as running for ever, and no other one could begin.
func TestARunThatIsOverAtOnce(t *testing.T) {
	for failure, status := range map[string]string{"": "failed", `on_failure = "pause"`: "paused"} {
		h := newHouse(t)
		list := map[string]any{"list": []any{"a", "b", "c"}}
		id := h.begin(fmt.Sprintf(tooLong, failure), list)
		got := h.until(id, "it is "+status, func(r *wire.Run) bool { return r.Status == status })
		if !strings.Contains(got.Reason, "3 items; 2 are allowed") || h.outside.count("send a") != 0 {
			t.Errorf("it says %q", got.Reason)
		}
		if status == "failed" {
			if again := do(h, wire.Begin, wire.BeginIn{Name: "all", Input: list}); again.ID == id {
				t.Error("it is the same run")
			}
		}
	}
	h := newHouse(t)
	id := h.begin("name = \"all\"\n[inputs.go]\ntype = \"boolean\"\n[[node]]\nid = \"which\"\n[node.branch]\non = \"input.go\"\n"+
		"cases = { true = [], false = [] }\n", map[string]any{"go": true})
	h.until(id, "it is completed", isOver)
}
