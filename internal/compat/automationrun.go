package compat

import (
	"strconv"
	"time"
)

// run is a run of an automation, as far as the clients know one.
type run struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Digest  string    `json:"digest"`
	Status  string    `json:"status"`
	Reason  string    `json:"reason"`
	Cause   string    `json:"cause"`
	BeganAt time.Time `json:"began_at"`
	EndedAt time.Time `json:"ended_at"`
	Tokens  int64     `json:"tokens"`
	Cost    float64   `json:"cost"`
	Steps   []step    `json:"steps"`
}

type step struct {
	Node, Kind, State, Ask, Session string
	Attempt                         int
	Input, Output                   obj
	Notes                           []string
}

// older are the words of the older families for where a run stands.
var older = map[string]string{"completed": "succeeded", "cancelled": "canceled", "paused": "queued"}

func (r run) record(family string) obj {
	done, open := []string{}, []string{}
	outputs, attempts, sessions := obj{}, obj{}, []string{}
	for _, s := range r.Steps {
		if s.State == "done" {
			done = append(done, s.Node)
		} else if s.State != "skipped" && s.State != "failed" {
			open = append(open, s.Node)
		}
		if s.Output != nil {
			outputs[s.Node] = s.Output
		}
		if attempts[s.Node] = s.Attempt; s.Session != "" {
			sessions = append(sessions, s.Session)
		}
	}
	status := r.Status
	check := obj{"completed_nodes": done, "pending_nodes": open, "node_outputs": outputs, "node_attempts": attempts}
	if g := r.gate(""); g != nil && status == "running" { // one client knows no word for it, and refuses the engine's
		check["awaiting_gate"] = obj{"node_id": g.Node, "request_id": g.Ask, "shows": g.Input}
	}
	if word := older[status]; word != "" && family != "/automations/v2" && family != "/workflows" {
		status = word
	}
	out := obj{"run_id": r.ID, "runID": r.ID, "id": r.ID, "automation_id": r.Name, "workflow_id": r.Name, "routine_id": r.Name,
		"status": status,
		"detail": r.Reason, "trigger_type": r.Cause, "created_at_ms": ms(r.BeganAt), "started_at_ms": ms(r.BeganAt), "checkpoint": check,
		"active_session_ids": sessions, "total_tokens": r.Tokens, "estimated_cost_usd": r.Cost, "workflow_definition_snapshot_hash": r.Digest}
	if !r.EndedAt.IsZero() {
		out["finished_at_ms"] = ms(r.EndedAt)
	}
	return out
}

// wrapped is one run as a family answers with it: the older ones want its fields on top, too.
func (r run) wrapped(family string) obj {
	record := r.record(family)
	out := obj{"ok": true, "run": record}
	if family != "/automations/v2" {
		for name, v := range record {
			out[name] = v
		}
	}
	return out
}

func listRuns(q *request, family string) (any, error) {
	var all struct{ Runs []run }
	in := obj{"limit": min(500, max(1, number(q.FormValue("limit"), 50)))}
	for _, name := range []string{q.PathValue("id"), q.FormValue("automation_id"), q.FormValue("routine_id"), q.FormValue("workflow_id")} {
		if name != "" && in["name"] == nil {
			in["name"] = name
		}
	}
	if err := q.call("automation.runs", in, &all); err != nil {
		return nil, err
	}
	list := []obj{}
	for _, r := range all.Runs {
		list = append(list, r.record(family))
	}
	return obj{"runs": list, "count": len(list)}, nil
}

func (q *request) run() (r run, err error) {
	return r, q.call("automation.trace", obj{"id": q.PathValue("run")}, &r)
}

func getRun(q *request, family string) (any, error) {
	r, err := q.run()
	if err != nil {
		return nil, err
	}
	return r.wrapped(family), nil
}

func runNow(q *request, family string) (any, error) {
	var dry bool
	if err := q.get(&dry, "dry_run", "dryRun"); err != nil {
		return nil, err
	}
	if dry { // what it would do is what a person was shown
		out, err := getAutomation(q, family)
		if err != nil {
			return nil, err
		}
		return obj{"ok": true, "dry_run": true, families[family].one: out.(obj)[families[family].one]}, nil
	}
	in := obj{"name": q.PathValue("id")}
	var input obj
	if err := q.get(&input, "input", "inputs"); err != nil {
		return nil, err
	}
	if input != nil {
		in["input"] = input
	}
	var r run
	if err := q.call("automation.run", in, &r); err != nil {
		return nil, err
	}
	return r.wrapped(family), nil
}

func steerRun(op string) func(*request, string) (any, error) {
	return func(q *request, family string) (any, error) {
		reason, err := q.text("reason")
		if err != nil {
			return nil, err
		}
		var r run
		if err := q.call(op, obj{"id": q.PathValue("run"), "reason": reason}, &r); err != nil {
			return nil, err
		}
		return r.wrapped(family), nil
	}
}

// decideGate answers the gate at which a run waits. Only a person who is present, or a token that decides, gets through.
func decideGate(word string) func(*request, string) (any, error) {
	return func(q *request, _ string) (any, error) {
		decision, err := q.text("decision")
		if err != nil {
			return nil, err
		}
		if word != "" {
			decision = word
		}
		reason, err := q.text("reason", "feedback")
		if err != nil {
			return nil, err
		}
		r, err := q.run()
		if err != nil {
			return nil, err
		}
		named, err := q.text("request_id", "requestID")
		if err != nil {
			return nil, err
		}
		node, err := q.text("node_id", "nodeID")
		if err != nil {
			return nil, err
		}
		ask, err := r.asked(named, node, verdicts[decision] == "cancel")
		if err != nil {
			return nil, err
		}
		q.SetPathValue("ask", ask)
		return q.decide(decision, reason)
	}
}

func retryTask(q *request, family string) (any, error) {
	reason, err := q.text("reason")
	if err != nil {
		return nil, err
	}
	var r run
	if err := q.call("automation.retry", obj{"id": q.PathValue("run"), "node": q.PathValue("node"), "reason": reason}, &r); err != nil {
		return nil, err
	}
	return r.wrapped(family), nil
}

func runArtifacts(q *request, _ string) (any, error) {
	var all struct {
		Artifacts []struct {
			ID, Name, Kind, Digest string
			Version                int
			MadeAt                 time.Time `json:"made_at"`
		}
	}
	if err := q.call("artifact.list", obj{"run": q.PathValue("run")}, &all); err != nil {
		return nil, err
	}
	list := []obj{}
	for _, a := range all.Artifacts {
		list = append(list, obj{"artifact_id": a.ID, "uri": "/artifacts/" + a.Name + "/body?version=" + strconv.Itoa(a.Version), "kind": a.Kind,
			"label": a.Name, "metadata": obj{"sha256": a.Digest}, "created_at_ms": ms(a.MadeAt)})
	}
	return obj{"artifacts": list, "count": len(list)}, nil
}
