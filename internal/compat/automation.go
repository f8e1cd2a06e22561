package compat

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"tandem/internal/fault"
)

// The clients know automations under three names: automations (an older and a newer shape), routines and workflows. All are ours. Their
// paths overlap where net/http wants them apart, so each family is one route, and this table says what is behind it.

// automationRoute is a path below a family: a word in braces is anything.
type automationRoute struct {
	method, path string
	answer       func(q *request, family string) (any, error)
}

// families are where the clients look, and what each calls one and many of them.
var families = map[string]struct{ one, many string }{
	"/automations/v2": {"automation", "automations"}, "/automations": {"automation", "automations"},
	"/routines": {"routine", "routines"}, "/workflows": {"workflow", "workflows"},
}

// automationRoutes are what all families have. What is not in it is answered by unbuilt.
var automationRoutes = []automationRoute{
	{"GET", "", listAutomations},
	{"POST", "", createAutomation},
	{"GET", "/runs", listRuns},
	{"GET", "/runs/{run}", getRun},
	{"GET", "/runs/{run}/artifacts", runArtifacts},
	{"POST", "/runs/{run}/pause", steerRun("automation.pause")},
	{"POST", "/runs/{run}/resume", steerRun("automation.resume")},
	{"POST", "/runs/{run}/recover", steerRun("automation.resume")},
	{"POST", "/runs/{run}/cancel", steerRun("automation.cancel")},
	{"POST", "/runs/{run}/gate", decideGate("")},
	{"POST", "/runs/{run}/approve", decideGate("approve")},
	{"POST", "/runs/{run}/deny", decideGate("cancel")},
	{"POST", "/runs/{run}/tasks/{node}/retry", retryTask},
	{"GET", "/events", nil}, // and not an automation of that name
	{"GET", "/{id}", getAutomation},
	{"DELETE", "/{id}", removeAutomation},
	{"POST", "/{id}/run_now", runNow},
	{"POST", "/{id}/run", runNow},
	{"POST", "/{id}/pause", pauseAutomation},
	{"GET", "/{id}/runs", listRuns},
	{"GET", "/{id}/history", automationHistory},
	{"GET", "/{id}/handoffs", listHandoffs},
	{"GET", "/{id}/webhook-triggers", webhookTriggers},
	{"GET", "/{id}/webhook-triggers/{trigger}", webhookTriggers},
	{"GET", "/{id}/webhook-triggers/{trigger}/deliveries", webhookDeliveries},
}

// automationMounts are the routes of the families.
func automationMounts(s *Server, out map[string]http.Handler) {
	for family := range families {
		h := s.handle(func(q *request) (any, error) { return q.automation(family) })
		for _, method := range []string{"GET", "POST", "PATCH", "DELETE"} {
			out[method+" "+family] = h
			out[method+" "+family+"/{way...}"] = h
		}
	}
	hooks := s.handle(func(q *request) (any, error) { return unbuilt(q, "/workflow") })
	out["GET /workflow-hooks"], out["PATCH /workflow-hooks/{id}"] = hooks, hooks
}

// Described are the routes as the clients know them, for the description of the API; what answers that it is not built is left out.
func (s *Server) Described() map[string]http.Handler {
	out := s.Mounts()
	for family := range families {
		behind := out["GET "+family]
		maps.DeleteFunc(out, func(pattern string, _ http.Handler) bool {
			_, path, _ := strings.Cut(pattern, " ")
			return path == family || path == family+"/{way...}"
		})
		for _, r := range automationRoutes {
			if r.answer != nil {
				out[r.method+" "+family+r.path] = behind
			}
		}
	}
	maps.DeleteFunc(out, func(pattern string, _ http.Handler) bool { return strings.Contains(pattern, " /workflow-hooks") })
	for _, l := range lacking {
		for _, route := range l.routes {
			delete(out, route)
		}
	}
	return out
}

