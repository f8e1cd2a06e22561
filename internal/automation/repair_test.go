package automation

import (
	"context"
	"strings"
	"testing"

	"tandem/internal/automation/wire"
	"tandem/internal/fault"
	"tandem/internal/op"
)

const breaking = `
name = "all"
[[node]]
id = "note"
[node.operation]
name = "mark.add"
input = { text = "before" }
[[node]]
id = "draft"
after = ["note"]
[node.turn]
prompt = "Never say it."
[node.output.words.schema]
type = "array"
[[node]]
id = "send"
inputs = { words = "draft.words" }
[node.operation]
name = "mark.send"
input = { text = "dear {{words}}" }
`

// A run that failed goes on with the words that a person gave it, under another digest; what was done is not done again, the version stays,
// and a repair that nobody looked at is none.
func TestAFailedRunIsRepaired(t *testing.T) {
	h := newHouse(t)
	id := h.begin(breaking, nil)
	failed := h.until(id, "it failed", func(r *wire.Run) bool { return r.Status == "failed" })
	prompt := "Say two words."
	in := wire.RepairIn{ID: id, Node: "draft", Prompt: &prompt, Reason: "it was told never to"}
	look := do(h, wire.Review, in)
	if look.Prompt != "Never say it." || !strings.Contains(look.Changes, "+Say two words.") || look.Digest == "" ||
		look.Digest == failed.Digest {
		t.Errorf("it would change %+v", look)
	}
	_, err := op.Do(op.WithCaller(context.Background(), owner), h.gate, wire.Repair, in)
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("nobody looked, and it is repaired: %v", err)
	}
	in.Digest = look.Digest
	do(h, wire.Repair, in)
	got := h.until(id, "it ends", func(r *wire.Run) bool { return r.Status == "completed" })
	if got.Digest != failed.Digest || len(got.Repairs) != 1 || got.Repairs[0].Digest != look.Digest || got.Repairs[0].By != "owner" ||
		got.Repairs[0].Reason != in.Reason || got.Repairs[0].Changes != look.Changes || got.EndedAt.IsZero() {
		t.Errorf("its history is %+v", got)
	}
	if n := h.outside.count(`send dear ["x","y"]`); n != 1 {
		t.Errorf("it was sent %d times: %v", n, h.outside.acted)
	}
	var notes int
	h.must(h.DB.QueryRow(context.Background(), "SELECT count(*) FROM mark WHERE text = 'before'").Scan(&notes))
	if notes != 1 {
		t.Errorf("what was done before is done %d times", notes)
	}
	if v := do(h, wire.Show, wire.ShowIn{Name: "all"}); v.Digest != failed.Digest || v.Text != breaking {
		t.Error("the version was changed")
	}
	if _, err := op.Do(op.WithCaller(context.Background(), owner), h.gate, wire.Repair, in); err == nil {
		t.Error("a run that is over is repaired")
	}
}

// A repair changes words and nothing else; it is of whoever switched the automation on, and of a version that is on.
func TestWhoRepairsWhat(t *testing.T) {
	h := newHouse(t)
	id := h.begin(breaking, nil)
	h.until(id, "it failed", func(r *wire.Run) bool { return r.Status == "failed" })
	file := func(from, to string) wire.RepairIn {
		return wire.RepairIn{ID: id, Node: "draft", Definition: strings.Replace(breaking, from, to, 1)}
	}
	prompt, none := "Say {{mail}}.", ""
	for what, in := range map[string]wire.RepairIn{
		"another tool":        file(`prompt = "Never`, `tools = ["read_file"]`+"\n"+`prompt = "Never`),
		"another node":        file(`"before"`, `"after"`),
		"another output":      file(`"array"`, `"object"`),
		"no definition":       {ID: id, Node: "draft", Definition: "name = 7"},
		"nothing":             file("name", "name"),
		"an input that is no": {ID: id, Node: "draft", Prompt: &prompt},
		"no prompt":           {ID: id, Node: "draft", Prompt: &none},
		"no turn":             {ID: id, Node: "send", Model: &none},
		"both":                {ID: id, Node: "draft", Prompt: &prompt, Definition: breaking},
	} {
		if _, err := op.Do(op.WithCaller(context.Background(), owner), h.gate, wire.Review, in); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s is taken: %v", what, err)
		}
	}
	right := file("Never say it.", "Say two words.")
	right.Digest = do(h, wire.Review, right).Digest
	second := owner
	second.Actor, second.Name = "act_second", "second"
	refused := func(what string, c op.Caller, kind fault.Kind) {
		t.Helper()
		if _, err := op.Do(op.WithCaller(context.Background(), c), h.gate, wire.Repair, right); !fault.Is(err, kind) {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("somebody for whom it does not act", second, fault.Denied)
	refused("the automation itself", h.self("all"), fault.Denied)
	a := do(h, wire.Add, wire.AddIn{Text: strings.Replace(breaking, "before", "later", 1)})
	do(h, wire.On, wire.OnIn{Name: a.Name, Digest: a.Latest})
	refused("a run of another version than is on", owner, fault.Conflict)
	do(h, wire.Off, wire.NameIn{Name: "all"})
	refused("a run of one that is switched off", owner, fault.Conflict)
}
