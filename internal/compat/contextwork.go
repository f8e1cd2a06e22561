package compat

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem/internal/contextrun/wire"
	"tandem/internal/fault"
	"tandem/internal/op"
)

func number64(n int64) string { return strconv.FormatInt(n, 10) }

func inOrder(all map[string]*wire.Task) []*wire.Task {
	return slices.SortedFunc(maps.Values(all), func(a, b *wire.Task) int { return cmp.Compare(a.Nr, b.Nr) })
}

// newTask is a task as the clients add one.
type newTask struct {
	Command     string          `json:"command_id"`
	ID          string          `json:"id"`
	Type        string          `json:"task_type"`
	Payload     json.RawMessage `json:"payload"`
	Status      wire.Stage      `json:"status"`
	Workflow    string          `json:"workflow_id"`
	Node        string          `json:"workflow_node_id"`
	Parent      string          `json:"parent_task_id"`
	After       []string        `json:"depends_on_task_ids"`
	Decisions   []string        `json:"decision_ids"`
	Artifacts   []string        `json:"artifact_ids"`
	Priority    int             `json:"priority"`
	MaxAttempts int             `json:"max_attempts"`
}

func addContextTasks(q *request) (any, error) {
	var list []newTask
	if err := q.get(&list, "tasks"); err != nil {
		return nil, err
	}
	in := wire.AddIn{ID: q.PathValue("id")}
	for _, t := range list {
		in.Tasks = append(in.Tasks, wire.TaskIn{ID: t.ID, Kind: t.Type, Payload: t.Payload, Stage: t.Status, Workflow: t.Workflow, Node: t.Node,
			Parent: t.Parent, After: t.After, Decisions: t.Decisions, Artifacts: t.Artifacts, Priority: t.Priority,
			MaxAttempts: t.MaxAttempts, Command: t.Command})
	}
	out, err := op.Do(q.Context(), q.s.Gate, wire.Add, in)
	if err != nil {
		return nil, err
	}
	tasks, patches := []obj{}, []obj{}
	for i, t := range out.Tasks {
		tasks, patches = append(tasks, taskRecord(t)), append(patches, patchRecord(in.ID, out.Events[i]))
	}
	return q.withBoard(obj{"ok": true, "tasks": tasks, "patches": patches})
}

// leaseMS is what the clients ask for, within what they know: 5 seconds to 5 minutes.
func leaseMS(ms int64) int64 {
	if ms == 0 {
		return 0
	}
	return min(max(ms, 5_000), 300_000)
}

func claimContextTask(q *request) (any, error) {
	in := wire.ClaimIn{ID: q.PathValue("id")}
	for _, err := range []error{q.get(&in.Agent, "agent_id"), q.get(&in.Command, "command_id"), q.get(&in.Kind, "task_type"),
		q.get(&in.Workflow, "workflow_id"), q.get(&in.LeaseMS, "lease_ms"), q.get(&in.Task, "task_id")} {
		if err != nil {
			return nil, err
		}
	}
	if strings.TrimSpace(in.Agent) == "" {
		return nil, fault.New(fault.Invalid, "context.claim", "who claims it? agent_id is missing")
	}
	in.LeaseMS = leaseMS(in.LeaseMS)
	out, err := op.Do(q.Context(), q.s.Gate, wire.Claim, in)
	if err != nil {
		return nil, err
	}
	answer := obj{"ok": true, "task": nil}
	if out.Task != nil {
		answer["task"] = taskRecord(out.Task)
	} else {
		answer["detail"] = out.Why
	}
	return q.withBoard(answer)
}

// refusals are the clients' words for why a task does not move. They are told so in an answer, and not by its status.
var refusals = map[string]string{"revision": "TASK_REV_MISMATCH", "no lease": "TASK_LEASE_REQUIRED", "old lease": "TASK_LEASE_INVALID",
	"stage": "TASK_TRANSITION_INVALID"}

func moveContextTask(q *request) (any, error) {
	in := wire.TransitionIn{ID: q.PathValue("id"), Task: q.PathValue("task")}
	for _, err := range []error{q.get(&in.Action, "action"), q.get(&in.Command, "command_id"), q.get(&in.IfRev, "expected_task_rev"),
		q.get(&in.Token, "lease_token"), q.get(&in.Agent, "agent_id"), q.get(&in.Stage, "status"), q.get(&in.Error, "error"),
		q.get(&in.LeaseMS, "lease_ms")} {
		if err != nil {
			return nil, err
		}
	}
	in.LeaseMS = leaseMS(in.LeaseMS)
	out, err := op.Do(q.Context(), q.s.Gate, wire.Transition, in)
	if code := refusals[dataOf(err, "refused")]; code != "" {
		return obj{"ok": false, "error": err.Error(), "code": code}, nil
	}
	if err != nil {
		return nil, err
	}
	answer := obj{"ok": true, "task": taskRecord(out.Task)}
	if out.Event != nil {
		answer["patch"] = patchRecord(in.ID, out.Event)
	}
	if out.Again {
		answer["deduped"] = true
	}
	return q.withBoard(answer)
}

