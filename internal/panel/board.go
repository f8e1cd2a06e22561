package panel

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"tandem/internal/board"
	"tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/space/peer"

	"github.com/a-h/templ"

	"tandem/internal/fault"
	"tandem/internal/panel/ui"
)

func boardNav() page {
	return page{id: "board", label: "Board", href: "/panel/board", icon: "board", key: "g b", needs: string(peer.BoardShow),
		routes: boardRoutes}
}

func boardRoutes(p *Panel) {
	p.get("/panel/board", func(v *visit) error { return v.board("") })
	p.get("/panel/board/{id}", func(v *visit) error { return v.task(v.r.PathValue("id"), "") })
	p.get("/panel/board/list/{form}", (*visit).saveBoard)
	p.get("/panel/board/picture", (*visit).boardPicture)
	again := func(v *visit, err error) error { return v.board(words(err)) }
	form(p, "/panel/board", peer.BoardAdd, "/panel/board", "task-added", addInput, again)
	form(p, "/panel/board/{id}/move", peer.BoardUpdate, "/panel/board", "task-moved", moveInput, again)
	onTask(p, "edit", peer.BoardEdit, "task-edited", func(v *visit) (peer.EditIn, error) {
		rev, err := taskRev(v)
		in := peer.EditIn{TaskID: v.r.PathValue("id"), Title: v.field("title"), Description: v.field("description"),
			Priority: v.field("priority"), IfVer: rev}
		if in.Parent = v.field("parent"); in.Parent == "" && v.field("part-of") != "" {
			in.Parent = peer.Apart
		}
		in.Labels, in.Unlabel = relabelled(labelField(v, "had"), labelField(v, "labels"))
		return in, err
	})
	onTask(p, "reopen", peer.BoardReopen, "task-moved", func(v *visit) (peer.TaskIn, error) {
		rev, err := taskRev(v)
		return peer.TaskIn{TaskID: v.r.PathValue("id"), IfVer: rev}, err
	})
	onTask(p, "cancel", peer.BoardCancel, "task-moved", func(v *visit) (peer.CancelIn, error) {
		rev, err := taskRev(v)
		return peer.CancelIn{TaskID: v.r.PathValue("id"), Reason: v.field("reason"), IfVer: rev}, err
	})
	onTask(p, "comment", peer.BoardComment, "task-commented", func(v *visit) (peer.CommentIn, error) {
		return peer.CommentIn{TaskID: v.r.PathValue("id"), Text: v.field("text")}, nil
	})
	onTask(p, "archive", peer.BoardArchive, "task-archived", func(v *visit) (peer.ArchiveIn, error) {
		return peer.ArchiveIn{TaskID: v.r.PathValue("id"), Back: v.field("back") != ""}, nil
	})
	onTask(p, "take-back", peer.BoardTakeBack, "task-moved", func(v *visit) (peer.TaskIn, error) {
		return peer.TaskIn{TaskID: v.r.PathValue("id")}, nil
	})
	onTask(p, "handoff", peer.BoardHandoff, "task-handed", func(v *visit) (peer.HandoffIn, error) {
		return peer.HandoffIn{TaskID: v.r.PathValue("id"), To: v.field("to"), Note: v.field("note")}, nil
	})
}

// onTask is a form on one task, which leads back to it.
func onTask[In, Out any](p *Panel, verb string, d op.Def[In, Out], said string, input func(*visit) (In, error)) {
	perform(p, "/panel/board/{id}/"+verb, d, input,
		func(v *visit, _ In, _ Out) error { return v.go303(taskHref(v.r.PathValue("id")), said) },
		func(v *visit, err error) error { return v.task(v.r.PathValue("id"), words(err)) })
}

