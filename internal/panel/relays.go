package panel

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/panel/ui"
)

func relaysNav() page {
	return page{id: "relays", label: "Relays", href: "/panel/relays", icon: "relay", key: "g l", needs: "relay.list", routes: func(p *Panel) {
		p.get("/panel/relays", func(v *visit) error { return v.relays("") })
		p.get("/panel/relays/{id}", func(v *visit) error { return v.relay(v.r.PathValue("id"), "") })
		p.act(act{pattern: "/panel/relays", op: "relay.start", input: relayInput,
			done: func(v *visit, _ any, out json.RawMessage) error {
				var made wireRelay
				if err := json.Unmarshal(out, &made); err != nil {
					return err
				}
				return v.go303(relayHref(made.ID), "relay-started")
			},
			refused: func(v *visit, err error) error { return v.relays(words(err)) }})
		on := func(verb, op, said string, text bool) {
			p.act(act{pattern: "/panel/relays/{id}/" + verb, op: op,
				input: func(v *visit) (any, error) {
					in := map[string]any{"loopId": v.r.PathValue("id")}
					if text {
						in["text"] = v.r.PostFormValue("text")
					}
					return in, nil
				},
				done:    func(v *visit, _ any, _ json.RawMessage) error { return v.go303(relayHref(v.r.PathValue("id")), said) },
				refused: func(v *visit, err error) error { return v.relay(v.r.PathValue("id"), words(err)) }})
		}
		on("enqueue", "relay.enqueue", "relay-queued", true)
		on("inject", "relay.inject", "relay-told", true)
		on("stop", "relay.stop", "relay-stopped", false)
	}}
}

func relayHref(id string) string { return "/panel/relays/" + pathEscape(id) }

type wireRelay struct {
	ID       string    `json:"loopId"`
	Status   string    `json:"status"`
	Mission  string    `json:"mission"`
	Task     string    `json:"task"`
	TaskNo   int64     `json:"task_no"`
	Turn     int64     `json:"turn"`
	Turns    int64     `json:"max_turns"`
	Question string    `json:"question"`
	Reason   string    `json:"blockedReason"`
	Summary  string    `json:"summary"`
	Queue    []string  `json:"queue"`
	Lead     string    `json:"lead"`
	Worker   string    `json:"worker"`
	Folder   string    `json:"cwd"`
	Step     int64     `json:"step"`
	Next     string    `json:"next"`
	Budget   int64     `json:"budget_ns"`
	Since    time.Time `json:"task_since"`
	Deadline time.Time `json:"deadline"`
	Changed  time.Time `json:"updated_at"`
	Log      []struct {
		Step int64     `json:"step"`
		Task int64     `json:"task"`
		Role string    `json:"role"`
		Text string    `json:"text"`
		At   time.Time `json:"at"`
	} `json:"log"`
}

// RelayRow is a relay in a list.
type RelayRow struct {
	ID, Status, Task, Folder string
	Progress                 string
	Question                 string
	Waiting                  int // tasks in the queue
	Changed                  time.Time
}

func (r wireRelay) row() RelayRow {
	return RelayRow{ID: r.ID, Status: r.Status, Task: firstLine(r.Task), Folder: r.Folder,
		Progress: fmt.Sprintf("task %d, turn %d of %d", r.TaskNo, r.Turn, r.Turns), Question: r.Question, Waiting: len(r.Queue),
		Changed: r.Changed}
}

func (r RelayRow) over() bool {
	return r.Status == "blocked" || r.Status == "done" || r.Status == "stopped"
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if len(s) > 160 {
		s = strings.ToValidUTF8(s[:160], "") + "…"
	}
	return s
}

// RelaysView is the list of relays.
type RelaysView struct {
	Now     time.Time
	Rows    []RelayRow
	May     bool
	Problem string
}

func (v *visit) relays(problem string) error {
	list, err := call[struct{ Relays []wireRelay }](v, "relay.list", nil)
	if err != nil {
		return err
	}
	out := RelaysView{Now: v.now(), May: v.has("relay.start"), Problem: problem}
	for i := len(list.Relays) - 1; i >= 0; i-- { // newest first
		out.Rows = append(out.Rows, list.Relays[i].row())
	}
	s := v.shell("relays", "Relays")
	if problem != "" {
		s.Here = "/panel/relays"
	}
	return v.show(relaysPage(s, out))
}

// RelayView is a relay whole.
type RelayView struct {
	RelayRow
	Now     time.Time
	Mission string
	Reason  string
	Summary string
	Queue   []string
	Log     []RelayStep
	Facts   []ui.Pair
	May     bool
	Problem string

	LeadHref, WorkerHref string
}

// RelayStep is a turn of one of the two.
type RelayStep struct {
	Step       int64
	Task       int64
	Role, Text string
	At         time.Time
}

func (v *visit) relay(id, problem string) error {
	r, err := call[wireRelay](v, "relay.read", map[string]any{"loopId": id})
	if err != nil {
		return err
	}
	out := RelayView{RelayRow: r.row(), Now: v.now(), Mission: r.Mission, Reason: r.Reason, Summary: r.Summary, Queue: r.Queue,
		May: v.has("relay.enqueue"), Problem: problem,
		LeadHref: sessionHref(r.Lead), WorkerHref: sessionHref(r.Worker)}
	for i := len(r.Log) - 1; i >= 0; i-- {
		e := r.Log[i]
		out.Log = append(out.Log, RelayStep{e.Step, e.Task, e.Role, e.Text, e.At})
	}
	out.Facts = []ui.Pair{{Key: "Folder", Value: r.Folder, Mono: true}, {Key: "Progress", Value: out.Progress},
		{Key: "Turns in all", Value: strconv.FormatInt(r.Step, 10)},
		{Key: "Time for a task", Value: time.Duration(r.Budget).String()}}
	if r.Next != "" {
		out.Facts = append(out.Facts, ui.Pair{Key: "Now", Value: "the " + r.Next + "'s turn"})
	}
	if !r.Deadline.IsZero() && !out.over() {
		out.Facts = append(out.Facts, ui.Pair{Key: "Waits until", Value: ui.Stamp(r.Deadline)})
	}
	out.Facts = append(out.Facts, ui.Pair{Key: "Relay", Value: r.ID, Mono: true, Copy: true})
	s := v.shell("relays", out.Task)
	s.Here = relayHref(id)
	s.Back = &ui.Crumb{Label: "Relays", Href: "/panel/relays"}
	return v.show(relayPage(s, out))
}

func relayInput(v *visit) (any, error) {
	form := v.r.PostFormValue
	in := map[string]any{"task": form("task"), "lead": map[string]string{"agent": form("lead"), "model": form("lead-model")},
		"worker": map[string]string{"agent": form("worker"), "model": form("worker-model")}}
	for _, name := range []string{"mission", "cwd"} {
		if s := form(name); s != "" {
			in[name] = s
		}
	}
	if s := form("turns"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			return nil, fault.New(fault.Invalid, "relay.start", "turns should be a number")
		}
		in["max_turns"] = n
	}
	return in, nil
}

func relayTone(status string) ui.Tone {
	switch status {
	case "running":
		return ui.Info
	case "needs input", "blocked", "parked": // each waits for somebody
		return ui.Warn
	case "done":
		return ui.Good
	}
	return ui.Quiet
}
