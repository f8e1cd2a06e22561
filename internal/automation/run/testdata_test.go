package run

import (
	"testing"
	"time"

	"tandem/internal/automation/spec"
)

// kinds is a definition with every kind of node.
const kinds = `
name = "kinds"
[inputs.list]
type = "array"
items = { type = "string" }
[limits]
time = "2d"
parallel = 3
nodes = 60
tokens = 100000
cost = 5.0
[[trigger]]
id = "hook"
webhook = "generic"
[[node]]
id = "look"
retry = { attempts = 3, wait = "10s", factor = 2.0, most = "1m" }
[node.turn]
prompt = "look"
[node.output.mood.schema]
enum = ["good", "bad"]
[[node]]
id = "each"
on_failure = "go on"
[node.map]
over = "input.list"
max = 5
parallel = 2
[node.map.command]
run = ["echo", "{{item}}"]
[node.output.line.schema]
type = "string"
[[node]]
id = "which"
[node.branch]
on = "look.mood"
cases = { good = ["note"], bad = ["draft"] }
[[node]]
id = "note"
on_failure = "pause"
[node.operation]
name = "board.add"
[[node]]
id = "draft"
inputs = { lines = "each.line" }
retry = { attempts = 2 }
[node.turn]
prompt = "{{lines}}"
[node.output.text]
artifact = "markdown"
[[node]]
id = "gate"
[node.gate]
shows = ["draft.text"]
rework = "draft"
expires = "1h"
on_expiry = "remind"
[[node]]
id = "hear"
after = ["look"]
[node.wait]
webhook = "hook"
timeout = "3h"
on_timeout = "resume"
[[node]]
id = "rest"
after = ["gate", "note"]
[node.wait]
for = "30m"
[[node]]
id = "sub"
after = ["rest", "hear"]
[node.automation]
name = "other"
`

var epoch = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

func begin(t testing.TB, text string, given map[string]any) *Run {
	t.Helper()
	a, err := spec.Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Begin(a, given, epoch)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// words is a list of that many.
func words(n int) map[string]any {
	list := make([]any, n)
	for i := range list {
		list[i] = "w"
	}
	return map[string]any{"list": list}
}

// outputs are what a node of kinds declares.
func outputs(node, mood string) map[string]any {
	switch node {
	case "look":
		return map[string]any{"mood": mood}
	case "each":
		return map[string]any{"line": "l"}
	case "draft":
		return map[string]any{"text": "sha256:1"}
	}
	return nil
}
