package automation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tandem/internal/automation/wire"
	"tandem/internal/fault"
	"tandem/internal/op"
)

const rehearsing = `
name = "all"
[[node]]
id = "draft"
[node.turn]
prompt = "Say two words."
[node.output.words.schema]
type = "array"
[[node]]
id = "send"
inputs = { words = "draft.words" }
[node.operation]
name = "mark.send"
input = { text = "dear {{words}}" }
[node.output.mood.schema]
enum = ["sent", "kept"]
[[node]]
id = "which"
[node.branch]
on = "send.mood"
cases = { sent = ["note"], kept = ["tell"] }
[[node]]
id = "note"
[node.operation]
name = "mark.add"
input = { text = "noted" }
[[node]]
id = "tell"
[node.operation]
name = "mark.send"
input = { text = "nobody" }
`

// A run is rehearsed with the newest version: what a node is asked otherwise, what branches otherwise and what has no answer is named. No
// model is asked, nothing is sent, and neither the run nor its rows change.
func TestARunIsRehearsed(t *testing.T) {
	h := newHouse(t)
	id := h.begin(rehearsing, nil)
	h.until(id, "it ended", func(r *wire.Run) bool { return r.Status == "completed" })
	before := fmt.Sprint(*do(h, wire.Trace, wire.RunIn{ID: id}), h.rows(), h.outside.acted)

	same := do(h, wire.Rehearse, wire.RehearseIn{ID: id})
	if !same.Same || same.Status != "completed" || same.Then != same.Now || len(same.Steps) != 5 {
		t.Errorf("with its own definition: %+v", same)
	}
	newer := strings.NewReplacer("Say two words.", "Say three words.", `sent = ["note"], kept = ["tell"]`,
		`kept = ["note"], sent = ["tell"]`).Replace(rehearsing)
	do(h, wire.Add, wire.AddIn{Text: newer})
	got := do(h, wire.Rehearse, wire.RehearseIn{ID: id})
	of := map[string]wire.RehearsedStep{}
	for _, s := range got.Steps {
		of[s.Node] = s
	}
	if got.Same || got.Status != "open" || !slices.Equal(got.Missing, []string{"tell"}) || got.Then != same.Then || got.Now == same.Now {
		t.Errorf("with the newest: %+v", got)
	}
	if s := of["draft"]; !strings.Contains(s.Asked, "+Say three words.") || s.Answer != "recorded" || s.Now != "done" || s.Gives != "" {
		t.Errorf("the draft is %+v", s)
	}
	if s := of["which"]; !strings.Contains(s.Gives, `+    "tell"`) || s.Answer != "" {
		t.Errorf("the branch is %+v", s)
	}
	if s := of["note"]; s.Then != "done" || s.Now != "skipped" {
		t.Errorf("the note is %+v", s)
	}
	if s := of["send"]; s.Differs() {
		t.Errorf("what is sent is %+v", s)
	}
	if back := do(h, wire.Rehearse, wire.RehearseIn{ID: id, Digest: same.Then[:12]}); !back.Same {
		t.Errorf("with its own version by name: %+v", back)
	}
	shorter := do(h, wire.Rehearse, wire.RehearseIn{ID: id, Definition: rehearsing[:strings.Index(rehearsing, "[[node]]\nid = \"which\"")]})
	if shorter.Same || shorter.Status != "completed" || !slices.Equal(shorter.Gone, []string{"which", "note"}) {
		t.Errorf("with a definition that is not stored: %+v", shorter)
	}
	for what, in := range map[string]wire.RehearseIn{"no version": {ID: id, Digest: "0000"}, "no run": {ID: "run_none"}} {
		if _, err := op.Do(op.WithCaller(context.Background(), owner), h.gate, wire.Rehearse, in); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	week := strings.Replace(rehearsing, "[[node]]", "[inputs.week]\ntype = \"integer\"\n[[node]]", 1)
	for what, text := range map[string]string{"no definition": "name = 7", "an input that the run was not given": week} {
		in := wire.RehearseIn{ID: id, Definition: text}
		if _, err := op.Do(op.WithCaller(context.Background(), owner), h.gate, wire.Rehearse, in); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if after := fmt.Sprint(*do(h, wire.Trace, wire.RunIn{ID: id}), h.rows(), h.outside.acted); after != before {
		t.Errorf("a rehearsal changed something\n%s\n%s", before, after)
	}
}

// rows counts what is stored of runs, and what their steps did.
func (h *house) rows() (out []int) {
	for _, table := range []string{"automation_run", "automation_event", "automation_step", "mark"} {
		var n int
		h.must(h.DB.QueryRow(context.Background(), "SELECT count(*) FROM "+table).Scan(&n))
		out = append(out, n)
	}
	return out
}
