package peer

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tandem/internal/board"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// older is a program from before labels and parts: a task's words as it knows them.
type older struct {
	Title       string    `json:"title,omitempty"`
	Description string    `json:"description,omitempty"`
	Result      string    `json:"result,omitempty"`
	Reason      string    `json:"reason,omitempty"`
	Comments    []Comment `json:"comments,omitempty"`
}

func (s *seat) hears(t *testing.T, seq int64, class, clear string, words any) {
	t.Helper()
	data, err := json.Marshal(words)
	if err != nil {
		t.Fatal(err)
	}
	e := &space.Entry{Seq: seq, At: seq, Class: class, Env: &seal.Envelope{From: "ann", Clear: []byte(clear)}}
	evs, err := board.Events(e)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.foldBoard(e, evs, data); err != nil {
		t.Fatal(err)
	}
}

// A member whose program knows no labels lets somebody in whose program does: that one has them, and what neither knows goes on to the
// next.
func TestAnOlderMemberHandsOnWhatItDoesNotKnow(t *testing.T) {
	old := newSeat("t", "seat_old", "ann", "spc")
	old.knows = fieldsOf(older{})
	const id = "T-00000a"
	old.hears(t, 1, "task.add", `{"task":"`+id+`","priority":"medium"}`,
		map[string]any{"title": "x", "labels": []string{"billing", "easy"}, "due": "may"})
	old.hears(t, 2, "task.edit", `{"task":"`+id+`"}`, map[string]any{"title": "y", "labels": []string{"money"}, "unlabel": []string{"easy"}})
	old.hears(t, 3, "task.edit", `{"task":"`+id+`"}`, map[string]any{"due": "june", "parent": "T-00000b"})

	lets := func(s *seat, knowing any) (in *seat) { // what it says of tasks goes through what its program knows
		t.Helper()
		snap := s.snapshot()
		for at, w := range snap.Tasks {
			data, err := json.Marshal(w)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(data, knowing); err != nil {
				t.Fatal(err)
			}
			if data, err = json.Marshal(knowing); err != nil {
				t.Fatal(err)
			}
			var after TaskWords
			if err := json.Unmarshal(data, &after); err != nil {
				t.Fatal(err)
			}
			snap.Tasks[at] = after
		}
		data, err := json.Marshal(snap)
		if err != nil {
			t.Fatal(err)
		}
		in = newSeat("t", "seat_new", "bea", "spc")
		if err := json.Unmarshal(data, &in.sec.Base); err != nil {
			t.Fatal(err)
		}
		in.base()
		return in
	}
	for who, s := range map[string]*seat{"let in by it": lets(old, &older{}), "let in by that one": lets(lets(old, &older{}), &TaskWords{})} {
		w := s.words[id]
		if w.Title != "y" || strings.Join(w.Labels, " ") != "billing money" || w.Parent != "T-00000b" {
			t.Errorf("%s: %+v", who, w)
		}
		if all := fmt.Sprint(s.newer[id]); strings.Count(all, "due") != 2 || strings.Contains(all, "labels") {
			t.Errorf("%s keeps %s", who, all)
		}
	}
}

// What nobody here knows is kept within bounds, and never what is known.
func TestWhatIsNotKnownIsBounded(t *testing.T) {
	s := newSeat("t", "seat", "ann", "spc")
	ev := board.Event{Kind: board.KindEdit, Task: "T-00000a"}
	for i := range int64(3 * keptNewer) {
		s.keepNewer(ev, []byte(`{"Title":"x","labels":["a"],"away":"put","apart":true}`), i)
		s.keepNewer(ev, []byte(`{"title":"x","due":"may"}`), i)
		s.keepNewer(ev, []byte(`no words`), i)
	}
	kept := s.newer[ev.Task]
	if len(kept) != keptNewer || kept[0].At != 2*keptNewer || len(kept[0].Words) != 1 {
		t.Errorf("%d are kept, the first %+v", len(kept), kept[0])
	}
}
