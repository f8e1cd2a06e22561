package peer

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tandem/internal/board"
	"tandem/internal/fault"
	"tandem/internal/space"
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
	HolderName  string `json:"assignee,omitempty"`
	CreatorName string `json:"created_by,omitempty"`
}

// BoardOut is the board.
type BoardOut struct {
	Said
	Tasks []Line `json:"tasks"`
}

func (s *seat) line(t board.Task) Line {
	l := Line{Task: t, TaskWords: s.words[t.ID], CreatorName: s.name(seal.MemberID(t.Creator))}
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
	for _, f := range [][2]string{{"", l.Description}, {"Blocked: ", l.Reason}, {"Result: ", l.Result}} {
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

func (r *Room) opBoard(ctx context.Context, _ Nothing) (BoardOut, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return BoardOut{}, err
	}
	defer s.mu.Unlock()
	stale := r.fresh(ctx, s)
	out := BoardOut{Tasks: []Line{}}
	out.Text = "Task board is empty."
	if len(s.board) > 0 {
		out.Text = "Shared Task Board:"
	}
	for _, t := range s.board.Sorted() {
		l := s.line(t)
		out.Tasks = append(out.Tasks, l)
		out.Text += "\n" + l.String()
	}
	if stale != "" {
		out.Text += "\nNot up to date: " + stale
	}
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
}

func checkWords(title, description string) error {
	switch {
	case strings.TrimSpace(title) == "":
		return fault.New(fault.Invalid, "board.add", "a task needs a title")
	case len([]rune(title)) > MaxTitle:
		return fault.New(fault.Invalid, "board.add", "a title has at most %d characters, this one %d", MaxTitle, len([]rune(title))).WithNext("put the details into the description")
	case len([]rune(description)) > MaxDescription:
		return fault.New(fault.Invalid, "board.add", "a description has at most %d characters, this one %d", MaxDescription, len([]rune(description)))
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
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Tasked{}, err
	}
	defer s.mu.Unlock()
	c := board.Clear{Prio: prio}
	for _, d := range in.DependsOn {
		c.Needs = append(c.Needs, board.TaskID(strings.TrimSpace(d)))
	}
	if in.Assignee != "" {
		who, err := s.peer(in.Assignee)
		if err != nil {
			return Tasked{}, err
		}
		c.To = string(who)
	}
	for range 5 {
		c.Task = s.freeID()
		_, err = r.send(ctx, s, thing{class: "task.add", clear: c, content: TaskWords{Title: in.Title, Description: in.Description}})
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
	out.Said, err = r.withMail(ctx, s, out.Said)
	return out, err
}

// PlanTask is one task of a plan.
type PlanTask struct {
	Title       string   `json:"title"`
	Description string   `json:"description,omitempty"`
	Assignee    string   `json:"assignee,omitempty" jsonschema:"a peer's username"`
	Priority    string   `json:"priority,omitempty"`
	Ref         string   `json:"ref,omitempty" jsonschema:"a name for this task inside the plan, for depends_on"`
	DependsOn   []string `json:"depends_on,omitempty" jsonschema:"ids of tasks on the board, or of tasks earlier in this plan: ref, exact title, or number in the list (1 is the first)"`
}

// PlanIn is a plan.
type PlanIn struct {
	Tasks []PlanTask `json:"tasks" jsonschema:"1 to 100 tasks"`
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
		words.Tasks = append(words.Tasks, TaskWords{Title: t.Title, Description: t.Description})
	}
	if _, err := r.send(ctx, s, thing{class: board.ClassPlan, clear: c, content: words}); err != nil {
		return Planned{}, s.named(err)
	}
	out := Planned{Said: Said{State: "stored", Text: fmt.Sprintf("Plan created with %d tasks:", len(ids))}}
	for _, id := range ids {
		l := s.line(s.board[id])
		out.Tasks = append(out.Tasks, l)
		out.IDs = append(out.IDs, string(id))
		out.Text += "\n" + l.String()
	}
	out.Said, err = r.withMail(ctx, s, out.Said)
	return out, err
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
			return "", fault.New(fault.Invalid, "board.plan", "%q comes later in the plan: a task depends on earlier ones", clip(d)).WithNext("change the order of the plan")
		}
	}
	if err := board.CheckID(board.TaskID(d)); err != nil {
		return "", fault.New(fault.Invalid, "board.plan", "%q is neither a task of this plan nor a task id", clip(d)).WithNext("use a ref, a title or a number of an earlier task, or an id from intandem_board")
	}
	return board.TaskID(d), nil
}