func nextContextStep(q *request) (any, error) {
	in := wire.NextIn{ID: q.PathValue("id")}
	if err := q.get(&in.Dry, "dry_run"); err != nil {
		return nil, err
	}
	out, err := op.Do(q.Context(), q.s.Gate, wire.Next, in)
	if err != nil {
		return nil, err
	}
	answer := obj{"ok": true, "dry_run": in.Dry, "run_id": in.ID, "selected_step_id": nil, "target_status": string(out.Run.Status),
		"why_next_step": out.Why, "run": contextRecord(q, out.Run, nil)}
	if out.Step != nil {
		answer["selected_step_id"] = out.Step.ID
	}
	return answer, nil
}

func placeContext(q *request) (any, error) {
	in := wire.PlaceIn{ID: q.PathValue("id")}
	for _, err := range []error{q.get(&in.Folder, "current_path"), q.get(&in.Phase, "phase"), q.get(&in.Step, "step_id")} {
		if err != nil {
			return nil, err
		}
	}
	out, err := op.Do(q.Context(), q.s.Gate, wire.Place, in)
	if err != nil {
		return nil, err
	}
	answer := obj{"ok": out.OK, "mismatch": !out.OK}
	if !out.OK {
		answer["status"] = string(out.Status)
	}
	return answer, nil
}

// syncTodos makes the lines of somebody's list the steps of a run.
func syncTodos(q *request) (any, error) {
	var list []struct{ ID, Content, Status string }
	replace, session := true, ""
	for _, err := range []error{q.get(&list, "todos"), q.get(&replace, "replace"), q.get(&session, "source_session_id")} {
		if err != nil {
			return nil, err
		}
	}
	steps := []obj{}
	for _, t := range list {
		id := t.ID
		if id == "" {
			id = fmt.Sprintf("todo-%x", sha256.Sum256([]byte(t.Content)))[:17]
		}
		stage := t.Status
		if stage == "cancelled" {
			stage = string(wire.Stuck)
		}
		steps = append(steps, obj{"id": id, "title": fault.Clip(t.Content, 200), "stage": stage})
	}
	in := wire.AppendIn{ID: q.PathValue("id"), Type: "todo_synced"}
	if err := in.Carry(obj{"steps": steps, "replace_steps": replace, "source_session_id": session}); err != nil {
		return nil, err
	}
	out, err := op.Do(q.Context(), q.s.Gate, wire.Append, in)
	if err != nil {
		return nil, err
	}
	return obj{"ok": true, "run": contextRecord(q, out.Run, nil), "count": len(steps)}, nil
}

// contextEvents is the stream of one run's events, from a place, from the newest few, or from the first.
func (s *Server) contextEvents(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	after, err := since(r)
	ctx := s.Gate.Stay(r.Context())
	if err == nil {
		after, err = s.tail(ctx, r, id, after)
	}
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	out := s.stream(w)
	if out.send("", obj{"status": "ready", "stream": "context_run_events", "runID": id, "timestamp_ms": ms(time.Now())}) != nil {
		return
	}
	marks := map[string]int64{id: after}
	s.follow(ctx, out, func() bool {
		return s.contextNews(ctx, marks, func(run string, e *wire.Event) error {
			return out.send(number64(e.Seq), obj{"type": "run.event", "properties": eventRecord(run, e)})
		})
	})
}

func since(r *http.Request) (int64, error) {
	from := cmp.Or(r.Header.Get("Last-Event-ID"), r.FormValue("since_seq"))
	if from == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(from, 10, 64)
	if err != nil || n < 0 {
		return 0, fault.New(fault.Invalid, "context.events", "since_seq should be a sequence number, not %.40q", from)
	}
	return n, nil
}

// tail is the place behind which a stream begins; who may not read the run is told so before anything is sent.
func (s *Server) tail(ctx context.Context, r *http.Request, id string, after int64) (int64, error) {
	page, err := op.Do(ctx, s.Gate, wire.Events, wire.EventsIn{ID: id, Tail: 1})
	if n := number(r.FormValue("tail"), 0); err == nil && n > 0 && after == 0 {
		after = max(0, page.Last-int64(n))
	}
	return after, err
}