// TaskRow is a task on the board.
type TaskRow struct {
	ID       string
	Title    string
	About    string
	Status   string // open, blocked, claimed, in_progress, done, cancelled
	Priority string
	Holder   string
	Creator  string
	Needs    []string
	Labels   []string
	Parent   string   // the task that it is part of
	Parts    []string // tasks that are part of it
	Ended    int      // of its parts, how many
	Archived bool
	Result   string
	Reason   string // why it is blocked
	Lease    time.Time
	Version  int64
	Changed  time.Time
	Comments []TaskComment
	Job      string // the newest one that was started from it here
	JobState string
}

// TaskComment is what somebody said about a task.
type TaskComment struct {
	By, Text string
	At       time.Time
}

// ended says whether nothing is left to do.
func (t TaskRow) ended() bool { return t.Status == "done" || t.Status == "cancelled" }

// BoardFilter is which tasks are shown.
type BoardFilter struct {
	Text, Label string
	Mine, Ready bool
	Archived    bool
}

func (f BoardFilter) on() bool { return f != BoardFilter{} }

// BoardColumn is the tasks of one status.
type BoardColumn struct {
	Status, Label, Hint string
	Tasks               []TaskRow
	Hidden              int // done ones that are not shown
}

// BoardView is the board of the space the visitor sits in.
type BoardView struct {
	Now     time.Time
	Space   string
	Me      string
	Away    bool // another machine is the host: nothing tells of changes, so the page asks
	Columns []BoardColumn
	Total   int
	Filter  BoardFilter
	Labels  []string // that some task of the board has
	Peers   []string
	Problem string
	Switch  SpaceSwitch
}

// TaskView is one task, and what can be done with it.
type TaskView struct {
	TaskRow
	Now     time.Time
	Me      string
	Peers   []string
	Moves   []ui.Option // statuses it can be given
	Titles  map[string]string
	History []ui.Moment
	Problem string
	Switch  SpaceSwitch
	// Starts says that the visitor may have an agent do it as a job, and Default and Folders where and by whom.
	Starts  bool
	Default string
	Folders []string
}

// mayChange says whether the visitor may edit, cancel and reopen it.
func (t TaskView) mayChange() bool { return t.Me == t.Creator || t.Me == t.Holder }

// peersWords are words of a space as a person reads them: what the operations
// answer is escaped for models, and a page shows text as text anyway.
func peersWords(s string) string {
	return strings.NewReplacer("&lt;", "<", "&gt;", ">").Replace(s)
}

func taskRow(t peer.Line) TaskRow {
	var said []TaskComment
	for _, c := range t.Comments {
		said = append(said, TaskComment{By: peersWords(c.By), Text: peersWords(c.Text), At: time.UnixMicro(c.At)})
	}
	return TaskRow{ID: string(t.ID), Title: peersWords(t.Title), About: peersWords(t.Description), Status: string(t.Status),
		Priority: string(t.Prio), Comments: said, Holder: peersWords(t.HolderName), Creator: peersWords(t.CreatorName),
		Needs: plain(t.Needs), Result: peersWords(t.Result), Reason: peersWords(t.Reason), Lease: t.Until, Version: t.Version, Changed: t.Changed,
		Job: t.Job, JobState: t.JobState, Labels: t.Listed().Labels,
		Parent: string(t.Parent), Parts: plain(t.Parts), Ended: t.PartsDone, Archived: t.Archived}
}

var boardStatuses = []BoardColumn{
	{Status: "open", Label: "Open", Hint: "Anybody may claim these."},
	{Status: "blocked", Label: "Blocked", Hint: "Wait for another task, or for help."},
	{Status: "claimed", Label: "Claimed", Hint: "Somebody has them and has not begun."},
	{Status: "in_progress", Label: "In progress", Hint: "Somebody works on them."},
	{Status: "done", Label: "Done", Hint: "And what was cancelled; the newest first."},
}

// doneShown is how many finished tasks the board shows.
const doneShown = 30

