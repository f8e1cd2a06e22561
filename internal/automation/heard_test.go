package automation

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tandem/internal/automation/wire"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// hearing begins a run and lets it come to wait for a message of its order.
func (h *house) hearing(order any, kind string) string {
	h.t.Helper()
	text := strings.Replace(fmt.Sprintf(hears, "1ms"), `type = "string"`, fmt.Sprintf("type = %q", kind), 1)
	id := h.begin(text, map[string]any{"order": order})
	h.until(id, "it waits", func(r *wire.Run) bool { return strings.Contains(strings.Join(r.Waits, ""), "webhook paid") })
	return id
}

// A message that no run took stays while a run is open that may come to wait for it, however many others come; too many are refused, and
// what nobody can wait for says so. It was lost without a word when 100 others had come. An empty one is heard, too.
func TestAMessageWaitsForItsRun(t *testing.T) {
	h := newHouse(t)
	id := h.hearing("1", "string")
	do(h, wire.Pause, wire.RunIn{ID: id})
	mine := h.deliver("all", "paid", "mine", `{"sum": 5, "data": {"order": "1"}}`).ID
	for i := range keptBodies + 1 {
		h.deliver("all", "paid", fmt.Sprint("m", i), `{"sum": 5, "data": {"order": "other"}}`)
	}
	var body string
	h.must(h.DB.QueryRow(t.Context(), "SELECT body FROM automation_delivery WHERE id = ?", mine).Scan(&body))
	if body == "" {
		t.Fatal("it is lost")
	}
	h.must(h.write(fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO automation_delivery (tenant, id, name, hook, trigger_id, sender, mark, kind, body, run, why, at)
		SELECT tenant, id || i, name, hook, trigger_id, '', mark || i, kind, '{"data": 1}', '', '', at FROM automation_delivery, n
		WHERE id = '%s'`,
		maxUnheard, mine)))
	_, err := op.Do(op.WithCaller(t.Context(), h.self("all")), h.gate, wire.Deliver, wire.DeliverIn{Name: "all", Trigger: "paid",
		Hook: "whk_all", Mark: "more", Body: "{}"})
	if !fault.Is(err, fault.Exhausted) {
		t.Errorf("one more is taken: %v", err)
	}
	do(h, wire.Resume, wire.RunIn{ID: id})
	h.until(id, "it hears its own", isOver)
	late := h.deliver("all", "paid", "late", `{"sum": 5, "data": {"order": "1"}}`)
	if !strings.Contains(late.Why, "no run was open") {
		t.Errorf("what nobody can wait for says %q", late.Why)
	}

	id = h.begin("name = \"all\"\n[[trigger]]\nid = \"paid\"\nwebhook = \"generic\"\n[[node]]\nid = \"hear\"\n"+
		"[node.wait]\nwebhook = \"paid\"\n", nil)
	h.deliver("all", "paid", "ping", "")
	h.until(id, "it hears the ping", isOver)
}

// Numbers are compared as they are written. 9007199254740993 was 9007199254740992, and 12345678 was not the text of these digits.
func TestAMatchReadsNumbersAsTheyAreWritten(t *testing.T) {
	h := newHouse(t)
	id := h.hearing(json.Number("9007199254740993"), "integer")
	for _, wrong := range []string{"9007199254740992", "true", `"x"`, "[9007199254740993]", "9007199254740993.5"} {
		h.deliver("all", "paid", wrong, `{"sum": 1, "data": {"order": `+wrong+`}}`)
	}
	h.deliver("all", "paid", "right", `{"sum": 2, "data": {"order": 9007199254740993}}`)
	got := h.until(id, "it hears its own", isOver)
	if heard := fmt.Sprint(got.Steps[1].Output); heard != "map[body:map[data:map[order:9007199254740993] sum:2]]" {
		t.Errorf("it heard %s", heard)
	}
	for _, c := range []struct {
		a, b any
		same bool
	}{{json.Number("12345678"), "12345678", true}, {true, "true", false}, {true, true, true}, {json.Number("1"), true, false},
		{json.Number("9007199254740993"), json.Number("9007199254740992"), false}} {
		if same(c.a, c.b) != c.same || same(c.b, c.a) != c.same {
			t.Errorf("%v is %v: %t", c.a, c.b, !c.same)
		}
	}
}

// Replaying a message that a node waits for lets another run hear it, or says why not. It said yes and did nothing.
func TestAHeardMessageIsReplayed(t *testing.T) {
	h := newHouse(t)
	replay := func(id string) error {
		_, err := op.Do(op.WithCaller(t.Context(), owner), h.gate, wire.Replay, wire.ReplayIn{Name: "all", ID: id})
		return err
	}
	one := h.hearing("1", "string")
	d := h.deliver("all", "paid", "m", `{"sum": 5, "data": {"order": "1"}}`).ID
	h.until(one, "it hears it", isOver)
	if err := replay(d); !fault.Is(err, fault.Conflict) {
		t.Fatalf("nobody is there to hear it: %v", err)
	}
	two := h.hearing("1", "string")
	h.must(replay(d))
	h.until(two, "it hears it again", isOver)
	h.hearing("1", "string")
	h.must(h.write("UPDATE automation_delivery SET run = (SELECT id FROM automation_run WHERE ended_at = 0)"))
	if err := replay(d); !fault.Is(err, fault.Conflict) {
		t.Errorf("an open run has it: %v", err)
	}
}
