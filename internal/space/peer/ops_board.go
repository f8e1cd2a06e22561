package peer

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"tandem/internal/board"
	"tandem/internal/fault"
	"tandem/internal/space/seal"
)

// Limits of a task's words.
const (
	MaxTitle       = 500
	MaxDescription = 2000
	MaxResult      = 32 << 10
)

// Line is a task with its words, for members.
type Line struct {
	board.Task
	TaskWords
	HolderName string `json:"assignee,omitempty"`
	// Job is the newest job that was started from the task on this server, as far as the caller may see it.
	Job         string `json:"job,omitempty"`
	JobState    string `json:"job_state,omitempty"`
	CreatorName string `json:"created_by,omitempty"`

	// Parts are the tasks that are part of it, and PartsDone how many of them are done or cancelled.
	Parts     []board.TaskID `json:"parts,omitempty"`
	PartsDone int            `json:"parts_done,omitempty"`
}

// BoardOut is the board.
type BoardOut struct {
	Said
	Tasks []Line `json:"tasks"`
	// SpaceID names the space for good, whatever it is called.
	SpaceID string `json:"space_id,omitempty"`
	Ended   int    `json:"ended,omitempty" jsonschema:"how many done and cancelled ones are left out"`
	// Labels are those of all tasks that have not ended, whichever are shown.
	Labels []string `json:"labels,omitempty"`
}

func (s *seat) line(t board.Task) Line { return s.lineWith(t, s.parts()) }

// lineWith is a task among many, whose parts are found once for all.
func (s *seat) lineWith(t board.Task, parts map[board.TaskID][]board.TaskID) Line {
	l := Line{Task: t, TaskWords: s.words[t.ID], CreatorName: s.name(seal.MemberID(t.Creator)), Parts: parts[t.ID]}
	for _, id := range l.Parts {
		if s.board[id].Status.Ended() {
			l.PartsDone++
		}
	}
	l.Archived = l.Archived && t.Status.Ended() // whatever a member says: what is to be done is not put out of sight
	l.Comments = slices.Clone(l.Comments)
	for i := range l.Comments {
		l.Comments[i].By = s.name(seal.MemberID(l.Comments[i].By))
	}
	if t.Holder != "" {
		l.HolderName = s.name(seal.MemberID(t.Holder))
	}
	return l
}

// String is a task as the board shows it: [T-a1b2c3] CLAIMED [CRITICAL] - title (who).
func (l Line) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s] %s", l.ID, strings.ToUpper(string(l.Status)))
	if l.Prio != board.Medium {
		fmt.Fprintf(&b, " [%s]", strings.ToUpper(string(l.Prio)))
	}
	fmt.Fprintf(&b, " - %s", escape(orElse(l.Title, "(words not shared with you)")))
	if l.HolderName != "" {
		fmt.Fprintf(&b, " (%s)", escape(l.HolderName))
	}
	if len(l.Needs) > 0 {
		fmt.Fprintf(&b, " (depends on: %s)", join(l.Needs))
	}
	if l.Archived {
		b.WriteString("\n  Archived")
	}
	if l.Parent != "" {
		fmt.Fprintf(&b, "\n  Part of: %s", escape(string(l.Parent)))
	}
	if len(l.Parts) > 0 {
		fmt.Fprintf(&b, "\n  Parts: %d of %d done: %s", l.PartsDone, len(l.Parts), join(l.Parts))
	}
	if len(l.Labels) > 0 {
		fmt.Fprintf(&b, "\n  Labels: %s", escape(strings.Join(l.Labels, ", ")))
	}
	if l.Job != "" {
		fmt.Fprintf(&b, "\n  Job: %s is %s", l.Job, l.JobState)
	}
	why := "Blocked: "
	if l.Status == board.Cancelled {
		why = "Cancelled: "
	}
	for _, f := range [][2]string{{"", l.Description}, {why, l.Reason}, {"Result: ", l.Result}} {
		if f[1] != "" {
			fmt.Fprintf(&b, "\n  %s%s", f[0], strings.ReplaceAll(escape(f[1]), "\n", "\n  "))
		}
	}
	return b.String()
}

func join(ids []board.TaskID) string {
	var out []string
	for _, id := range ids {
		out = append(out, string(id))
	}
	return strings.Join(out, ", ")
}

