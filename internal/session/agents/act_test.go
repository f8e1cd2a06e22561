package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Lines of a transcript as Claude Code 2.1.197 writes them: words and tools, what came of them, and what an edit changed.
func TestATranscriptTellsOfTools(t *testing.T) {
	lines := []string{
		`{"type":"assistant","uuid":"u1","timestamp":"2026-11-16T10:00:00Z","message":{"id":"m1","model":"opus",` +
			`"content":[{"type":"text","text":"I look."}],"usage":{"output_tokens":5}}}`,
		`{"type":"assistant","uuid":"u2","timestamp":"2026-11-16T10:00:01Z","message":{"id":"m1","model":"opus","content":[{"type":"tool_use",` +
			`"id":"t1","name":"Bash","input":{"command":"ls"}}],"usage":{"output_tokens":5}}}`,
		`{"type":"user","uuid":"u3","timestamp":"2026-11-16T10:00:02Z","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content` +
			`":"a.txt","is_error":false}]},"toolUseResult":{"stdout":"a.txt"}}`,
		`{"type":"assistant","uuid":"u4","timestamp":"2026-11-16T10:00:03Z","message":{"id":"m2","content":[{"type":"tool_use","id":"t2","name` +
			`":"Edit","input":{"file_path":"/p/a.txt"}}]}}`,
		`{"type":"user","uuid":"u5","timestamp":"2026-11-16T10:00:04Z","message":{"content":[{"type":"tool_result","tool_use_id":"t2","content` +
			`":[{"type":"text","text":"updated"}]}]},"toolUseResult":{"filePath":"/p/a.txt","structuredPatch":[{"oldStart":1,"oldLines":1,"newSta` +
			`rt":1,"newLines":1,"lines":["-one","+two"]}]}}`,
		`{"type":"user","uuid":"u6","timestamp":"2026-11-16T10:00:05Z","message":{"content":[{"type":"tool_result",` +
			`"tool_use_id":"t3","content":"ok"}]},"toolUseResult":{"type":"create","filePath":"/p/new.txt","content":"x\ny","structuredPatch":[]}}`,
		`{"type":"assistant","uuid":"u7","message":{"id":"m3","content":[{"type":"tool_use","id":"t4","name":"AskUserQuestion","input":{}}]}}`,
		`{"type":"user","uuid":"u8","message":{"content":[{"type":"tool_result","tool_use_id":"t5","content":"no such file","is_error":true}]}}`,
	}
	file := filepath.Join(t.TempDir(), "talk.jsonl")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := (&Transcript{Path: file}).Next()
	if err != nil || len(got) != 7 {
		t.Fatalf("%d entries, %v: %+v", len(got), err, got)
	}
	if got[0].Kind != Said || got[1].Kind != Acted || got[1].Act.Tool != "Bash" || string(got[1].Act.Args) != `{"command":"ls"}` ||
		got[1].Tokens.Output != 5 || got[1].Act.Ended {
		t.Errorf("%+v %+v", got[0], got[1])
	}
	if a := got[2].Act; !a.Ended || a.Ref != "t1" || a.Text != "a.txt" || a.Bad || len(a.Changes) != 0 {
		t.Errorf("%+v", a)
	}
	if a := got[4].Act; a.Text != "updated" || len(a.Changes) != 1 ||
		a.Changes[0].Unified("/p") != "--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,1 @@\n-one\n+two\n" {
		t.Errorf("%+v", a)
	}
	if a := got[5].Act; len(a.Changes) != 1 || a.Changes[0].Unified("/p") != "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,2 @@\n+x\n+y\n\\ No "+
		"newline at end of file\n" {
		t.Errorf("%+v", a)
	}
	if a := got[6].Act; !a.Bad || a.Text != "no such file" {
		t.Errorf("%+v", a)
	}
}
