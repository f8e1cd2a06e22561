package compat

import (
	"encoding/json"
	"strings"
	"time"

	"tandem/internal/contextrun/wire"
	"tandem/internal/fault"
	jobs "tandem/internal/job/wire"
	"tandem/internal/op"
)

// contextRoutes are the routes of context runs. No client has methods for them; the engine's own programs call them as they are.
var contextRoutes = map[string]handler{
	"POST /context/runs":                              createContext,
	"GET /context/runs":                               listContexts,
	"GET /context/runs/{id}":                          getContext,
	"PUT /context/runs/{id}":                          putContext,
	"GET /context/runs/{id}/events":                   contextEventPage,
	"POST /context/runs/{id}/events":                  appendContext,
	"GET /context/runs/{id}/blackboard":               contextBoard,
	"GET /context/runs/{id}/blackboard/patches":       contextPatches,
	"POST /context/runs/{id}/blackboard/patches":      patchContext,
	"POST /context/runs/{id}/tasks":                   addContextTasks,
	"POST /context/runs/{id}/tasks/claim":             claimContextTask,
	"POST /context/runs/{id}/tasks/{task}/transition": moveContextTask,
	"POST /context/runs/{id}/checkpoints":             checkpointContext,
	"GET /context/runs/{id}/checkpoints/latest":       latestCheckpoint,
	"GET /context/runs/{id}/replay":                   replayContext,
	"POST /context/runs/{id}/driver/next":             nextContextStep,
	"POST /context/runs/{id}/lease/validate":          placeContext,
	"POST /context/runs/{id}/todos/sync":              syncTodos,
}

func contextRecord(q *request, r *wire.Run, tasks []*wire.Task) obj {
	c := op.CallerFrom(q.Context())
	steps, list, connectors := []obj{}, []obj{}, r.Connectors
	for _, s := range r.Steps {
		steps = append(steps, obj{"step_id": s.ID, "title": s.Title, "status": string(s.Stage)})
	}
	for _, t := range tasks {
		list = append(list, taskRecord(t))
	}
	if connectors == nil {
		connectors = []string{}
	}
	out := obj{"run_id": r.ID, "run_type": r.Kind, "status": string(r.Status), "objective": r.Objective, "steps": steps, "tasks": list,
		"mcp_servers": connectors, "revision": r.Revision, "last_event_seq": r.Events, "created_at_ms": ms(r.MadeAt),
		"updated_at_ms": ms(r.MovedAt), "workspace": obj{"workspace_id": r.Folder, "canonical_path": r.Folder, "lease_epoch": r.Epoch},
		"tenant_context": obj{"org_id": c.Tenant, "workspace_id": c.Tenant}}
	said(out, map[string]string{"source_client": r.Client, "model_provider": r.Provider, "model_id": r.Model, "why_next_step": r.Why,
		"last_error": r.LastError})
	when(out, map[string]*time.Time{"started_at_ms": r.StartedAt, "ended_at_ms": r.EndedAt})
	if len(r.Source) > 0 {
		out["source_metadata"] = r.Source
	}
	return out
}

// said adds the texts that there are, when the moments.
func said(out obj, texts map[string]string) {
	for name, s := range texts {
		if s != "" {
			out[name] = s
		}
	}
}

func when(out obj, moments map[string]*time.Time) {
	for name, t := range moments {
		if t != nil {
			out[name] = ms(*t)
		}
	}
}

