package panel

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/panel/ui"
	"tandem/internal/session"
	"tandem/internal/session/relay"
)

func relaysNav() page {
	return page{id: "relays", label: "Relays", href: "/panel/relays", icon: "relay", key: "g l", needs: string(relay.RelayList),
		routes: relayRoutes}
}

func relayRoutes(p *Panel) {
	p.get("/panel/relays", func(v *visit) error { return v.relays("") })
	p.get("/panel/relays/{id}", func(v *visit) error { return v.relay(v.r.PathValue("id"), "") })
	perform(p, "/panel/relays", relay.RelayStart, relayInput,
		func(v *visit, _ relay.StartIn, made *relay.Relay) error {
			return v.go303(relayHref(made.ID), "relay-started")
		},
		func(v *visit, err error) error { return v.relays(words(err)) })
	said := func(v *visit) (relay.TextIn, error) {
		return relay.TextIn{ID: v.r.PathValue("id"), Text: v.r.PostFormValue("text")}, nil
	}
	onRelay(p, "enqueue", relay.RelayEnqueue, "relay-queued", said)
	onRelay(p, "inject", relay.RelayInject, "relay-told", said)
	onRelay(p, "stop", relay.RelayStop, "relay-stopped", func(v *visit) (relay.IDIn, error) {
		return relay.IDIn{ID: v.r.PathValue("id")}, nil
	})
}

// onRelay is a form on one relay, which leads back to it.
func onRelay[In, Out any](p *Panel, verb string, d op.Def[In, Out], said string, input func(*visit) (In, error)) {
	perform(p, "/panel/relays/{id}/"+verb, d, input,
		func(v *visit, _ In, _ Out) error { return v.go303(relayHref(v.r.PathValue("id")), said) },
		func(v *visit, err error) error { return v.relay(v.r.PathValue("id"), words(err)) })
}

func relayHref(id string) string { return "/panel/relays/" + pathEscape(id) }

// RelayRow is a relay in a list.
type RelayRow struct {
	ID, Status, Task, Folder string
	Progress                 string
	Question                 string
	Waiting                  int // tasks in the queue
	Changed                  time.Time
}

func relayRow(r *relay.Relay) RelayRow {
	return RelayRow{ID: r.ID, Status: string(r.Status), Task: firstLine(r.Task), Folder: r.Folder,
		Progress: fmt.Sprintf("task %d, turn %d of %d", r.TaskNo, r.Turn, r.Turns), Question: r.Question, Waiting: len(r.Queue),
		Changed: r.UpdatedAt}
}

func (r RelayRow) over() bool {
	return relay.Status(r.Status).Over()
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
	list, err := ask(v, relay.RelayList, session.Nothing{})
	if err != nil {
		return err
	}
	out := RelaysView{Now: v.now(), May: v.has(string(relay.RelayStart)), Problem: problem}
	for i := len(list.Relays) - 1; i >= 0; i-- { // newest first
		out.Rows = append(out.Rows, relayRow(list.Relays[i]))
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
	r, err := ask(v, relay.RelayRead, relay.ReadIn{ID: id})
	if err != nil {
		return err
	}
	out := RelayView{RelayRow: relayRow(&r.Relay), Now: v.now(), Mission: r.Mission, Reason: r.Reason, Summary: r.Summary, Queue: r.Queue,
		May: v.has(string(relay.RelayEnqueue)), Problem: problem,
		LeadHref: sessionHref(r.Lead), WorkerHref: sessionHref(r.Worker)}
	for i := len(r.Log) - 1; i >= 0; i-- {
		e := r.Log[i]
		out.Log = append(out.Log, RelayStep{e.Step, e.Task, e.Role, e.Text, e.At})
	}
	out.Facts = []ui.Pair{{Key: "Folder", Value: r.Folder, Mono: true}, {Key: "Progress", Value: out.Progress},
		{Key: "Turns in all", Value: strconv.FormatInt(r.Step, 10)},
		{Key: "Time for a task", Value: r.Budget.String()}}
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

func relayInput(v *visit) (relay.StartIn, error) {
	form := v.r.PostFormValue
	in := relay.StartIn{Task: form("task"), Mission: form("mission"), Cwd: form("cwd"),
		Lead:   relay.Side{Agent: form("lead"), Model: form("lead-model")},
		Worker: relay.Side{Agent: form("worker"), Model: form("worker-model")}}
	if s := form("turns"); s != "" {
		var err error
		if in.Turns, err = strconv.ParseInt(s, 10, 32); err != nil {
			return in, fault.New(fault.Invalid, string(relay.RelayStart), "turns should be a number")
		}
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
