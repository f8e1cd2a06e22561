package compat

import (
	"strings"

	"tandem/internal/fault"
	"tandem/internal/op"
	teams "tandem/internal/team/wire"
)

// A mission of the clients is a team of ours, and its instances are the lead and the jobs.
var missionRoutes = map[string]handler{
	"GET /mission":              listMissions,
	"POST /mission":             createMission,
	"GET /mission/{id}":         getMission,
	"POST /mission/{id}/event":  missionEvent,
	"GET /agent-team/missions":  listMissions,
	"GET /agent-team/instances": listInstances,
	"GET /agent-team/approvals": teamApprovals,
}

// maxMissions is how many of the newest a list has.
const maxMissions = 200

// teamWords and taskWords are the clients' words for where a mission and an item of its work stand.
var (
	teamWords = map[teams.State]string{teams.Planning: "draft", teams.Proposed: "draft", teams.Working: "running", teams.Paused: "paused",
		teams.Blocked: "paused", teams.Done: "succeeded", teams.Stopped: "canceled"}
	taskWords = map[teams.Stage]struct{ item, instance string }{teams.Waits: {"todo", "queued"}, teams.AtWork: {"in_progress", "running"},
		teams.Review: {"review", "running"}, teams.Queued: {"test", "running"}, teams.Merged: {"done", "completed"},
		teams.Failed: {"blocked", "failed"}, teams.Halted: {"blocked", "cancelled"}, teams.Dropped: {"blocked", "cancelled"}}
)

func missionRecord(t *teams.Team) obj {
	title, _, _ := strings.Cut(t.Goal, "\n")
	title = fault.Clip(title, 200)
	items, working := []obj{}, 0
	for _, k := range t.Tasks {
		item := obj{"work_item_id": k.Name, "title": k.Name, "detail": k.Text, "status": taskWords[k.Stage].item, "depends_on": k.After,
			"artifact_refs": []string{}}
		if k.After == nil {
			item["depends_on"] = []string{}
		}
		for name, v := range map[string]string{"assigned_agent": k.Agent, "run_id": k.Job, "reason": k.Reason} {
			if v != "" {
				item[name] = v
			}
		}
		if items = append(items, item); k.Stage == teams.AtWork {
			working++
		}
	}
	criteria := t.Criteria
	if criteria == nil {
		criteria = []string{}
	}
	return obj{"id": t.ID, "mission_id": t.ID, "missionID": t.ID, "title": title, "goal": t.Goal, "status": teamWords[t.State],
		"detail": t.Reason, "spec": obj{"mission_id": t.ID, "title": title, "goal": t.Goal, "success_criteria": criteria},
		"work_items": items, "revision": t.Version, "created_at_ms": ms(t.MadeAt), "updated_at_ms": ms(t.MovedAt),
		"instanceCount": len(items), "runningCount": working}
}

func missionAnswer(t *teams.Team, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return obj{"ok": true, "mission": missionRecord(t), "commands": []any{}}, nil
}

// teams are the newest, as far as the caller may see them.
func (q *request) teams() ([]*teams.Team, error) {
	out, err := op.Do(q.Context(), q.s.Gate, teams.List, teams.ListIn{})
	return out.Teams[:min(len(out.Teams), maxMissions)], err
}

func listMissions(q *request) (any, error) {
	all, err := q.teams()
	if err != nil {
		return nil, err
	}
	list := []obj{}
	for _, t := range all {
		list = append(list, missionRecord(t))
	}
	return obj{"missions": list, "count": len(list)}, nil
}

func getMission(q *request) (any, error) {
	return missionAnswer(op.Do(q.Context(), q.s.Gate, teams.Get, teams.IDIn{ID: q.PathValue("id")}))
}