// automation answers one request of a family.
func (q *request) automation(family string) (any, error) {
	way := strings.TrimSuffix(strings.TrimPrefix(q.URL.Path, family), "/")
	for _, r := range automationRoutes {
		if r.method == q.Method && q.matches(r.path, way) {
			if r.answer == nil {
				break
			}
			return r.answer(q, family)
		}
	}
	return unbuilt(q, family)
}

// matches holds a path to a form, and keeps what stands for the words in braces.
func (q *request) matches(form, path string) bool {
	want, have := strings.Split(form, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return false
	}
	for i, w := range want {
		name, hole := strings.CutPrefix(w, "{")
		if !hole && w != have[i] || hole && have[i] == "" {
			return false
		}
		if hole {
			q.SetPathValue(strings.TrimSuffix(name, "}"), have[i])
		}
	}
	return true
}

// unbuilt says that there is no such thing here, and what to do instead.
func unbuilt(q *request, family string) (any, error) {
	next := "definitions are files: tandem automation check FILE, then tandem automation add FILE, or POST /automation with its text"
	switch way := strings.TrimPrefix(q.URL.Path, family); {
	case strings.HasSuffix(way, "/resume"):
		next = "a person looks at what it may do and switches it on: tandem automation on NAME"
	case strings.HasSuffix(way, "/events"):
		next = "read GET /event, or ask for the run again"
	case strings.Contains(way, "webhook-triggers"):
		next = "a person makes the address of a webhook: tandem automation hook NAME"
	case strings.Contains(way, "/tasks/"), strings.HasSuffix(way, "/repair"):
		next = "a person mends a step: tandem automation runs retry, skip or accept"
	case strings.Contains(way, "graduation"), strings.Contains(way, "artifacts"):
		next = "what runs made: tandem artifact list, or GET /artifacts"
	}
	return q.lacks("automations here have no such part", next)
}

// automation is one of ours, as far as the clients know it.
type automation struct {
	Name       string    `json:"name"`
	Title      string    `json:"title"`
	On         bool      `json:"on"`
	Live       string    `json:"live"`
	Latest     string    `json:"latest"`
	Triggers   []string  `json:"triggers"`
	Text       string    `json:"text"`
	MadeBy     string    `json:"made_by"`
	MadeAt     time.Time `json:"made_at"`
	SwitchedAt time.Time `json:"switched_at"`
}

func (a automation) record(family string) obj {
	status := map[bool]string{true: "active", false: "paused"}[a.On]
	switch {
	case family != "/automations/v2":
		status = map[bool]string{true: "enabled", false: "disabled"}[a.On]
	case a.SwitchedAt.IsZero():
		status = "draft"
	}
	name := a.Title
	if name == "" {
		name = a.Name
	}
	changed := a.MadeAt
	if a.SwitchedAt.After(changed) {
		changed = a.SwitchedAt
	}
	out := obj{"id": a.Name, "automation_id": a.Name, "name": name, "status": status, "triggers": a.Triggers, "creator_id": a.MadeBy,
		"created_at_ms": ms(a.MadeAt), "updated_at_ms": ms(changed), "workflow_definition_version": a.Live}
	if a.Text != "" {
		out["definition"] = a.Text
	}
	return out
}

func listAutomations(q *request, family string) (any, error) {
	var all struct{ Automations []automation }
	if err := q.call("automation.list", obj{}, &all); err != nil {
		return nil, err
	}
	list := []obj{}
	for _, a := range all.Automations {
		if scheduled := func(t string) bool { return !strings.HasPrefix(t, "webhook ") && !strings.HasPrefix(t, "event ") }; family !=
			"/routines" || slices.ContainsFunc(a.Triggers, scheduled) { // a routine is what begins by the clock
			list = append(list, a.record(family))
		}
	}
	return obj{families[family].many: list, "count": len(list)}, nil
}

func getAutomation(q *request, family string) (any, error) {
	var a automation
	if err := q.call("automation.show", obj{"name": q.PathValue("id")}, &a); err != nil {
		return nil, err
	}
	return obj{families[family].one: a.record(family)}, nil
}

