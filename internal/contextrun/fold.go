package contextrun

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"tandem/internal/contextrun/wire"
)

// The events that tandem writes itself. Everybody else's are of other types.
const (
	began     = "context.run.started"
	added     = "context.task.created"
	claimed   = "context.task.started"
	beat      = "context.task.heartbeat"
	moved     = "context.task.moved"
	patched   = "context.blackboard.patched"
	settled   = "context.folder.settled"
	elsewhere = "context.folder.elsewhere"
	ours      = "context." // what all of them begin with
)

// State is all that the events of a run make of it.
type State struct {
	Run   *wire.Run             `json:"run"`
	Tasks map[string]*wire.Task `json:"tasks"`
	Board *wire.Board           `json:"board"`
}

// Apply folds one more event.
func (s *State) Apply(e *wire.Event) error {
	if e.Type == began {
		s.Run, s.Tasks, s.Board = &wire.Run{}, map[string]*wire.Task{}, newBoard()
	}
	if err := applyRun(s.Run, e); err != nil {
		return err
	}
	switch e.Type {
	case added:
		t, err := taskOf(e)
		if err != nil {
			return err
		}
		s.Tasks[t.ID] = t
	case claimed, beat, moved:
		c, err := changeOf(e)
		if err != nil {
			return err
		}
		t := s.Tasks[e.Task]
		if t == nil {
			return fmt.Errorf("there is no task %s", e.Task)
		}
		applyTask(t, c, e)
		if c.Stage == wire.Done {
			for _, next := range s.Tasks {
				if slices.Contains(next.After, t.ID) {
					free(next, e)
				}
			}
		}
	case patched:
		p, err := patchOf(e)
		if err != nil {
			return err
		}
		if !slices.Contains(sections, p.Op) {
			return fmt.Errorf("%s writes nothing", p.Op)
		}
		applyBoard(s.Board, p)
	}
	s.Board.Revision = s.Run.Patches
	return nil
}

// said is what an event may say of the run in its payload, whoever wrote it.
type said struct {
	Why       *string   `json:"why_next_step"`
	Error     *string   `json:"error"`
	Steps     []oneStep `json:"steps"`
	Replace   bool      `json:"replace_steps"`
	StepStage string    `json:"step_status"`
	StepTitle string    `json:"step_title"`
	Folder    string    `json:"folder"`
}

// oneStep is a step in this house's words, or in those of older clients.
type oneStep struct {
	ID, Title     string
	StepID        string `json:"step_id"`
	Stage, Status string
}

func (o oneStep) step() wire.Step {
	s := wire.Step{ID: o.ID + o.StepID, Title: o.Title, Stage: stageOf(o.Stage + o.Status)}
	if s.Title == "" {
		s.Title = s.ID
	}
	if s.Stage == "" {
		s.Stage = wire.Pending
	}
	return s
}

// stageOf reads a stage, also by words that people use for it; "" is none.
func stageOf(word string) wire.Stage {
	switch w := strings.ToLower(strings.TrimSpace(word)); w {
	case "in-progress", "working", "active", "started":
		return wire.InProgress
	case "completed", "complete":
		return wire.Done
	case "error":
		return wire.Broken
	default:
		if slices.Contains(wire.Stages, wire.Stage(w)) {
			return wire.Stage(w)
		}
	}
	return ""
}

// implied is where a step stands after an event whose payload does not say.
var implied = map[string]wire.Stage{"step_started": wire.InProgress, "task_started": wire.InProgress, "step_completed": wire.Done,
	"task_completed": wire.Done, "step_done": wire.Done, "step_failed": wire.Broken, "task_failed": wire.Broken, "step_blocked": wire.Stuck,
	"task_retry_requested": wire.Runnable, "meta_next_step_selected": wire.Runnable}

// applyRun is what an event makes of the run itself. A payload that cannot be read says nothing of it.
func applyRun(r *wire.Run, e *wire.Event) error {
	if e.Type == began {
		if err := json.Unmarshal(e.Payload, r); err != nil {
			return err
		}
		r.MadeAt, r.MadeBy = e.At, e.By
	}
	r.Events, r.MovedAt = e.Seq, e.At
	if e.Type == added {
		r.Tasks++
	}
	if e.Patch > 0 { // of tasks and blackboard alone
		r.Patches = e.Patch
		return nil
	}
	r.Revision, r.Status = e.Revision, e.Status
	if r.Status == wire.Running && r.StartedAt == nil {
		at := e.At
		r.StartedAt = &at
	}
	switch {
	case !r.Status.Ended():
		r.EndedAt = nil
	case r.EndedAt == nil:
		at := e.At
		r.EndedAt = &at
	}
	if e.Type == began {
		return nil
	}
	var p said
	if json.Unmarshal(e.Payload, &p) != nil {
		p = said{}
	}
	if p.Why != nil {
		r.Why = *p.Why
	}
	if p.Error != nil {
		r.LastError = *p.Error
	}
	if e.Type == settled {
		r.Folder, r.Epoch = p.Folder, r.Epoch+1
	}
	if p.Replace {
		r.Steps = []wire.Step{}
	}
	for _, one := range p.Steps {
		setStep(r, one.step(), true)
	}
	if e.Step != "" {
		stage := stageOf(p.StepStage)
		if stage == "" {
			stage = implied[e.Type]
		}
		setStep(r, wire.Step{ID: e.Step, Title: p.StepTitle, Stage: stage}, false)
	}
	return nil
}

// setStep changes a step of a run, or adds it. What is not said of it stays; all of it is said when it is listed.
func setStep(r *wire.Run, s wire.Step, listed bool) {
	if s.ID == "" {
		return
	}
	i := slices.IndexFunc(r.Steps, func(old wire.Step) bool { return old.ID == s.ID })
	if i < 0 {
		r.Steps, i = append(r.Steps, wire.Step{ID: s.ID, Title: s.ID, Stage: wire.Pending}), len(r.Steps)
	}
	if s.Title != "" && (listed || r.Steps[i].Title == s.ID) {
		r.Steps[i].Title = s.Title
	}
	if s.Stage != "" {
		r.Steps[i].Stage = s.Stage
	}
}

func newBoard() *wire.Board {
	return &wire.Board{Facts: []wire.Item{}, Decisions: []wire.Item{}, Questions: []wire.Item{}, Artifacts: []wire.Item{}}
}

// patch is a change of the blackboard, as its event says it.
type patch struct {
	Op   string    `json:"op"`
	Item wire.Item `json:"item"`
}

func patchOf(e *wire.Event) (p patch, err error) {
	err = json.Unmarshal(e.Payload, &p)
	p.Item.At = e.At
	return p, err
}

// The sections of a blackboard, by the operation that writes there. The last two hold one text each.
const rolling, pack = "set_rolling_summary", "set_latest_context_pack"

var sections = []string{"add_fact", "add_decision", "add_open_question", "add_artifact", rolling, pack}

func applyBoard(b *wire.Board, p patch) {
	switch p.Op {
	case rolling:
		b.Rolling = p.Item.Text
	case pack:
		b.Pack = p.Item.Text
	default:
		list := map[string]*[]wire.Item{"add_fact": &b.Facts, "add_decision": &b.Decisions, "add_open_question": &b.Questions,
			"add_artifact": &b.Artifacts}[p.Op]
		*list = append(*list, p.Item)
	}
}
