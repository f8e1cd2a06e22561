package peer

import (
	"context"
	"fmt"

	"tandem/internal/board"
	"tandem/internal/fault"
)

// ArchiveIn puts a task away that is over.
type ArchiveIn struct {
	TaskID string `json:"task_id" jsonschema:"the task's id, e.g. T-a1b2c3"`
	Back   bool   `json:"back,omitempty" jsonschema:"bring it back instead"`
	Which
}

func (r *Room) opArchive(ctx context.Context, in ArchiveIn) (Tasked, error) {
	c := board.Clear{Task: board.TaskID(in.TaskID)}
	if err := board.CheckID(c.Task); err != nil {
		return Tasked{}, err
	}
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Tasked{}, err
	}
	defer s.mu.Unlock()
	t, there := s.board[c.Task]
	switch {
	case there && !in.Back && !t.Status.Ended():
		return Tasked{}, fault.New(fault.Conflict, "board.archive", "%s is %s: what is not over is not put away", t.ID, t.Status).
			WithNext("finish or cancel it first: intandem_update_task task_id=%s status=done", t.ID)
	case there && in.Back != s.words[t.ID].Archived:
		where := map[bool]string{true: "in the archive already", false: "not in the archive"}
		return Tasked{}, fault.New(fault.Conflict, "board.archive", "%s is %s", t.ID, where[!in.Back])
	}
	w, text := CommentWords{Away: AwayPut}, "Put %s away"
	if in.Back {
		w.Away, text = AwayBack, "Brought %s back"
	}
	return r.actOn(ctx, s, board.KindComment, c, w, func(l Line) string { return fmt.Sprintf(text+"\n%s", l.ID, l) })
}
