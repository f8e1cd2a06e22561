package peer

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tandem/internal/board"
	"tandem/internal/fault"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// PlanTask is one task of a plan.
type PlanTask struct {
	Title       string   `json:"title"`
	Description string   `json:"description,omitempty"`
	Assignee    string   `json:"assignee,omitempty" jsonschema:"a peer's username"`
	Priority    string   `json:"priority,omitempty"`
	Labels      []string `json:"labels,omitempty" jsonschema:"up to 20 words to find it by"`
	Parent      string   `json:"parent,omitempty" jsonschema:"the task that it is part of: an id on the board, or the ref of any task of this plan"`
	Ref         string   `json:"ref,omitempty" jsonschema:"a name for this task inside the plan, for depends_on"`
	DependsOn   []string `json:"depends_on,omitempty" jsonschema:"ids of tasks on the board, or of tasks earlier in this plan: ref, exact title, or number in the list (1 is the first)"`
}

// PlanIn is a plan.
type PlanIn struct {
	Tasks []PlanTask `json:"tasks" jsonschema:"1 to 100 tasks"`
	Which
}

// Planned are the tasks of a plan.
type Planned struct {
	Said
	Tasks []Line `json:"tasks"`
}

func (r *Room) opPlan(ctx context.Context, in PlanIn) (Planned, error) {
	if len(in.Tasks) == 0 || len(in.Tasks) > board.MaxPlan {
		return Planned{}, fault.New(fault.Invalid, "board.plan", "a plan has 1 to %d tasks", board.MaxPlan)
	}
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Planned{}, err
	}
	defer s.mu.Unlock()
	for _, t := range in.Tasks { // before ids are chosen, since the board may move meanwhile
		if t.Assignee == "" {
			continue
		}
		if _, err := r.peer(ctx, s, t.Assignee); err != nil {
			return Planned{}, err
		}
	}
	var c board.Clear
	var words PlanWords
	ids := s.planIDs(len(in.Tasks))
	for i, t := range in.Tasks {
		if err := checkWords(t.Title, t.Description); err != nil {
			return Planned{}, err
		}
		one := board.Clear{Task: ids[i]}
		if one.Prio, err = board.ParsePriority(t.Priority); err != nil {
			return Planned{}, err
		}
		if t.Assignee != "" {
			who, err := s.peer(t.Assignee)
			if err != nil {
				return Planned{}, err
			}
			one.To = string(who)
		}
		for _, d := range t.DependsOn {
			need, err := resolve(in.Tasks[:i], ids, strings.TrimSpace(d), in.Tasks[i:])
			if err != nil {
				return Planned{}, err
			}
			one.Needs = append(one.Needs, need)
		}
		c.Tasks = append(c.Tasks, one)
		w := TaskWords{Title: t.Title, Description: t.Description}
		if w.Labels, err = checkLabels(t.Labels); err != nil {
			return Planned{}, err
		}
		if w.Parent, err = s.planned(in.Tasks, ids, i); err != nil {
			return Planned{}, err
		}
		words.Tasks = append(words.Tasks, w)
	}
	if _, err := r.send(ctx, s, thing{class: board.ClassPlan, clear: c, content: words}); err != nil {
		return Planned{}, s.named(err)
	}
	out := Planned{Said: Said{State: "stored", Text: fmt.Sprintf("Plan created with %d tasks:", len(ids))}}
	parts := s.parts()
	for _, id := range ids {
		l := s.lineWith(s.board[id], parts)
		out.Tasks = append(out.Tasks, l)
		out.IDs = append(out.IDs, string(id))
		out.Text += "\n" + l.String()
	}
	out.Text += r.tellAssignees(ctx, s, out.Tasks...)
	out.Said, err = r.withMail(ctx, s, out.Said)
	return out, err
}

// tellAssignees sends a message to each peer that was given tasks; it says what
// went wrong when one could not be told. The tasks are on the board either way.
func (r *Room) tellAssignees(ctx context.Context, s *seat, tasks ...Line) (failed string) {
	given := map[seal.MemberID][]string{}
	for _, t := range tasks {
		if to := seal.MemberID(t.Holder); to != "" && to != s.me.Card().ID {
			given[to] = append(given[to], fmt.Sprintf("[%s] %s", t.ID, t.Title))
		}
	}
	for _, to := range s.members() {
		if len(given[to]) == 0 {
			continue
		}
		if _, _, err := r.sendOrQueue(ctx, s, thing{class: space.ClassMessage, to: to,
			content: Words{Type: "task", Text: "Given to you: " + strings.Join(given[to], "; ")}}); err != nil {
			failed += fmt.Sprintf("\n%s was not told: %s", escape(s.name(to)), fault.Public(s.named(err)).Msg)
		}
	}
	return failed
}

// planned is what a task of a plan is part of.
func (s *seat) planned(tasks []PlanTask, ids []board.TaskID, i int) (board.TaskID, error) {
	named := strings.TrimSpace(tasks[i].Parent)
	for at, seen := i, 0; named != "" && seen <= len(tasks); seen++ {
		next := slices.IndexFunc(tasks, func(t PlanTask) bool { return t.Ref != "" && t.Ref == strings.TrimSpace(tasks[at].Parent) })
		if next < 0 {
			break
		}
		if at = next; at == i {
			return "", fault.New(fault.Invalid, "board.plan", "%q is part of itself", clip(tasks[i].Title)).
				WithNext("leave out one of these parents")
		}
	}
	if at := slices.IndexFunc(tasks, func(t PlanTask) bool { return t.Ref != "" && t.Ref == named }); at >= 0 {
		return ids[at], nil
	}
	return s.asParent("", named)
}

func (s *seat) planIDs(n int) []board.TaskID {
	var ids []board.TaskID
	for range n {
		ids = append(ids, s.freeID(ids...))
	}
	return ids
}

// resolve finds what a plan's task depends on: an earlier task of the plan, or
// one on the board.
func resolve(earlier []PlanTask, ids []board.TaskID, d string, rest []PlanTask) (board.TaskID, error) {
	for i, t := range earlier {
		if d == t.Title || d != "" && d == t.Ref {
			return ids[i], nil
		}
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(d, "#")); err == nil && n >= 1 && n <= len(earlier) {
		return ids[n-1], nil
	}
	for _, t := range rest {
		if d == t.Title || d != "" && d == t.Ref {
			return "", fault.New(fault.Invalid, "board.plan", "%q comes later in the plan: a task depends on earlier ones", clip(d)).
				WithNext("change the order of the plan")
		}
	}
	if err := board.CheckID(board.TaskID(d)); err != nil {
		return "", fault.New(fault.Invalid, "board.plan", "%q is neither a task of this plan nor a task id", clip(d)).
			WithNext("use a ref, a title or a number of an earlier task, or an id from intandem_board")
	}
	return board.TaskID(d), nil
}
