package peer

import (
	"context"
	"fmt"
	"strings"

	"tandem/internal/board"
	"tandem/internal/fault"
)

// EditIn changes what a task says. What is left out stays.
type EditIn struct {
	TaskID      string `json:"task_id" jsonschema:"the task's id, e.g. T-a1b2c3"`
	Title       string `json:"title,omitempty" jsonschema:"at most 500 characters"`
	Description string `json:"description,omitempty" jsonschema:"at most 2000 characters"`
	Priority    string `json:"priority,omitempty" jsonschema:"critical, high, medium or low"`
	IfVer       int64  `json:"if_version,omitempty" jsonschema:"only when the task is at this version"`

	Labels  []string `json:"labels,omitempty" jsonschema:"labels that it gets besides those it has"`
	Unlabel []string `json:"unlabel,omitempty" jsonschema:"labels that it is to have no longer"`
	Parent  string   `json:"parent,omitempty" jsonschema:"id of the task that it is part of; none when it is to be part of no other"`
	Which
}

func (r *Room) opEdit(ctx context.Context, in EditIn) (Tasked, error) {
	if in.Title == "" && in.Description == "" && in.Priority == "" && in.Parent == "" && len(in.Labels)+len(in.Unlabel) == 0 {
		return Tasked{}, fault.New(fault.Invalid, "board.edit", "say what is to be different").
			WithNext("give a title, a description, a priority, labels or a parent")
	}
	labels, err := checkLabels(in.Labels)
	if err != nil {
		return Tasked{}, err
	}
	if err := checkLengths(in.Title, in.Description); err != nil {
		return Tasked{}, err
	}
	c := board.Clear{Task: board.TaskID(in.TaskID), Prio: board.Priority(in.Priority), IfVer: in.IfVer}
	if err := board.CheckID(c.Task); err != nil {
		return Tasked{}, err
	}
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Tasked{}, err
	}
	defer s.mu.Unlock()
	w := EditWords{TaskWords: TaskWords{Title: in.Title, Description: in.Description, Labels: labels}, Unlabel: in.Unlabel,
		Apart: in.Parent == Apart}
	if w.Parent, err = s.asParent(c.Task, in.Parent); err != nil {
		return Tasked{}, err
	}
	return r.actOn(ctx, s, board.KindEdit, c, w, func(l Line) string { return fmt.Sprintf("Edited task %s\n%s", l.ID, l) })
}

func (r *Room) opReopen(ctx context.Context, in TaskIn) (Tasked, error) {
	return r.act(ctx, board.KindReopen, board.Clear{Task: board.TaskID(in.TaskID), IfVer: in.IfVer}, TaskWords{},
		func(l Line) string { return fmt.Sprintf("Reopened task %s\n%s", l.ID, l) })
}

// CancelIn ends a task that is not to be done.
type CancelIn struct {
	TaskID string `json:"task_id" jsonschema:"the task's id, e.g. T-a1b2c3"`
	Reason string `json:"reason,omitempty" jsonschema:"why it is not to be done"`
	IfVer  int64  `json:"if_version,omitempty" jsonschema:"only when the task is at this version"`
	Which
}

func (r *Room) opCancel(ctx context.Context, in CancelIn) (Tasked, error) {
	if err := checkLengths("", in.Reason); err != nil {
		return Tasked{}, err
	}
	return r.act(ctx, board.KindCancel, board.Clear{Task: board.TaskID(in.TaskID), IfVer: in.IfVer}, TaskWords{Reason: in.Reason},
		func(l Line) string {
			return fmt.Sprintf("Cancelled task %s; what depends on it waits until it is told otherwise: intandem_depend_task", l.ID)
		})
}

// CommentIn says something about a task.
type CommentIn struct {
	TaskID string `json:"task_id" jsonschema:"the task's id, e.g. T-a1b2c3"`
	Text   string `json:"text" jsonschema:"at most 2000 characters"`
	Which
}

func (r *Room) opComment(ctx context.Context, in CommentIn) (Tasked, error) {
	if strings.TrimSpace(in.Text) == "" || len([]rune(in.Text)) > MaxDescription {
		return Tasked{}, fault.New(fault.Invalid, "board.comment", "a comment has 1 to %d characters", MaxDescription)
	}
	return r.act(ctx, board.KindComment, board.Clear{Task: board.TaskID(in.TaskID)}, TaskWords{Comments: []Comment{{Text: in.Text}}},
		func(l Line) string { return l.String() + l.remarks(true) })
}
