package peer

import (
	"context"
	"fmt"
	"strings"

	"tandem/internal/board"
	"tandem/internal/fault"
	"tandem/internal/space"
)

// TaskIn names a task.
type TaskIn struct {
	TaskID string `json:"task_id" jsonschema:"the task's id, e.g. T-a1b2c3"`
	IfVer  int64  `json:"if_version,omitempty" jsonschema:"only when the task is at this version"`
	Which
}

// act does one thing to one task and answers with the task as it is then.
func (r *Room) act(ctx context.Context, kind board.Kind, c board.Clear, words any, text func(Line) string) (Tasked, error) {
	if err := board.CheckID(c.Task); err != nil {
		return Tasked{}, err
	}
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Tasked{}, err
	}
	defer s.mu.Unlock()
	return r.actOn(ctx, s, kind, c, words, text)
}

func (r *Room) actOn(ctx context.Context, s *seat, kind board.Kind, c board.Clear, words any, text func(Line) string) (Tasked, error) {
	before := map[board.TaskID]board.Status{}
	if kind == board.KindFinish { // what waited for it may open
		for id, t := range s.board {
			before[id] = t.Status
		}
	}
	a, err := r.send(ctx, s, thing{class: "task." + string(kind), clear: c, content: words})
	if err != nil {
		return Tasked{}, s.named(err)
	}
	l := s.line(s.board[c.Task])
	out := Tasked{Said{ID: a.ID, State: "stored", Text: text(l)}, l}
	if kind == board.KindFinish {
		for _, t := range s.board.Sorted() {
			if before[t.ID] == board.Blocked && t.Status != board.Blocked && t.ID != c.Task {
				out.Text += "\nUnblocked: " + s.line(t).String()
			}
		}
	}
	out.Said, err = r.withMail(ctx, s, out.Said)
	return out, err
}

func (r *Room) opClaim(ctx context.Context, in TaskIn) (Tasked, error) {
	return r.act(ctx, board.KindClaim, board.Clear{Task: board.TaskID(in.TaskID), IfVer: in.IfVer}, TaskWords{},
		func(l Line) string { return fmt.Sprintf("Claimed task %s\n%s", l.ID, l) })
}

func (r *Room) opUnclaim(ctx context.Context, in TaskIn) (Tasked, error) {
	return r.act(ctx, board.KindUnclaim, board.Clear{Task: board.TaskID(in.TaskID), IfVer: in.IfVer}, TaskWords{},
		func(l Line) string { return fmt.Sprintf("Released task %s back to open.", l.ID) })
}

func (r *Room) opTakeBack(ctx context.Context, in TaskIn) (Tasked, error) {
	return r.act(ctx, board.KindTakeBack, board.Clear{Task: board.TaskID(in.TaskID), IfVer: in.IfVer}, TaskWords{},
		func(l Line) string { return fmt.Sprintf("Took %s back; it is open again.", l.ID) })
}

// UpdateIn changes a task's status.
type UpdateIn struct {
	TaskID string `json:"task_id" jsonschema:"the task's id, e.g. T-a1b2c3"`
	Status string `json:"status" jsonschema:"open, claimed, in_progress, blocked or done"`
	Result string `json:"result,omitempty" jsonschema:"what came out of it"`
	Reason string `json:"reason,omitempty" jsonschema:"why it is blocked"`
	IfVer  int64  `json:"if_version,omitempty" jsonschema:"only when the task is at this version"`
	Which
}

var kindOfStatus = map[board.Status]board.Kind{board.Open: board.KindUnclaim, board.Claimed: board.KindClaim,
	board.InProgress: board.KindStart, board.Blocked: board.KindBlock, board.Done: board.KindFinish}

func (r *Room) opUpdate(ctx context.Context, in UpdateIn) (Tasked, error) {
	kind, ok := kindOfStatus[board.Status(in.Status)]
	if !ok {
		return Tasked{}, fault.New(fault.Invalid, "board.update", "%q is not a status", clip(in.Status)).
			WithNext("use open, claimed, in_progress, blocked or done")
	}
	if len(in.Result) > MaxResult || len(in.Reason) > MaxDescription {
		return Tasked{}, fault.New(fault.Invalid, "board.update", "a result has at most %d bytes and a reason %d", MaxResult, MaxDescription)
	}
	if kind == board.KindBlock && strings.TrimSpace(in.Reason) == "" {
		if in.Reason = in.Result; strings.TrimSpace(in.Reason) == "" {
			return Tasked{}, fault.New(fault.Invalid, "board.update", "say why it is blocked").WithNext("add reason=…")
		}
		in.Result = ""
	}
	return r.act(ctx, kind, board.Clear{Task: board.TaskID(in.TaskID), IfVer: in.IfVer}, TaskWords{Result: in.Result, Reason: in.Reason},
		func(l Line) string {
			text := fmt.Sprintf("Updated task %s -> %s", l.ID, l.Status)
			if in.Result != "" {
				text += " (result attached)"
			}
			return text
		})
}

// HandoffIn hands a task over.
type HandoffIn struct {
	TaskID string `json:"task_id" jsonschema:"the task's id, e.g. T-a1b2c3"`
	To     string `json:"to" jsonschema:"a peer's username"`
	Note   string `json:"note,omitempty" jsonschema:"what the peer should know"`
	Which
}

func (r *Room) opHandoff(ctx context.Context, in HandoffIn) (Tasked, error) {
	if err := board.CheckID(board.TaskID(in.TaskID)); err != nil {
		return Tasked{}, err
	}
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Tasked{}, err
	}
	defer s.mu.Unlock()
	to, err := r.peer(ctx, s, in.To)
	if err != nil {
		return Tasked{}, err
	}
	out, err := r.actOn(ctx, s, board.KindHandoff, board.Clear{Task: board.TaskID(in.TaskID), To: string(to)}, TaskWords{},
		func(l Line) string { return fmt.Sprintf("Handed %s to %s.", l.ID, escape(l.HolderName)) })
	if err != nil {
		return out, err
	}
	note := orElse(in.Note, "It is yours now.")
	_, _, err = r.sendOrQueue(ctx, s, thing{class: space.ClassMessage, to: to, content: Words{Type: "handoff", Text: in.TaskID + ": " + note}})
	return out, err
}

// DependIn changes dependencies.
type DependIn struct {
	TaskID    string   `json:"task_id" jsonschema:"the task's id, e.g. T-a1b2c3"`
	DependsOn []string `json:"depends_on" jsonschema:"ids of the tasks it depends on from now on; none frees it"`
	Which
}

func (r *Room) opDepend(ctx context.Context, in DependIn) (Tasked, error) {
	c := board.Clear{Task: board.TaskID(in.TaskID)}
	for _, d := range in.DependsOn {
		c.Needs = append(c.Needs, board.TaskID(d))
	}
	return r.act(ctx, board.KindDepend, c, TaskWords{}, func(l Line) string { return l.String() })
}
