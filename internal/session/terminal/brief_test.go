package terminal_test

import (
	"strings"
	"testing"

	"tandem/internal/memory/wire"
)

// A lesson that one real agent learnt is proposed; nobody is told it until a person approved it, and then the next conversation begins
// with it, whichever program that is: quoted, with its source, and once.
func TestALessonIsToldToTheNextSession(t *testing.T) {
	if !alone(t) {
		return
	}
	h := spokenHouse(t)
	h.openAs("a", "")
	propose := func(text string) string {
		return `[[tool mcp__tandem__memory_propose {"kind":"lesson","text":` + quote(text) + `}]]`
	}
	for _, text := range []string{"The build needs the flag plainplover", "The tests need the flag greyplover"} {
		if out := h.send("a", "learn "+propose(text)+" [[say noted]]"); out.Status != "done" {
			t.Fatalf("%+v\n%s", out, h.shown("a"))
		}
	}
	var waits wire.ListOut
	h.call("memory.list", wire.ListIn{State: wire.Proposed}, &waits)
	if len(waits.Records) != 2 || waits.Records[0].Trust != wire.Untrusted {
		t.Fatalf("proposed: %+v", waits.Records)
	}
	lesson := waits.Records[1]
	if !strings.Contains(lesson.Text, "plainplover") {
		lesson = waits.Records[0]
	}
	// told are the prompts in which the model was told a word, of those with a mark of the turn.
	told := func(mark, word string) (n int) {
		for _, q := range h.model.Requests() {
			if len(q.Tools) > 0 && strings.Contains(q.Prompt, mark) && strings.Contains(q.Prompt, word) {
				n++
			}
		}
		return n
	}
	h.openAs("b", "codex")
	h.send("b", "unapproved-b [[say well]]")
	if told("unapproved-b", "plover") > 0 || told("unapproved-b", "well") == 0 {
		t.Error("what nobody approved was told")
	}
	if err := h.c.WithPIN(pin).Call(t.Context(), "memory.promote", wire.MoveIn{ID: lesson.ID}, nil); err != nil {
		t.Fatal(err)
	}
	for _, agent := range []string{"claude", "codex", "opencode"} {
		h.openAs("next-"+agent, agent)
		for _, turn := range []string{"first-", "second-"} {
			if out := h.send("next-"+agent, turn+agent+" [[say well]]"); out.Status != "done" || out.Report != "well" {
				t.Fatalf("%s %s: %+v\n%s", turn, agent, out, h.shown("next-"+agent))
			}
		}
		if told("first-"+agent, "plainplover") == 0 || told("first-"+agent, "from turn ses_") == 0 || told("first-"+agent, "approved, by") == 0 {
			t.Errorf("%s was not told the lesson with its source", agent)
		}
		if told("second-"+agent, "plainplover") > 0 {
			t.Errorf("%s was told the lesson again", agent)
		}
		if told(agent, "greyplover") > 0 {
			t.Errorf("%s was told what nobody approved", agent)
		}
	}
	var rec wire.Record
	h.call("memory.show", wire.IDIn{ID: lesson.ID}, &rec)
	want(t, "uses", rec.Uses, 3)
}