// createMission starts a team. Its lead hears the items of work; what is done of them is in the plan, which a person approves.
func createMission(q *request) (any, error) {
	var title, goal, folder string
	var items []struct {
		Title, Detail string
		Agent         string `json:"assigned_agent"`
		AgentToo      string `json:"assignedAgent"`
	}
	for _, err := range []error{q.get(&title, "title"), q.get(&goal, "goal"), q.get(&items, "work_items", "workItems"),
		q.get(&folder, "workspace_root", "workspaceRoot", "directory")} {
		if err != nil {
			return nil, err
		}
	}
	if strings.TrimSpace(goal) == "" {
		return nil, fault.New(fault.Invalid, "team.start", "a mission has a goal").WithNext("send goal: what is true when it is reached")
	}
	folder, err := q.checkout(folder)
	if err != nil {
		return nil, err
	}
	words := []string{}
	if title = strings.TrimSpace(title); title != "" {
		words = append(words, title, "")
	}
	words = append(words, goal)
	for i, item := range items {
		if i == 0 {
			words = append(words, "", "Work that whoever asked for this has in mind:")
		}
		line := "- " + item.Title
		if item.Detail != "" {
			line += ": " + item.Detail
		}
		if agent := item.Agent + item.AgentToo; agent != "" {
			line += " (for " + agent + ")"
		}
		words = append(words, line)
	}
	return missionAnswer(op.Do(q.Context(), q.s.Gate, teams.Start, teams.StartIn{Goal: strings.Join(words, "\n"), Folder: folder}))
}

func missionEvent(q *request) (any, error) {
	event, err := q.within("event")
	if err != nil {
		return nil, err
	}
	kind, err := event.text("type")
	if err != nil {
		return nil, err
	}
	in := teams.IDIn{ID: q.PathValue("id")}
	switch kind {
	case "mission_paused":
		return missionAnswer(op.Do(q.Context(), q.s.Gate, teams.Pause, in))
	case "mission_resumed":
		return missionAnswer(op.Do(q.Context(), q.s.Gate, teams.Resume, teams.ResumeIn{ID: in.ID}))
	case "mission_canceled":
		return missionAnswer(op.Do(q.Context(), q.s.Gate, teams.Stop, in))
	case "":
		return nil, fault.New(fault.Invalid, "team.get", "an event has a type").
			WithNext("send mission_paused, mission_resumed or mission_canceled")
	}
	return q.lacks("what happens in a team tandem sees by itself", "send mission_paused, mission_resumed or mission_canceled; a person "+
		"who is present approves a plan: tandem team approve TEAM")
}

// listInstances are those who work: the leads, and the jobs of the tasks.
func listInstances(q *request) (any, error) {
	all, err := q.teams()
	if err != nil {
		return nil, err
	}
	list, mission, parent, status := []obj{}, q.FormValue("missionID"), q.FormValue("parentInstanceID"), q.FormValue("status")
	add := func(t *teams.Team, id, above, role, word string) {
		if id != "" && (mission == "" || mission == t.ID) && (parent == "" || parent == above) && (status == "" || status == word) {
			list = append(list, obj{"instanceID": id, "missionID": t.ID, "parentInstanceID": above, "role": role, "status": word})
		}
	}
	for _, t := range all {
		word := "running"
		if t.State.Over() {
			word = map[teams.State]string{teams.Done: "completed", teams.Stopped: "cancelled"}[t.State]
		}
		before := len(list)
		if add(t, t.Session, "", "orchestrator", word); len(list) > before {
			list[before]["sessionID"] = t.Session
		}
		for _, k := range t.Tasks {
			add(t, k.Job, t.Session, "worker", taskWords[k.Stage].instance)
		}
	}
	list = list[:min(len(list), 500)]
	return obj{"instances": list, "count": len(list)}, nil
}

// teamApprovals are the plans that wait for a person who is present, and the asks.
func teamApprovals(q *request) (any, error) {
	all, err := q.teams()
	if err != nil {
		return nil, err
	}
	asks, err := q.asks("pending")
	if err != nil {
		return nil, err
	}
	plans, tools := []obj{}, []obj{}
	for _, t := range all {
		if t.State == teams.Proposed {
			plans = append(plans, obj{"approvalID": t.ID, "missionID": t.ID, "status": "pending",
				"work_items": missionRecord(t)["work_items"]})
		}
	}
	for _, a := range asks {
		tools = append(tools, a.record())
	}
	return obj{"spawnApprovals": plans, "toolApprovals": tools, "count": len(plans) + len(tools)}, nil
}
