package panel

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"time"

	"tandem/internal/fault"
	"tandem/internal/panel/ui"
)

// terminalRoutes are what only sessions with a program in a terminal have.
func terminalRoutes(p *Panel) {
	p.get("/panel/sessions/{id}/terminal", func(v *visit) error { return v.terminal(v.r.PathValue("id"), "") })
	p.act(act{pattern: "/panel/sessions/open", op: "session.open", input: openInput,
		done: func(v *visit, _ any, out json.RawMessage) error {
			var made wireProgram
			if err := json.Unmarshal(out, &made); err != nil {
				return err
			}
			return v.go303(sessionHref(made.Session)+"/terminal", "")
		},
		refused: func(v *visit, err error) error { return v.sessions(words(err)) }})
	on := func(verb, op, said string, input func(v *visit) (any, error)) {
		p.act(act{pattern: "/panel/sessions/{id}/" + verb, op: op, input: input,
			done: func(v *visit, _ any, _ json.RawMessage) error {
				return v.go303(sessionHref(v.r.PathValue("id"))+"/terminal", said)
			},
			refused: func(v *visit, err error) error { return v.terminal(v.r.PathValue("id"), words(err)) }})
	}
	byID := func(v *visit) (any, error) { return map[string]any{"id": v.r.PathValue("id")}, nil }
	on("take", "session.take", "terminal-taken", byID)
	on("release", "session.release", "terminal-back", byID)
	on("close", "session.close", "terminal-closed", func(v *visit) (any, error) {
		seat, err := v.program(v.r.PathValue("id"))
		if err != nil || seat == nil {
			return nil, noTerminal
		}
		return map[string]any{"name": seat.Name}, nil
	})
	p.mux.HandleFunc("POST /panel/sessions/{id}/type", p.page((*visit).typed))
}

// resumeInput starts a session's program again, in the same conversation.
func resumeInput(v *visit) (any, error) {
	seat, err := v.program(v.r.PathValue("id"))
	if err != nil || seat == nil {
		return nil, noTerminal
	}
	return map[string]any{"name": seat.Name, "resume": true}, nil
}

var noTerminal = fault.New(fault.NotFound, "panel", "This session has no terminal.")

// maxTyped is how much one request may type.
const maxTyped = 192 << 10

// typed takes keys for a terminal that this browser took over.
func (v *visit) typed() error {
	if v.keyless {
		return v.failJSON(fault.New(fault.Denied, "panel", "this browser has no key yet").
			WithNext("give the terminal back and take it over again"))
	}
	data, err := base64.StdEncoding.DecodeString(v.r.PostFormValue("data"))
	if err != nil || len(data) == 0 || len(data) > maxTyped {
		return v.failJSON(fault.New(fault.Invalid, "panel", "nothing was typed"))
	}
	o := v.p.Gate.Table().Get("session.type")
	if o == nil {
		return v.failJSON(noTerminal)
	}
	body, err := json.Marshal(map[string]any{"id": v.r.PathValue("id"), "data": data})
	if err != nil {
		return err
	}
	in, err := o.Decode(body)
	if err != nil {
		return v.failJSON(err)
	}
	if _, err := v.p.Gate.Admit(v.ctx, o.Name, in); err != nil {
		return v.failJSON(err)
	}
	return v.json(http.StatusOK, map[string]bool{"ok": true})
}

// wireProgram is a program in its terminal, as session.live tells it.
type wireProgram struct {
	Name     string    `json:"name"`
	Session  string    `json:"session"`
	Agent    string    `json:"agent"`
	Version  string    `json:"version"`
	State    string    `json:"state"`
	Signal   string    `json:"signal"`
	Detail   string    `json:"detail"`
	Outcome  string    `json:"outcome"`
	EndedBy  string    `json:"ended_by"`
	Since    time.Time `json:"since"`
	Confined string    `json:"confined"`
	Boundary string    `json:"boundary"`
	Check    string    `json:"check"`
	Skip     bool      `json:"skip_permissions"`
	Relay    string    `json:"relay"`
	Held     string    `json:"held_by"`
	Attach   string    `json:"attach"`
	Effort   string    `json:"effort"`
	ClosedAt time.Time `json:"closed_at"`
}

// programs are all sessions with a program, by session.
func (v *visit) programs() (map[string]wireProgram, error) {
	if !v.has("session.live") {
		return nil, nil
	}
	list, err := call[struct{ Sessions []wireProgram }](v, "session.live", map[string]any{"recent": 200})
	out := map[string]wireProgram{}
	for _, s := range list.Sessions {
		out[s.Session] = s
	}
	return out, err
}

func (v *visit) program(id string) (*wireProgram, error) {
	all, err := v.programs()
	if s, ok := all[id]; ok {
		return &s, err
	}
	return nil, err
}

// ProgramView is a session's program as people see it.
type ProgramView struct {
	Name, Agent, State, Signal, Detail string
	Since                              time.Time
	Relay, Held                        string
	Attach                             string
	Closed                             bool
}