// contextNews sends what is behind the marks of some runs, and says whether to go on.
func (s *Server) contextNews(ctx context.Context, marks map[string]int64, send func(run string, e *wire.Event) error) bool {
	for _, run := range slices.Sorted(maps.Keys(marks)) {
		for more := true; more; {
			page, err := op.Do(ctx, s.Gate, wire.Events, wire.EventsIn{ID: run, After: marks[run], Limit: 200})
			if err != nil {
				return false // the client comes back with its place, and hears why
			}
			for _, e := range page.Events {
				if send(run, e) != nil {
					return false
				}
				marks[run] = e.Seq
			}
			more = page.More
		}
	}
	return true
}

// follow looks again whenever the journal has an entry about a context run.
func (s *Server) follow(ctx context.Context, out *sender, look func() bool) {
	for {
		looked := time.Now()
		after, err := s.Head(ctx)
		if err != nil || !look() {
			return
		}
		wait, cancel := context.WithTimeout(ctx, 15*time.Second)
		err = s.WaitAbout(wait, after, "context")
		cancel()
		if ctx.Err() != nil || err != nil && out.Beat() != nil || !rests(ctx, looked) {
			return
		}
	}
}

// lookAgain is how long a stream does not look after it looked: what is labelled is read by an entry of the journal, which wakes it itself.
const lookAgain = time.Second

// rests waits until a stream may look again; false when whoever reads it left.
func rests(ctx context.Context, looked time.Time) bool {
	t := time.NewTimer(time.Until(looked.Add(lookAgain)))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// contextsEvents is the stream of several runs of one folder: those that are named, or all that are worked at there.
func (s *Server) contextsEvents(w http.ResponseWriter, r *http.Request) {
	ctx := s.Gate.Stay(r.Context())
	folder := r.FormValue("workspace")
	marks, err := s.subscribed(ctx, r, folder)
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	out := s.stream(w)
	if out.send("", obj{"kind": "ready", "workspace": folder, "subscribed_run_ids": slices.Sorted(maps.Keys(marks)),
		"timestamp_ms": ms(time.Now())}) != nil {
		return
	}
	envelope := func(kind, run string, seq int64, e *wire.Event, payload obj) error {
		return out.send("", obj{"kind": kind, "run_id": run, "workspace": folder, "seq": seq, "ts_ms": ms(e.At), "payload": payload})
	}
	s.follow(ctx, out, func() bool {
		return s.contextNews(ctx, marks, func(run string, e *wire.Event) error {
			err := envelope("context_run_event", run, e.Seq, e, eventRecord(run, e))
			if err == nil && e.Patch > 0 {
				err = envelope("blackboard_patch", run, e.Patch, e, patchRecord(run, e))
			}
			return err
		})
	})
}

// maxContexts is how many runs one stream is about.
const maxContexts = 100

// subscribed are the runs that a stream is about, each with the event behind which it begins.
func (s *Server) subscribed(ctx context.Context, r *http.Request, folder string) (map[string]int64, error) {
	if folder == "" {
		return nil, fault.New(fault.Invalid, "context.events", "of which folder? workspace is missing")
	}
	list, err := op.Do(ctx, s.Gate, wire.List, wire.ListIn{Folder: folder, Limit: maxContexts})
	if err != nil {
		return nil, err
	}
	var cursor struct{ Events map[string]int64 }
	if c := r.FormValue("cursor"); c != "" && json.Unmarshal([]byte(c), &cursor) != nil {
		return nil, fault.New(fault.Invalid, "context.events", `the cursor should be a JSON object: {"events":{"RUN":12}}`)
	}
	there, marks := map[string]int64{}, map[string]int64{}
	for _, one := range list.Runs {
		there[one.ID] = one.Events
	}
	wanted := strings.FieldsFunc(r.FormValue("run_ids"), func(c rune) bool { return c == ',' || c == ' ' })
	if len(wanted) == 0 {
		wanted = slices.Collect(maps.Keys(there))
	}
	for _, id := range wanted {
		newest, ok := there[id]
		if !ok {
			return nil, op.NoSuch("context", id)
		}
		at, known := cursor.Events[id]
		if n := number(r.FormValue("tail"), 0); !known && n > 0 {
			at = max(0, newest-int64(n))
		}
		marks[id] = at
	}
	return marks, nil
}
