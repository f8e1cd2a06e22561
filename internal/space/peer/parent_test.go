package peer

import (
	"slices"
	"testing"

	"tandem/internal/board"
)

// What members say of tasks and their parts is borne as it is: circles end, what is not there is left out, and a task that is to be done
// is in sight whatever somebody says.
func TestPartsAreBorneAsTheyAre(t *testing.T) {
	s := newSeat("", "", "", "")
	for id, parent := range map[board.TaskID]board.TaskID{"T-00000a": "T-00000b", "T-00000b": "T-00000a", "T-00000c": "T-00000a",
		"T-00000d": "T-00000d", "T-00000e": "T-eeeeee"} {
		s.board[id] = board.Task{ID: id, Status: board.Open}
		s.words[id] = TaskWords{Title: "x", Parent: parent, Archived: true}
	}
	s.words["T-ffffff"] = TaskWords{Parent: "T-00000a"} // of a task that nobody made
	done := s.board["T-00000c"]
	done.Status = board.Done
	s.board["T-00000c"] = done
	l := s.line(s.board["T-00000a"])
	if !slices.Equal(l.Parts, []board.TaskID{"T-00000b", "T-00000c"}) || l.PartsDone != 1 || l.Archived {
		t.Errorf("%+v", l)
	}
	if !s.line(done).Archived {
		t.Error("what is over is not put away")
	}
	for id, want := range map[board.TaskID]bool{"T-00000a": true, "T-00000c": true, "T-00000d": false, "T-00000e": false} {
		if s.within(id, "T-00000a") != want {
			t.Errorf("%s is below T-00000a: %v", id, !want)
		}
	}
	for of, named := range map[board.TaskID]string{"T-00000a": "T-00000c", "T-00000d": "T-00000d", "T-00000c": "T-ffffff"} {
		if p, err := s.asParent(of, named); err == nil {
			t.Errorf("%s is part of %s", of, p)
		}
	}
	if p, err := s.asParent("T-00000e", "T-00000c"); err != nil || p != "T-00000c" {
		t.Errorf("%q: %v", p, err)
	}
}