func boardColumns(tasks []TaskRow) []BoardColumn {
	out := slices.Clone(boardStatuses)
	for i := range out {
		for _, t := range tasks {
			if t.Status == out[i].Status || t.Status == "cancelled" && out[i].Status == "done" {
				out[i].Tasks = append(out[i].Tasks, t)
			}
		}
	}
	done := &out[len(out)-1]
	slices.SortStableFunc(done.Tasks, func(a, b TaskRow) int { return b.Changed.Compare(a.Changed) })
	if n := len(done.Tasks); n > doneShown {
		done.Tasks, done.Hidden = done.Tasks[:doneShown], n-doneShown
	}
	return out
}

// seated reports whether an error says anything else than that the visitor
// sits in no space.
func seated(err error) bool { return !fault.Is(err, fault.Conflict) && !putOut(err) }

// putOut reports whether the visitor sat in a space and does not any more.
func putOut(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && f.Data["reason"] == "removed"
}

func (v *visit) board(problem string) error {
	q := v.r.URL.Query()
	filter := BoardFilter{Text: strings.TrimSpace(q.Get("q")), Label: q.Get("label"), Mine: q.Get("show") == "mine",
		Ready: q.Get("show") == "ready", Archived: q.Get("show") == "archived"}
	list, err := ask(v, peer.BoardShow, peer.BoardIn{All: true, Text: filter.Text, Label: filter.Label, Mine: filter.Mine,
		Ready: filter.Ready, Archived: filter.Archived})
	if err != nil {
		if seated(err) {
			return err
		}
		s := v.shell("board", "Board")
		s.Here = "/panel/board"
		if problem == "" && putOut(err) {
			problem = words(err)
		}
		return v.show(noBoardPage(s, problem))
	}
	out := BoardView{Now: v.now(), Total: len(list.Tasks), Filter: filter, Problem: problem, Labels: list.Labels}
	for i, l := range out.Labels {
		out.Labels[i] = peersWords(l)
	}
	var rows []TaskRow
	for _, t := range list.Tasks {
		rows = append(rows, taskRow(t))
	}
	out.Columns = boardColumns(rows)
	seat, err := v.mySeat()
	if err != nil {
		return err
	}
	out.Space, out.Me, out.Away = seat.Title, seat.Me, seat.Host != "this machine"
	if out.Peers, err = v.peerNames(); err != nil {
		return err
	}
	if out.Switch, err = v.spaceSwitch("board"); err != nil {
		return err
	}
	s := v.shell("board", "Board")
	if !filter.on() {
		q = url.Values{}
	}
	s.Here = out.Switch.about("/panel/board", q)
	s.Keys = []ui.KeyHelp{{Keys: "n", Does: "Add a task"}, {Keys: "Enter", Does: "Open the task"}}
	return v.show(boardPage(s, out))
}

func (v *visit) task(id, problem string) error {
	list, err := ask(v, peer.BoardShow, peer.BoardIn{All: true})
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(list.Tasks, func(t peer.Line) bool { return string(t.ID) == id }) { // it may be in the archive
		one, err := ask(v, peer.BoardShow, peer.BoardIn{TaskID: id})
		if fault.Is(err, fault.NotFound) {
			return noSuchPage
		}
		if err != nil {
			return err
		}
		list.Tasks = append(list.Tasks, one.Tasks...)
	}
	i := slices.IndexFunc(list.Tasks, func(t peer.Line) bool { return string(t.ID) == id })
	if i < 0 {
		return noSuchPage
	}
	seat, err := v.mySeat()
	if err != nil {
		return err
	}
	out := TaskView{TaskRow: taskRow(list.Tasks[i]), Now: v.now(), Me: seat.Me, Problem: problem}
	if out.Peers, err = v.peerNames(); err != nil {
		return err
	}
	out.Titles = map[string]string{}
	for _, t := range list.Tasks {
		out.Titles[string(t.ID)] = peersWords(t.Title)
	}
	if out.History, err = v.taskHistory(id); err != nil {
		return err
	}
	for _, c := range boardStatuses {
		if c.Status != out.Status {
			out.Moves = append(out.Moves, ui.Option{Value: c.Status, Label: c.Label})
		}
	}
	if out.Starts = v.has(string(wire.Start)) && !out.ended() && (out.Status == "open" || out.Holder == out.Me); out.Starts {
		if out.Default, out.Folders, err = v.startingPoint(); err != nil {
			return err
		}
	}
	s := v.shell("board", out.Title)
	if out.Switch, err = v.spaceSwitch("board"); err != nil {
		return err
	}
	s.Here, s.Back = out.Switch.about(taskHref(id), url.Values{}), &ui.Crumb{Label: "Board", Href: "/panel/board"}
	return v.show(taskPage(s, out))
}