func (r *Room) opBoard(ctx context.Context, in BoardIn) (BoardOut, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return BoardOut{}, err
	}
	defer s.mu.Unlock()
	if s.state == removed {
		return BoardOut{}, s.usable()
	}
	if err := in.check(); err != nil {
		return BoardOut{}, err
	}
	stale := r.fresh(ctx, s)
	out := BoardOut{Tasks: []Line{}, SpaceID: s.space}
	jobs := map[string]TaskJob{}
	if r.jobs.Cards != nil {
		jobs = r.jobs.Cards(ctx, s.space)
	}
	var b strings.Builder
	if len(s.board) > 0 {
		b.WriteString("Shared Task Board:")
	} else {
		b.WriteString("Task board is empty.")
	}
	ended, parts := 0, s.parts()
	for _, t := range s.board.Sorted() {
		l := s.lineWith(t, parts)
		l.Job, l.JobState = jobs[string(t.ID)].ID, jobs[string(t.ID)].State
		if !t.Status.Ended() {
			out.Labels = append(out.Labels, l.Labels...)
		}
		if l.Archived != in.Archived && in.TaskID == "" {
			continue
		}
		if in.leavesOut(t) {
			ended++
			continue
		}
		if !in.wants(l, string(s.me.Card().ID)) || in.Under != "" && !s.within(t.ID, board.TaskID(in.Under)) {
			continue
		}
		out.Tasks = append(out.Tasks, l)
		b.WriteString("\n" + l.String() + l.remarks(in.TaskID != ""))
	}
	slices.Sort(out.Labels)
	out.Labels = slices.Compact(out.Labels)
	if in.TaskID != "" && len(out.Tasks) == 0 {
		return BoardOut{}, fault.New(fault.NotFound, "board", "there is no task %s in this space", clip(in.TaskID)).
			WithNext("call intandem_board for the ids of this space")
	}
	switch {
	case len(s.board) == 0 || len(out.Tasks) > 0:
	case in.filters():
		b.WriteString("\nNo task is like that.")
	default:
		b.WriteString("\nNothing is open: intandem_add_task adds a task")
	}
	if ended > 0 {
		fmt.Fprintf(&b, "\n%d done or cancelled, not shown: all=true", ended)
	}
	if stale != "" {
		b.WriteString("\nNot up to date: " + stale)
	}
	out.Text, out.Ended = b.String(), ended
	out.Said, err = r.withMail(ctx, s, out.Said)
	return out, err
}

// AddIn adds a task.
type AddIn struct {
	Title       string   `json:"title" jsonschema:"at most 500 characters"`
	Description string   `json:"description,omitempty" jsonschema:"at most 2000 characters"`
	Priority    string   `json:"priority,omitempty" jsonschema:"critical, high, medium or low; medium when left out"`
	DependsOn   []string `json:"depends_on,omitempty" jsonschema:"ids of tasks that must be done first"`
	Assignee    string   `json:"assignee,omitempty" jsonschema:"a peer's username"`
	Labels      []string `json:"labels,omitempty" jsonschema:"up to 20 words to find it by"`
	Parent      string   `json:"parent,omitempty" jsonschema:"id of the task that it is part of"`
	Which
}

func checkWords(title, description string) error {
	if strings.TrimSpace(title) == "" {
		return fault.New(fault.Invalid, "board.add", "a task needs a title")
	}
	return checkLengths(title, description)
}

func checkLengths(title, description string) error {
	switch {
	case len([]rune(title)) > MaxTitle:
		return fault.New(fault.Invalid, "board.add", "a title has at most %d characters, this one %d", MaxTitle, len([]rune(title))).
			WithNext("put the details into the description")
	case len([]rune(description)) > MaxDescription:
		return fault.New(fault.Invalid, "board.add", "a description has at most %d characters, this one %d", MaxDescription,
			len([]rune(description)))
	}
	return nil
}

func newTaskID() board.TaskID {
	var b [3]byte
	rand.Read(b[:])
	return board.TaskID("T-" + hex.EncodeToString(b[:]))
}

// freeID is a task id that this space does not use.
func (s *seat) freeID(taken ...board.TaskID) board.TaskID {
	for {
		id := newTaskID()
		if _, ok := s.board[id]; !ok && !slices.Contains(taken, id) {
			return id
		}
	}
}

// Tasked is an answer about one task.
type Tasked struct {
	Said
	Task Line `json:"task"`
}

func (r *Room) opAdd(ctx context.Context, in AddIn) (Tasked, error) {
	if err := checkWords(in.Title, in.Description); err != nil {
		return Tasked{}, err
	}
	prio, err := board.ParsePriority(in.Priority)
	if err != nil {
		return Tasked{}, err
	}
	labels, err := checkLabels(in.Labels)
	if err != nil {
		return Tasked{}, err
	}
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Tasked{}, err
	}
	defer s.mu.Unlock()
	parent, err := s.asParent("", in.Parent)
	if err != nil {
		return Tasked{}, err
	}
	c := board.Clear{Prio: prio}
	for _, d := range in.DependsOn {
		c.Needs = append(c.Needs, board.TaskID(strings.TrimSpace(d)))
	}
	if in.Assignee != "" {
		who, err := r.peer(ctx, s, in.Assignee)
		if err != nil {
			return Tasked{}, err
		}
		c.To = string(who)
	}
	for range 5 {
		c.Task = s.freeID()
		_, err = r.send(ctx, s, thing{class: "task.add", clear: c, content: TaskWords{Title: in.Title, Description: in.Description,
			Labels: labels, Parent: parent}})
		var taken bool
		if f := fault.Public(err); err != nil && f.Data["taken"] != "" {
			taken = true
		}
		if !taken {
			break
		}
	}
	if err != nil {
		return Tasked{}, s.named(err)
	}
	l := s.line(s.board[c.Task])
	out := Tasked{Said{ID: string(c.Task), State: "stored", Text: fmt.Sprintf("Task created: [%s] %s", l.ID, escape(in.Title))}, l}
	if l.Waiting() {
		out.Text += fmt.Sprintf(" (blocked by %s)", join(c.Needs))
	}
	out.Text += r.tellAssignees(ctx, s, l)
	out.Said, err = r.withMail(ctx, s, out.Said)
	return out, err
}