// TaskIn names a task.
type TaskIn struct {
	TaskID string `json:"task_id" jsonschema:"the task's id, e.g. T-a1b2c3"`
	IfVer  int64  `json:"if_version,omitempty" jsonschema:"only when the task is at this version"`
}

// act does one thing to one task and answers with the task as it is then.
func (r *Room) act(ctx context.Context, kind board.Kind, c board.Clear, w TaskWords, text func(Line) string) (Tasked, error) {
	if err := board.CheckID(c.Task); err != nil {
		return Tasked{}, err
	}
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Tasked{}, err
	}
	defer s.mu.Unlock()
	return r.actOn(ctx, s, kind, c, w, text)
}

func (r *Room) actOn(ctx context.Context, s *seat, kind board.Kind, c board.Clear, w TaskWords, text func(Line) string) (Tasked, error) {
	before := map[board.TaskID]board.Status{}
	for id, t := range s.board {
		before[id] = t.Status
	}
	a, err := r.send(ctx, s, thing{class: "task." + string(kind), clear: c, content: w})
	if err != nil {
		return Tasked{}, s.named(err)
	}
	l := s.line(s.board[c.Task])
	out := Tasked{Said{ID: a.ID, State: "stored", Text: text(l)}, l}
	for _, t := range s.board.Sorted() {
		if before[t.ID] == board.Blocked && t.Status != board.Blocked && t.ID != c.Task {
			out.Text += "\nUnblocked: " + s.line(t).String()
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
}

var kindOfStatus = map[board.Status]board.Kind{board.Open: board.KindUnclaim, board.Claimed: board.KindClaim, board.InProgress: board.KindStart, board.Blocked: board.KindBlock, board.Done: board.KindFinish}

func (r *Room) opUpdate(ctx context.Context, in UpdateIn) (Tasked, error) {
	kind, ok := kindOfStatus[board.Status(in.Status)]
	if !ok {
		return Tasked{}, fault.New(fault.Invalid, "board.update", "%q is not a status", clip(in.Status)).WithNext("use open, claimed, in_progress, blocked or done")
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
	return r.act(ctx, kind, board.Clear{Task: board.TaskID(in.TaskID), IfVer: in.IfVer}, TaskWords{Result: in.Result, Reason: in.Reason}, func(l Line) string {
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
	to, err := s.peer(in.To)
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
}

func (r *Room) opDepend(ctx context.Context, in DependIn) (Tasked, error) {
	c := board.Clear{Task: board.TaskID(in.TaskID)}
	for _, d := range in.DependsOn {
		c.Needs = append(c.Needs, board.TaskID(d))
	}
	return r.act(ctx, board.KindDepend, c, TaskWords{}, func(l Line) string { return l.String() })
}

// FindingIn reports a finding.
type FindingIn struct {
	Service        string    `json:"service" jsonschema:"what it is about"`
	Severity       string    `json:"severity" jsonschema:"critical, high, medium, low or info"`
	Summary        string    `json:"summary"`
	Category       string    `json:"category,omitempty"`
	Count          int       `json:"count,omitempty" jsonschema:"how often it occurs"`
	Patterns       []Pattern `json:"patterns,omitempty"`
	Recommendation string    `json:"recommendation,omitempty"`
	TaskID         string    `json:"task_id,omitempty" jsonschema:"the task it belongs to"`
}

func (r *Room) opFinding(ctx context.Context, in FindingIn) (Said, error) {
	if !slices.Contains(Severities, in.Severity) {
		return Said{}, fault.New(fault.Invalid, "board.finding", "severity %q is not known", clip(in.Severity)).WithNext("use one of: %s", strings.Join(Severities, ", "))
	}
	if strings.TrimSpace(in.Service) == "" || strings.TrimSpace(in.Summary) == "" || in.Count < 0 {
		return Said{}, fault.New(fault.Invalid, "board.finding", "a finding needs a service and a summary, and its count is not negative")
	}
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Said{}, err
	}
	defer s.mu.Unlock()
	f := Finding{ID: "F-" + string(newTaskID()[2:]), Service: in.Service, Severity: in.Severity, Summary: in.Summary, Category: in.Category, Count: in.Count, Patterns: in.Patterns, Recommendation: in.Recommendation}
	text := fmt.Sprintf("Reported [%s] finding for %s", strings.ToUpper(in.Severity), escape(in.Service))
	if in.Count > 0 {
		text += fmt.Sprintf(" | %d occurrences", in.Count)
	}
	if len(in.Patterns) > 0 {
		text += fmt.Sprintf(" | %d pattern(s)", len(in.Patterns))
	}
	if in.TaskID != "" {
		id := board.TaskID(in.TaskID)
		if _, ok := s.board[id]; !ok {
			return Said{}, fault.New(fault.NotFound, "board.finding", "there is no task %s in this space", clip(in.TaskID)).WithNext("call intandem_board for the ids")
		}
		f.Task = &id
		text += " | linked to " + in.TaskID
	}
	_, queued, err := r.sendOrQueue(ctx, s, thing{class: space.ClassFinding, content: f})
	if err != nil {
		return Said{}, s.named(err)
	}
	out := Said{ID: f.ID, State: "stored", Text: text}
	if queued {
		out.State, out.Text = "queued", text+"\nThe host cannot be reached; it goes out when it is back."
	}
	return r.withMail(ctx, s, out)
}

// FindingsIn filters findings.
type FindingsIn struct {
	Severity string `json:"severity,omitempty"`
	Service  string `json:"service,omitempty"`
}

// Findings are findings.
type Findings struct {
	Said
	Findings []Finding `json:"findings"`
}

func (r *Room) opFindings(ctx context.Context, in FindingsIn) (Findings, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Findings{}, err
	}
	defer s.mu.Unlock()
	stale := r.fresh(ctx, s)
	out := Findings{Findings: []Finding{}}
	counts := map[string]int{}
	for _, f := range s.findings {
		if in.Severity != "" && f.Severity != in.Severity || in.Service != "" && f.Service != in.Service {
			continue
		}
		f.By = s.name(seal.MemberID(f.By))
		out.Findings = append(out.Findings, f)
		counts[f.Severity]++
	}
	slices.SortStableFunc(out.Findings, func(a, b Finding) int {
		return slices.Index(Severities, a.Severity) - slices.Index(Severities, b.Severity)
	})
	out.Text = "No findings recorded."
	if len(out.Findings) > 0 {
		var by []string
		for _, sev := range Severities {
			if counts[sev] > 0 {
				by = append(by, fmt.Sprintf("%s: %d", sev, counts[sev]))
			}
		}
		out.Text = fmt.Sprintf("Findings (%d total - %s):", len(out.Findings), strings.Join(by, ", "))
	}
	for _, f := range out.Findings {
		out.Text += "\n" + f.line()
	}
	if stale != "" {
		out.Text += "\nNot up to date: " + stale
	}
	return out, nil
}

func (f Finding) line() string {
	s := fmt.Sprintf("[%s] %s %s: %s (%s)", f.ID, strings.ToUpper(f.Severity), escape(f.Service), escape(f.Summary), escape(f.By))
	if f.Count > 0 {
		s += fmt.Sprintf(" x%d", f.Count)
	}
	if f.Task != nil {
		s += " for " + string(*f.Task)
	}
	for _, p := range f.Patterns {
		s += fmt.Sprintf("\n  %s x%d %s", escape(p.Pattern), p.Count, escape(p.Source))
	}
	if f.Recommendation != "" {
		s += "\n  Recommendation: " + escape(f.Recommendation)
	}
	return s
}