func addInput(v *visit) (peer.AddIn, error) {
	needs := strings.FieldsFunc(v.r.PostFormValue("needs"), func(r rune) bool { return r == ' ' || r == ',' })
	return peer.AddIn{Title: v.field("title"), Description: v.field("description"), Priority: v.field("priority"),
		Assignee: v.field("assignee"), DependsOn: needs, Labels: labelField(v, "labels"), Parent: v.field("parent")}, nil
}

// taskRev is the version of the task that its page showed, 0 when it does not say.
func taskRev(v *visit) (int64, error) {
	rev, err := formRev(v)
	if rev == nil {
		return 0, err
	}
	return *rev, err
}

// showOptions are which tasks the board shows.
func (v BoardView) showOptions() []ui.Option {
	return []ui.Option{{Value: "", Label: "All tasks", Chosen: !v.Filter.Mine && !v.Filter.Ready && !v.Filter.Archived},
		{Value: "mine", Label: "Mine", Chosen: v.Filter.Mine}, {Value: "ready", Label: "Can be claimed", Chosen: v.Filter.Ready},
		{Value: "archived", Label: "The archive", Chosen: v.Filter.Archived}}
}

func priorityOptions(now string) []ui.Option {
	var out []ui.Option
	for _, p := range []ui.Option{{Value: "critical", Label: "Critical"}, {Value: "high", Label: "High"}, {Value: "medium", Label: "Medium"},
		{Value: "low", Label: "Low"}} {
		p.Chosen = p.Value == now
		out = append(out, p)
	}
	return out
}

// moveInput gives a task a status. The words are its result when it is done,
// and the reason when it is blocked.
func moveInput(v *visit) (peer.UpdateIn, error) {
	in := peer.UpdateIn{TaskID: v.r.PathValue("id"), Status: v.field("status")}
	if in.Status == string(board.Blocked) {
		in.Reason = v.field("words")
	} else {
		in.Result = v.field("words")
	}
	var err error
	in.IfVer, err = taskRev(v)
	return in, err
}

func taskHref(id string) string { return "/panel/board/" + pathEscape(id) }

func priorityTone(p string) ui.Tone {
	switch p {
	case "critical":
		return ui.Bad
	case "high":
		return ui.Warn
	}
	return ui.Quiet
}

func statusTone(s string) ui.Tone {
	switch s {
	case "in_progress", "claimed":
		return ui.Info
	case "blocked":
		return ui.Warn
	case "done":
		return ui.Good
	}
	return ui.Quiet
}

func statusWord(s string) string { return strings.ReplaceAll(s, "_", " ") }

// boardLive keeps the board current; with a host elsewhere it asks now and then.
func boardLive(here string, away bool, id string, topics ...string) templ.Attributes {
	a := ui.Live(here, id, topics...)
	if t, ok := a["hx-trigger"].(string); ok && away {
		a["hx-trigger"] = t + ", every 15s"
	}
	return a
}

func (t TaskView) pairs() []ui.Pair {
	lease := ""
	if !t.Lease.IsZero() {
		lease = ui.Stamp(t.Lease)
	}
	return []ui.Pair{
		{Key: "Held by", Value: t.Holder}, {Key: "Held until", Value: lease}, {Key: "Made by", Value: t.Creator},
		{Key: "Changed", Value: ui.Stamp(t.Changed)}, {Key: "Task", Value: t.ID, Mono: true, Copy: true},
	}
}
