package loop

import (
	"context"
	"strings"
	"testing"

	"tandem/internal/db"
	"tandem/internal/provider"
	"tandem/internal/session"
)

// cited lets the room take answers that cite kno_1, or say that it is not known.
func (h *house) cited() {
	h.room.Grounded = func(_ *db.Tx, _, _, answer string) (string, error) {
		if strings.Contains(answer, "[kno_1]") || answer == "Not known here." {
			return "", nil
		}
		return "it cites nothing", nil
	}
}

// program is a session of an agent program, which nobody drives here.
func (h *house) program(c session.Config) *session.Session {
	h.t.Helper()
	s := &session.Session{Driver: "claude", Model: "claude/x", Config: c}
	if err := h.db.Write(context.Background(), func(tx *db.Tx) error {
		return h.room.Add(context.Background(), tx, local, s, nil)
	}); err != nil {
		h.t.Fatal(err)
	}
	return s
}

// All that an agent program said in a turn was taken for its answer: with a remark before it, "Not known here." failed, and a citation in
// the remark let an answer pass that cites nothing. And whatever began with "/" was taken for a command, whose answer need not cite.
func TestAnAgentProgramsLastWordsAreItsAnswer(t *testing.T) {
	h := newHouse(t)
	h.cited()
	s := h.program(session.Config{Cite: true})
	used := provider.Usage{Input: 1, Output: 1}
	for _, c := range []struct {
		prompt string
		used   provider.Usage
		said   []string
		want   session.TurnState
	}{
		{"when?", used, []string{"Let me look that up.", "Not known here."}, session.Done},
		{"when?", used, []string{"Let me look that up.", "On Tuesdays [kno_1].", " "}, session.Done},
		{"when?", used, []string{"There is [kno_1].", "On Tuesdays."}, session.Failed},
		{"when?", used, nil, session.Failed},
		{"/etc/hosts: may I change it?", used, []string{"Surely."}, session.Failed},
		{"/etc/hosts: may I change it?", used, []string{"Yes [kno_1]."}, session.Done},
		{"/status", provider.Usage{}, []string{"Version 1"}, session.Done},
		{"/compact", used, nil, session.Done},
	} {
		turn, err := h.room.Typed(t.Context(), "local", s.ID, c.prompt, "ann")
		for i := 0; err == nil && i < len(c.said); i++ {
			turn, err = h.room.Said(t.Context(), turn, "msg_"+turn.ID+string(rune('a'+i)), c.said[i], "", provider.Usage{})
		}
		if err == nil {
			turn, err = h.room.Spend(t.Context(), turn, c.used, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		why, err := h.room.Uncited(t.Context(), turn)
		if err != nil || (why == "") != (c.want == session.Done) {
			t.Errorf("%s %q: %q, %v", c.prompt, c.said, why, err)
		}
		if turn, err = h.room.End(t.Context(), turn, session.Done, ""); err != nil || turn.State != c.want {
			t.Errorf("%s %q: %s %s, %v", c.prompt, c.said, turn.State, turn.Reason, err)
		}
	}
}

// A prompt to a model that began with "/" was answered unchecked.
func TestAModelHasNoCommands(t *testing.T) {
	h := newHouse(t)
	h.cited()
	s := h.do(local, "session.create", session.CreateIn{Directory: h.dir, Model: "fake/scripted-1",
		Config: session.Config{Cite: true}}).(*session.Session)
	h.until(h.prompt(s, "/etc/hosts: may I change it? [[say Surely.]]"), session.Failed)
	h.until(h.prompt(s, "/etc/hosts: may I change it? [[say Yes [kno_1].]]"), session.Done)
}

// An agent program was told that its answer must cite at the beginning of its conversation alone: a later prompt that says so failed.
func TestAPromptThatMustBeCitedSaysSo(t *testing.T) {
	h := newHouse(t)
	h.room.Briefed = func(*db.Tx, string, string, []string) error { return nil }
	s := h.program(session.Config{})
	for _, c := range []struct {
		text string
		cite bool
		told int
	}{{"first", false, 0}, {"second", true, 1}, {"/status", true, 0}, {"third", false, 0}} {
		queued := h.do(local, "session.prompt", session.PromptIn{ID: s.ID, Text: c.text, Options: session.Options{Cite: c.cite}}).(*session.Turn)
		turn, err := h.room.Turn(t.Context(), "local", queued.ID)
		if err == nil {
			turn, err = h.room.Start(t.Context(), turn)
		}
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(turn.Text(), "Answer only with what knowledge_ask"); n != c.told || !strings.HasSuffix(turn.Text(), c.text) {
			t.Errorf("%s: %q", c.text, turn.Text())
		}
		if _, err := h.room.End(t.Context(), turn, session.Cancelled, ""); err != nil {
			t.Fatal(err)
		}
	}
}