func names(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func taskRecord(t *wire.Task) obj {
	out := obj{"id": t.ID, "task_type": t.Kind, "payload": t.Payload, "status": string(t.Stage), "depends_on_task_ids": names(t.After),
		"decision_ids": names(t.Decisions), "artifact_ids": names(t.Artifacts), "priority": t.Priority, "attempt": t.Attempt,
		"max_attempts": t.MaxAttempts, "task_rev": t.Rev, "created_ts": ms(t.MadeAt), "updated_ts": ms(t.MovedAt)}
	if len(t.Payload) == 0 {
		out["payload"] = nil
	}
	said(out, map[string]string{"workflow_id": t.Workflow, "workflow_node_id": t.Node, "parent_task_id": t.Parent, "assigned_agent": t.Agent,
		"last_error": t.LastError, "lease_owner": t.Holder, "lease_token": t.Token})
	when(out, map[string]*time.Time{"next_retry_at_ms": t.RetryAt, "lease_expires_at_ms": t.LeaseEnds})
	return out
}

func eventRecord(run string, e *wire.Event) obj {
	out := obj{"event_id": run + ":" + number64(e.Seq), "run_id": run, "seq": e.Seq, "ts_ms": ms(e.At), "type": e.Type,
		"status": string(e.Status), "revision": e.Revision, "payload": e.Payload, "by": e.By}
	if len(e.Payload) == 0 {
		out["payload"] = obj{}
	}
	said(out, map[string]string{"step_id": e.Step, "task_id": e.Task, "command_id": e.Command})
	return out
}

// patchRecord is an event of tasks or blackboard as the clients know it.
func patchRecord(run string, e *wire.Event) obj {
	kind, payload := "update_task_state", any(e.Payload)
	switch e.Type {
	case "context.task.created":
		kind = "add_task"
		var t wire.Task
		if json.Unmarshal(e.Payload, &t) == nil {
			t.MadeAt, t.MovedAt = e.At, e.At
			payload = taskRecord(&t)
		}
	case "context.task.started", "context.task.heartbeat":
		kind = "update_task_lease"
	case "context.blackboard.patched":
		var p struct {
			Op   string
			Item wire.Item
		}
		if json.Unmarshal(e.Payload, &p) == nil {
			p.Item.At = e.At
			kind, payload = p.Op, itemRecord(p.Item)
		}
	}
	return obj{"patch_id": run + ":p" + number64(e.Patch), "run_id": run, "seq": e.Patch, "ts_ms": ms(e.At), "source_event_seq": e.Seq,
		"op": kind, "task_id": e.Task, "payload": payload}
}

func itemRecord(i wire.Item) obj {
	out := obj{"id": i.ID, "ts_ms": ms(i.At), "text": i.Text}
	said(out, map[string]string{"path": i.Path, "artifact_type": i.Type, "step_id": i.Step, "source_event_id": i.Source})
	return out
}

func boardRecord(b *wire.Board, tasks []*wire.Task) obj {
	items := func(list []wire.Item) []obj {
		out := []obj{}
		for _, i := range list {
			out = append(out, itemRecord(i))
		}
		return out
	}
	list := []obj{}
	for _, t := range tasks {
		list = append(list, taskRecord(t))
	}
	return obj{"facts": items(b.Facts), "decisions": items(b.Decisions), "open_questions": items(b.Questions),
		"artifacts": items(b.Artifacts), "tasks": list, "summaries": obj{"rolling": b.Rolling, "latest_context_pack": b.Pack},
		"revision": b.Revision}
}

func createContext(q *request) (any, error) {
	var in wire.StartIn
	var place struct {
		Path string `json:"canonical_path"`
	}
	for _, err := range []error{q.get(&in.ID, "run_id"), q.get(&in.Objective, "objective"), q.get(&in.Kind, "run_type"),
		q.get(&in.Client, "source_client"), q.get(&in.Provider, "model_provider", "modelProvider"),
		q.get(&in.Model, "model_id", "modelId"), q.get(&in.Connectors, "mcp_servers", "mcpServers"),
		q.get(&in.Source, "source_metadata", "sourceMetadata"), q.get(&place, "workspace")} {
		if err != nil {
			return nil, err
		}
	}
	in.Folder = place.Path
	r, err := op.Do(q.Context(), q.s.Gate, wire.Start, in)
	if err != nil {
		return nil, err
	}
	return obj{"ok": true, "run": contextRecord(q, r, nil)}, nil
}

func listContexts(q *request) (any, error) {
	out, err := op.Do(q.Context(), q.s.Gate, wire.List, wire.ListIn{Folder: q.FormValue("workspace"), Kind: q.FormValue("run_type"),
		Limit: min(500, max(1, number(q.FormValue("limit"), 100)))})
	if err != nil {
		return nil, err
	}
	list := []obj{}
	for _, r := range out.Runs {
		list = append(list, contextRecord(q, r, nil))
	}
	return obj{"runs": list, "count": len(list)}, nil
}

// context is a run with its tasks.
func (q *request) contextRun() (wire.ShowOut, error) {
	return op.Do(q.Context(), q.s.Gate, wire.Show, wire.ShowIn{ID: q.PathValue("id"), Payloads: true})
}

func (q *request) blackboard() (*wire.Board, error) {
	return op.Do(q.Context(), q.s.Gate, wire.Blackboard, wire.IDIn{ID: q.PathValue("id")})
}

func getContext(q *request) (any, error) {
	if strings.HasPrefix(q.PathValue("id"), "job_") { // what a coder run names as its context run
		return jobAsContext(q)
	}
	out, err := q.contextRun()
	if err != nil {
		return nil, err
	}
	return obj{"run": contextRecord(q, out.Run, out.List)}, nil
}

func jobAsContext(q *request) (any, error) {
	j, err := op.Do(q.Context(), q.s.Gate, jobs.Get, jobs.IDIn{ID: q.PathValue("id")})
	if err != nil {
		return nil, err
	}
	c := coderRecord(j)
	return obj{"run": contextRecord(q, &wire.Run{ID: j.ID, Kind: "coder_" + issueFix, Status: wire.Status(c["status"].(string)),
		Objective: j.Task, LastError: j.Reason, MadeAt: j.MadeAt, MovedAt: j.MovedAt}, nil)}, nil
}

// putContext is the whole of a run as its client has it: its steps, its reason and its status, at the revision that the client saw.
func putContext(q *request) (any, error) {
	in := wire.AppendIn{ID: q.PathValue("id"), Type: "run_state_put"}
	var revision *int64
	payload := obj{"replace_steps": true}
	for _, err := range []error{q.get(&in.Status, "status"), q.get(&revision, "revision")} {
		if err != nil {
			return nil, err
		}
	}
	in.IfRev = revision
	for _, name := range []string{"why_next_step", "steps"} {
		if raw, ok := q.body[name]; ok && string(raw) != "null" {
			payload[name] = raw
		}
	}
	if raw, ok := q.body["last_error"]; ok && string(raw) != "null" {
		payload["error"] = raw
	}
	if payload["steps"] == nil {
		delete(payload, "replace_steps")
	}
	if err := in.Carry(payload); err != nil {
		return nil, err
	}
	if _, err := op.Do(q.Context(), q.s.Gate, wire.Append, in); err != nil {
		return nil, err
	}
	out, err := q.contextRun()
	if err != nil {
		return nil, err
	}
	return obj{"ok": true, "run": contextRecord(q, out.Run, out.List)}, nil
}

func appendContext(q *request) (any, error) {
	in := wire.AppendIn{ID: q.PathValue("id")}
	for _, err := range []error{q.get(&in.Type, "type", "event_type"), q.get(&in.Status, "status"), q.get(&in.Step, "step_id"),
		q.get(&in.Payload, "payload"), q.get(&in.Command, "command_id")} {
		if err != nil {
			return nil, err
		}
	}
	if strings.HasPrefix(in.Type, "context.task.") {
		return obj{"ok": false, "error": "tasks have routes of their own", "code": "TASK_EVENT_APPEND_DISABLED"}, nil
	}
	out, err := op.Do(q.Context(), q.s.Gate, wire.Append, in)
	if err != nil {
		return nil, err
	}
	return obj{"ok": true, "event": eventRecord(in.ID, out.Event), "deduped": out.Again}, nil
}

// events is a page of a run's events, from behind a number or the newest few. Without either it is all of them.
func (q *request) contextPage(patches bool) ([]*wire.Event, error) {
	in := wire.EventsIn{ID: q.PathValue("id"), After: int64(number(q.FormValue("since_seq"), 0)), Patches: patches, Limit: 500,
		Tail: min(500, number(q.FormValue("tail"), 0))}
	var list []*wire.Event
	for {
		page, err := op.Do(q.Context(), q.s.Gate, wire.Events, in)
		if err != nil {
			return nil, err
		}
		list = append(list, page.Events...)
		if !page.More || in.Tail > 0 || len(page.Events) == 0 {
			return list, nil
		}
		if in.After = list[len(list)-1].Seq; patches {
			in.After = list[len(list)-1].Patch
		}
	}
}

func contextEventPage(q *request) (any, error) {
	all, err := q.contextPage(false)
	list := []obj{}
	for _, e := range all {
		list = append(list, eventRecord(q.PathValue("id"), e))
	}
	return obj{"events": list}, err
}

func contextPatches(q *request) (any, error) {
	all, err := q.contextPage(true)
	list := []obj{}
	for _, e := range all {
		list = append(list, patchRecord(q.PathValue("id"), e))
	}
	return obj{"patches": list}, err
}

func contextBoard(q *request) (any, error) {
	run, err := q.contextRun()
	if err != nil {
		return nil, err
	}
	b, err := q.blackboard()
	if err != nil {
		return nil, err
	}
	return obj{"blackboard": boardRecord(b, run.List)}, nil
}

// withBoard adds a run's blackboard to an answer.
func (q *request) withBoard(out obj) (any, error) {
	b, err := contextBoard(q)
	if err != nil {
		return nil, err
	}
	out["blackboard"] = b.(obj)["blackboard"]
	return out, nil
}

func patchContext(q *request) (any, error) {
	in := wire.PatchIn{ID: q.PathValue("id")}
	if err := q.get(&in.Op, "op"); err != nil {
		return nil, err
	}
	switch in.Op {
	case "add_task", "update_task_lease", "update_task_state":
		return obj{"ok": false, "error": "tasks have routes of their own", "code": "TASK_PATCH_OP_DISABLED"}, nil
	}
	if raw := q.body["payload"]; len(raw) > 0 && raw[0] == '"' {
		if err := q.get(&in.Text, "payload"); err != nil {
			return nil, err
		}
	} else if p, err := q.within("payload"); err != nil {
		return nil, err
	} else {
		for _, err := range []error{p.get(&in.Item, "id"), p.get(&in.Text, "text", "value", "summary"), p.get(&in.Path, "path"),
			p.get(&in.Type, "artifact_type"), p.get(&in.Step, "step_id"), p.get(&in.Source, "source_event_id")} {
			if err != nil {
				return nil, err
			}
		}
	}
	out, err := op.Do(q.Context(), q.s.Gate, wire.Patch, in)
	if err != nil {
		return nil, err
	}
	return q.withBoard(obj{"ok": true, "patch": patchRecord(in.ID, out.Event)})
}

func checkpointContext(q *request) (any, error) {
	in := wire.CheckpointIn{ID: q.PathValue("id")}
	if err := q.get(&in.Reason, "reason"); err != nil {
		return nil, err
	}
	m, err := op.Do(q.Context(), q.s.Gate, wire.Checkpoint, in)
	if err != nil {
		return nil, err
	}
	latest, err := latestCheckpoint(q)
	if err != nil {
		return nil, err
	}
	return obj{"ok": true, "checkpoint_id": m.ID, "checkpoint": latest.(obj)["checkpoint"]}, nil
}

func latestCheckpoint(q *request) (any, error) {
	out, err := op.Do(q.Context(), q.s.Gate, wire.Checkpoints, wire.IDIn{ID: q.PathValue("id")})
	if err != nil || len(out.Marks) == 0 {
		return obj{"checkpoint": nil}, err
	}
	var state struct {
		Run   *wire.Run
		Tasks map[string]*wire.Task
		Board *wire.Board
	}
	m := out.Marks[0]
	if err := json.Unmarshal(out.State, &state); err != nil || state.Run == nil || state.Board == nil {
		return nil, fault.New(fault.Conflict, "context.checkpoints", "the checkpoint %s cannot be read", m.ID).
			WithNext("replay the run from its first event: GET /context/runs/%s/replay?from_checkpoint=false", q.PathValue("id"))
	}
	tasks := inOrder(state.Tasks)
	return obj{"checkpoint": obj{"checkpoint_id": m.ID, "run_id": state.Run.ID, "seq": m.Seq, "ts_ms": ms(m.At), "reason": m.Reason,
		"run_state": contextRecord(q, state.Run, tasks), "blackboard": boardRecord(state.Board, tasks)}}, nil
}

func replayContext(q *request) (any, error) {
	out, err := op.Do(q.Context(), q.s.Gate, wire.Replay, wire.ReplayIn{ID: q.PathValue("id"), Upto: int64(number(q.FormValue("upto_seq"), 0)),
		Checkpoint: q.FormValue("from_checkpoint") != "false"})
	if err != nil {
		return nil, err
	}
	run, err := q.contextRun()
	if err != nil {
		return nil, err
	}
	b, err := q.blackboard()
	if err != nil {
		return nil, err
	}
	answer := obj{"ok": true, "run_id": run.ID, "from_checkpoint": out.From > 0, "events_applied": out.Applied,
		"blackboard_patches_applied": out.Board.Revision, "replay": contextRecord(q, out.Run, out.Tasks),
		"replay_blackboard": boardRecord(out.Board, out.Tasks), "persisted": contextRecord(q, run.Run, run.List),
		"persisted_blackboard": boardRecord(b, run.List), "drift": driftRecord(out.Drift)}
	if out.From > 0 {
		answer["checkpoint_seq"] = out.From
	}
	return answer, nil
}

func driftRecord(all []wire.Drift) obj {
	out := obj{"mismatch": len(all) > 0, "differences": all}
	for _, name := range []string{"status", "why_next_step", "step_count", "blackboard_revision", "blackboard_task_count",
		"blackboard_task_status"} {
		out[name+"_mismatch"] = false
	}
	for _, d := range all {
		task := strings.HasPrefix(d.What, "task ")
		for name, is := range map[string]bool{"status": d.What == "status", "why_next_step": d.What == "why", "step_count": d.What == "steps",
			"blackboard_revision": d.What == "blackboard revision", "blackboard_task_status": task && strings.HasSuffix(d.What, " stage"),
			"blackboard_task_count": task && strings.Count(d.What, " ") == 1 || d.What == "tasks"} {
			if is {
				out[name+"_mismatch"] = true
			}
		}
	}
	return out
}
