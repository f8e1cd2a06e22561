package compat_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

type fields = map[string]any

// ask calls a route as the engine's own programs do, and reads what is answered.
func (e engine) ask(t *testing.T, want int, method, path string, in any) fields {
	t.Helper()
	var body bytes.Buffer
	if in != nil {
		if err := json.NewEncoder(&body).Encode(in); err != nil {
			t.Fatal(err)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), method, e.url+path, &body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	out := fields{}
	if err := json.NewDecoder(got.Body).Decode(&out); err != nil || got.StatusCode != want {
		t.Fatalf("%s %s: %d, want %d: %v %v", method, path, got.StatusCode, want, out, err)
	}
	return out
}

func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(fields)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

// A program that was written for the engine's routes of context runs finds each of them, in the shapes that it knows.
func TestContextRunsAsTheEngineHasThem(t *testing.T) {
	e := start(t)
	is := func(what string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	const run = "/context/runs/r1"
	made := e.ask(t, 200, "POST", "/context/runs", fields{"run_id": "r1", "objective": "ship", "run_type": "tui", "source_client": "tui",
		"workspace": fields{"workspace_id": "w", "canonical_path": "/src/app", "lease_epoch": 1}, "mcp_servers": []string{"mail"},
		"modelProvider": "local"})
	is("status", at(made, "run", "status"), "queued")
	is("provider", at(made, "run", "model_provider"), "local")
	is("again", at(e.ask(t, 409, "POST", "/context/runs", fields{"run_id": "r1", "objective": "x"}), "code"), "conflict")
	put := e.ask(t, 200, "PUT", run, fields{"status": "running", "revision": 1, "why_next_step": "first",
		"steps": []fields{{"step_id": "a", "title": "A", "status": "in_progress"}, {"step_id": "b", "title": "B", "status": "pending"}}})
	is("revision", at(put, "run", "revision"), 2.0)
	is("step", at(put, "run", "steps", 0, "status"), "in_progress")
	e.ask(t, 409, "PUT", run, fields{"status": "paused", "revision": 1})
	said := e.ask(t, 200, "POST", run+"/events", fields{"type": "step_completed", "status": "running", "step_id": "a", "payload": fields{}})
	is("event", at(said, "event", "type"), "step_completed")
	is("a task's event", at(e.ask(t, 200, "POST", run+"/events", fields{"type": "context.task.created", "status": "running"}), "code"),
		"TASK_EVENT_APPEND_DISABLED")
	next := e.ask(t, 200, "POST", run+"/driver/next", fields{"dry_run": false})
	is("next", at(next, "selected_step_id"), "b")

	tasks := e.ask(t, 200, "POST", run+"/tasks", fields{"tasks": []fields{
		{"id": "t1", "task_type": "k", "command_id": "c", "payload": fields{"x": 1}},
		{"id": "t2", "task_type": "k", "depends_on_task_ids": []string{"t1"}}}})
	is("patch", at(tasks, "patches", 0, "op"), "add_task")
	is("waits", at(tasks, "tasks", 1, "status"), "pending")
	claim := e.ask(t, 200, "POST", run+"/tasks/claim", fields{"agent_id": "one", "lease_ms": 1})
	lease, _ := at(claim, "task", "lease_token").(string)
	is("claimed", at(claim, "task", "id"), "t1")
	is("nothing more", at(e.ask(t, 200, "POST", run+"/tasks/claim", fields{"agent_id": "two"}), "task"), nil)
	move := run + "/tasks/t1/transition"
	is("no lease", at(e.ask(t, 200, "POST", move, fields{"action": "complete"}), "code"), "TASK_LEASE_REQUIRED")
	is("another lease", at(e.ask(t, 200, "POST", move, fields{"action": "complete", "lease_token": "x"}), "code"), "TASK_LEASE_INVALID")
	is("revision", at(e.ask(t, 200, "POST", move, fields{"action": "complete", "lease_token": lease, "expected_task_rev": 1}), "code"),
		"TASK_REV_MISMATCH")
	done := e.ask(t, 200, "POST", move, fields{"action": "complete", "lease_token": lease, "expected_task_rev": 2, "command_id": "d"})
	is("done", at(done, "task", "status"), "done")
	is("free", at(done, "blackboard", "tasks", 1, "status"), "runnable")
	is("deduped", at(e.ask(t, 200, "POST", move, fields{"action": "complete", "command_id": "d"}), "deduped"), true)
	is("invalid", at(e.ask(t, 200, "POST", move, fields{"action": "retry"}), "code"), "TASK_TRANSITION_INVALID")

	fact := e.ask(t, 200, "POST", run+"/blackboard/patches", fields{"op": "add_fact", "payload": fields{"text": "it is blue"}})
	is("fact", at(fact, "blackboard", "facts", 0, "text"), "it is blue")
	is("summary", at(e.ask(t, 200, "POST", run+"/blackboard/patches", fields{"op": "set_rolling_summary", "payload": "so far"}), "blackboard",
		"summaries", "rolling"), "so far")
	is("patches", at(e.ask(t, 200, "GET", run+"/blackboard/patches?tail=1", nil), "patches", 0, "op"), "set_rolling_summary")
	check := e.ask(t, 200, "POST", run+"/checkpoints", fields{"reason": "why"})
	is("checkpoint", at(check, "checkpoint", "run_state", "run_id"), "r1")
	is("latest", at(e.ask(t, 200, "GET", run+"/checkpoints/latest", nil), "checkpoint", "checkpoint_id"), at(check, "checkpoint_id"))
	todos := e.ask(t, 200, "POST", run+"/todos/sync", fields{"replace": true, "todos": []fields{
		{"content": "Write it", "status": "completed"}}})
	is("todo", at(todos, "run", "steps", 0, "status"), "done")
	is("todos", len(at(todos, "run", "steps").([]any)), 1)
	is("here", at(e.ask(t, 200, "POST", run+"/lease/validate", fields{"phase": "p", "current_path": "/src/app"}), "mismatch"), false)
	is("elsewhere", at(e.ask(t, 200, "POST", run+"/lease/validate", fields{"phase": "p", "current_path": "/src/b"}), "status"), "paused")
	replay := e.ask(t, 200, "GET", run+"/replay", nil)
	is("drift", at(replay, "drift", "mismatch"), false)
	is("from a checkpoint", at(replay, "from_checkpoint"), true)
	is("replayed", at(replay, "replay", "status"), "paused")
	all := e.ask(t, 200, "GET", run+"/events?since_seq=0", nil)["events"].([]any)
	is("listed", at(e.ask(t, 200, "GET", "/context/runs?workspace=/src/app", nil), "runs", 0, "run_id"), "r1")
	is("read", at(e.ask(t, 200, "GET", run, nil), "run", "last_event_seq"), float64(len(all)))
	for _, path := range []string{run + "/ledger", run + "/governance-evidence", run + "/checkpoints/mutations"} {
		is(path, at(e.ask(t, 501, "GET", path, nil), "code"), "unbuilt")
	}
	e.ask(t, 404, "GET", "/context/runs/nobody", nil)

	one := e.frames(t, run+"/events/stream?since_seq=2", len(all)-1)
	is("greeting", one[0]["stream"], "context_run_events")
	is("first", at(one[1], "properties", "seq"), 3.0)
	many := e.frames(t, "/context/runs/events/stream?workspace=/src/app&run_ids=r1&tail=1", 2)
	is("kind", many[1]["kind"], "context_run_event")
	e.ask(t, 404, "GET", "/context/runs/events/stream?workspace=/src/app&run_ids=r2", nil)
}

// frames are the first events of a stream.
func (e engine) frames(t *testing.T, path string, n int) (out []fields) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", e.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	for lines := bufio.NewScanner(got.Body); len(out) < n && lines.Scan(); {
		if data, ok := strings.CutPrefix(lines.Text(), "data:"); ok {
			f := fields{}
			if err := json.Unmarshal([]byte(data), &f); err != nil {
				t.Fatal(err)
			}
			out = append(out, f)
		}
	}
	if len(out) < n {
		t.Fatalf("the stream %s ended with %d frames", path, len(out))
	}
	return out
}