func (s wireProgram) view() *ProgramView {
	return &ProgramView{Name: s.Name, Agent: s.Agent, State: s.State, Signal: s.Signal, Detail: s.Detail, Since: s.Since, Relay: s.Relay,
		Held: s.Held, Attach: s.Attach, Closed: !s.ClosedAt.IsZero()}
}

// facts are what the page's margin says of a program.
func (s wireProgram) facts() []ui.Pair {
	program := s.Agent
	if s.Version != "" {
		program += " " + s.Version
	}
	out := []ui.Pair{{Key: "Program", Value: program}, {Key: "State", Value: s.State + ", by " + s.Signal},
		{Key: "Confined", Value: s.Confined + ": " + s.Boundary}}
	if s.Check != "" {
		out = append(out, ui.Pair{Key: "Signals", Value: s.Check})
	}
	if s.Skip {
		out = append(out, ui.Pair{Key: "Permissions", Value: "skipped, as was granted"})
	}
	if s.Effort != "" {
		out = append(out, ui.Pair{Key: "Effort", Value: s.Effort})
	}
	if s.Outcome != "" {
		out = append(out, ui.Pair{Key: "Last turn", Value: s.Outcome + ", by " + s.EndedBy})
	}
	if s.ClosedAt.IsZero() {
		out = append(out, ui.Pair{Key: "Attach", Value: s.Attach, Mono: true, Copy: true})
	}
	return out
}

// TerminalView is a session's terminal, live.
type TerminalView struct {
	SessionRow
	Now      time.Time
	Program  ProgramView
	Follow   string // the address of its stream
	Text     string // what the screen shows, for who sees no more
	Mine     bool   // this browser took it over
	May      bool   // the viewer may prompt it
	Open     int    // turns that have not ended
	Asks     []AskRow
	Ask      *AskView
	Asked    []QuestionView
	Facts    []ui.Pair
	PIN      bool
	Passkeys int
	Problem  string
}

func (v *visit) terminal(id, problem string) error {
	ses, err := call[wireSession](v, "session.get", map[string]any{"id": id})
	if err != nil {
		return err
	}
	seat, err := v.program(id)
	if err != nil {
		return err
	}
	if seat == nil {
		return noTerminal
	}
	out := TerminalView{SessionRow: ses.row(seat.State), Now: v.now(), Program: *seat.view(), May: v.has("session.prompt") && !ses.Archived &&
		seat.Relay == "", Problem: problem}
	if !out.Program.Closed {
		screen, err := call[struct {
			Text string
			Mine bool
		}](v, "session.screen", map[string]any{"id": id})
		if err != nil {
			return err
		}
		out.Text, out.Mine, out.Follow = screen.Text, screen.Mine, "/sessions/"+pathEscape(id)+"/terminal"
	}
	turns, err := call[wireTurns](v, "session.turns", map[string]any{"id": id})
	if err != nil {
		return err
	}
	for _, t := range turns.Turns {
		if t.EndedAt == nil {
			out.Open++
		}
	}
	calls, err := v.sessionCalls(id, turns)
	if err != nil {
		return err
	}
	if out.Asks, err = v.asksOf(turns, calls); err != nil {
		return err
	}
	if out.Ask, err = v.firstAsk(out.Asks, sessionHref(id)+"/terminal"); err != nil {
		return err
	}
	if out.Asked, err = v.questionsOf(id); err != nil {
		return err
	}
	m, err := v.means()
	if err != nil {
		return err
	}
	out.PIN, out.Passkeys = m.PIN, m.Passkeys
	out.Facts = append(seat.facts(), sessionFacts(ses, turns.Turns)...)
	s := v.shell("sessions", ses.Title)
	s.Here = sessionHref(id) + "/terminal"
	s.Back = &ui.Crumb{Label: "Sessions", Href: "/panel/sessions"}
	return v.show(terminalPage(s, out))
}

func openInput(v *visit) (any, error) {
	in := map[string]any{}
	for field, name := range map[string]string{"agent": "agent", "name": "name", "agent-model": "model", "effort": "effort", "cwd": "cwd"} {
		if s := v.r.PostFormValue(field); s != "" {
			in[name] = s
		}
	}
	return in, nil
}

// sessionTabs lead from the words of a session to its terminal and back.
func sessionTabs(id string, terminal bool) []ui.Tab {
	return []ui.Tab{{Label: "Conversation", Href: sessionHref(id), Active: !terminal},
		{Label: "Terminal", Href: sessionHref(id) + "/terminal", Active: terminal}}
}

func programTone(state string) ui.Tone {
	switch state {
	case "starting", "working":
		return ui.Info
	case "needs permission", "asking", "dialog open", "retrying", "rate-limited", "hung":
		return ui.Warn
	case "ready":
		return ui.Good
	case "crashed":
		return ui.Bad
	}
	return turnTone(state)
}