func removeAutomation(q *request, _ string) (any, error) {
	err := q.call("automation.remove", obj{"name": q.PathValue("id")}, nil)
	return obj{"ok": true, "deleted": true}, err
}

func pauseAutomation(q *request, family string) (any, error) {
	var a automation
	if err := q.call("automation.off", obj{"name": q.PathValue("id")}, &a); err != nil {
		return nil, err
	}
	return obj{"ok": true, families[family].one: a.record(family)}, nil
}

func automationHistory(q *request, _ string) (any, error) {
	var out struct{ Ticks []obj }
	if err := q.call("automation.ticks", obj{"name": q.PathValue("id")}, &out); err != nil {
		return nil, err
	}
	return obj{"history": out.Ticks, "count": len(out.Ticks)}, nil
}

func webhookTriggers(q *request, _ string) (any, error) {
	var out struct {
		Hooks []struct {
			Trigger, Scheme   string
			Made              bool
			Accepted, Refused int64
		}
	}
	if err := q.call("automation.hooks", obj{"name": q.PathValue("id")}, &out); err != nil {
		return nil, err
	}
	list := []obj{}
	for _, h := range out.Hooks {
		one := obj{"trigger_id": h.Trigger, "automation_id": q.PathValue("id"), "provider": h.Scheme, "enabled": h.Made,
			"accepted_count": h.Accepted, "rejected_count": h.Refused}
		if h.Trigger == q.PathValue("trigger") {
			return obj{"trigger": one}, nil
		}
		list = append(list, one)
	}
	if q.PathValue("trigger") != "" {
		return nil, fault.New(fault.NotFound, "automation.hooks", "there is no webhook %.64q", q.PathValue("trigger")).
			WithNext("see which there are: tandem automation hooks NAME")
	}
	return obj{"triggers": list, "count": len(list)}, nil
}

func webhookDeliveries(q *request, _ string) (any, error) {
	var out struct {
		Deliveries []struct {
			ID, Trigger, Kind, Run, Why string
			At                          time.Time
		}
	}
	if err := q.call("automation.hooks", obj{"name": q.PathValue("id")}, &out); err != nil {
		return nil, err
	}
	list := []obj{}
	for _, d := range out.Deliveries {
		if d.Trigger == q.PathValue("trigger") && len(list) < number(q.FormValue("limit"), 50) {
			list = append(list, obj{"delivery_id": d.ID, "trigger_id": d.Trigger, "event_type": d.Kind, "run_id": d.Run, "detail": d.Why,
				"received_at_ms": ms(d.At)})
		}
	}
	return obj{"deliveries": list, "count": len(list)}, nil
}

// listHandoffs are what runs wait for and what was handed over. Nothing is approved here before it is taken, and no folders are kept.
func listHandoffs(q *request, _ string) (any, error) {
	var out struct {
		Handoffs []struct {
			Run, Node, Handoff, State, By string
			At                            time.Time
		}
	}
	if err := q.call("automation.handoffs", obj{"name": q.PathValue("id")}, &out); err != nil {
		return nil, err
	}
	approved, archived := []obj{}, []obj{}
	for _, h := range out.Handoffs {
		one := obj{"handoff_id": h.Run + "." + h.Handoff, "target_automation_id": q.PathValue("id"), "consumed_by_run_id": h.Run,
			"node_id": h.Node, "artifact_type": h.Handoff, "source_automation_id": h.By, "created_at_ms": ms(h.At), "status": h.State}
		switch h.State {
		case "handed":
			approved = append(approved, one)
		case "taken":
			archived = append(archived, one)
		}
	}
	return obj{"automation_id": q.PathValue("id"), "workspace_root": "", "inbox": []obj{}, "approved": approved, "archived": archived,
		"handoff_config": obj{"inbox_dir": "", "approved_dir": "", "archived_dir": "", "auto_approve": true},
		"counts":         obj{"inbox": 0, "approved": len(approved), "archived": len(archived), "total": len(approved) + len(archived)}}, nil
}
