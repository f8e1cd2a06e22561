package peer

import (
	"slices"

	"tandem/internal/board"
	"tandem/internal/fault"
)

// A task may be part of another one. That is among its words: the host knows nothing of it and referees nothing by it. So what a task is
// part of may be gone or go round in a circle, where members said so at once or have other programs; whoever reads it has to bear that.

// Apart is what is typed for a task that is part of no other.
const Apart = "none"

// parts are the tasks that say they are part of another one, in their order, by what they are part of.
func (s *seat) parts() map[board.TaskID][]board.TaskID {
	out := map[board.TaskID][]board.TaskID{}
	for id, w := range s.words {
		if _, there := s.board[id]; there && w.Parent != "" && w.Parent != id {
			out[w.Parent] = append(out[w.Parent], id)
		}
	}
	for _, of := range out {
		slices.Sort(of)
	}
	return out
}

// within says whether a task is below another one, however far.
func (s *seat) within(id, top board.TaskID) bool {
	seen := []board.TaskID{}
	for at := s.words[id].Parent; at != "" && !slices.Contains(seen, at); at = s.words[at].Parent {
		if at == top {
			return true
		}
		seen = append(seen, at)
	}
	return false
}

// asParent is a task that another one may be part of; "" for none.
func (s *seat) asParent(of board.TaskID, named string) (board.TaskID, error) {
	p := board.TaskID(named)
	if named == "" || named == Apart {
		return "", nil
	}
	if err := board.CheckID(p); err != nil {
		return "", err
	}
	if _, ok := s.board[p]; !ok {
		return "", fault.New(fault.NotFound, "board.parent", "there is no task %s to be part of", p).
			WithNext("call intandem_board for the ids of this space")
	}
	if of != "" && (p == of || s.within(p, of)) {
		return "", fault.New(fault.Conflict, "board.parent", "%s cannot be part of %s, which is part of it", of, p).
			WithNext("take that out of it first: parent=%s", Apart)
	}
	return p, nil
}
