package codex

import (
	"encoding/json"
	"testing"
)

// Items as the app-server of Codex 0.166.0 tells them.
func TestItemsAreActs(t *testing.T) {
	for _, c := range []struct{ item, tool, text, diff string }{
		{`{"type":"commandExecution","id":"i1","command":"ls","cwd":"/p","status":"completed","aggregatedOutput":"a.txt\n","exitCode":0}`, "Bash",
			"a.txt\n", ""},
		{`{"type":"commandExecution","id":"i2","command":"false","cwd":"/p","status":"failed","aggregatedOutput":"","exitCode":1}`, "Bash",
			"exit code 1", ""},
		{`{"type":"fileChange","id":"i3","status":"completed","changes":[{"path":"/p/a.txt",` +
			`"kind":{"type":"update","move_path":null},"diff":"@@ -1 +1 @@\n-one\n+two\n"}]}`,
			"Edit", "1 files changed", "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n"},
		{`{"type":"fileChange","id":"i4","status":"completed","changes":[{"path":"/p/n.txt","kind":{"type":"add"},"diff":"x\n"}]}`,
			"Edit", "1 files changed", "--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1,1 @@\n+x\n"},
		{`{"type":"mcpToolCall","id":"i5","server":"s","tool":"t","status":"completed","arguments":{"a":1},"result":{"content":[{"type":"text"` +
			`,"text":"pong"}]}}`, "mcp__s__t", "pong", ""},
	} {
		a, ok := actOf(json.RawMessage(c.item))
		if !ok || a.Tool != c.tool || a.Text != c.text || !a.Ended || !json.Valid(a.Args) {
			t.Errorf("%s\n%+v", c.item, a)
		}
		diff := ""
		for _, f := range a.Changes {
			diff += f.Unified("/p")
		}
		if diff != c.diff {
			t.Errorf("%s\n%s", c.item, diff)
		}
	}
	if a, ok := actOf(json.RawMessage(`{"type":"commandExecution","id":"i6","command":"ls","status":"inProgress"}`)); !ok || a.Ended {
		t.Errorf("%+v", a)
	}
	if _, ok := actOf(json.RawMessage(`{"type":"reasoning","id":"i7"}`)); ok {
		t.Error("a thought is no act")
	}
}
