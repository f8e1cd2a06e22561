package panel

import (
	"encoding/base64"
	"net/http"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/panel/ui"
	"tandem/internal/session"
	"tandem/internal/session/terminal"
)

// terminalRoutes are what only sessions with a program in a terminal have.
func terminalRoutes(p *Panel) {
	p.get("/panel/sessions/{id}/terminal", func(v *visit) error { return v.terminal(v.r.PathValue("id"), "") })
	perform(p, "/panel/sessions/open", terminal.SessionOpen, openInput,
		func(v *visit, _ terminal.OpenIn, made terminal.Seat) error {
			return v.go303(sessionHref(made.Session)+"/terminal", "")
		},
		func(v *visit, err error) error { return v.sessions(words(err)) })
	byID := func(v *visit) (terminal.WatchIn, error) { return terminal.WatchIn{ID: v.r.PathValue("id")}, nil }
	onTerminal(p, "take", terminal.SessionTake, "terminal-taken", byID)
	onTerminal(p, "release", terminal.SessionRelease, "terminal-back", byID)
	onTerminal(p, "close", terminal.SessionClose, "terminal-closed", func(v *visit) (terminal.NameIn, error) {
		seat, err := v.program(v.r.PathValue("id"))
		if err != nil || seat == nil {
			return terminal.NameIn{}, noTerminal
		}
		return terminal.NameIn{Name: seat.Name}, nil
	})
	p.mux.HandleFunc("POST /panel/sessions/{id}/type", p.page((*visit).typed))
}

// onTerminal is a form on one terminal, which leads back to it.
func onTerminal[In, Out any](p *Panel, verb string, d op.Def[In, Out], said string, input func(*visit) (In, error)) {
	perform(p, "/panel/sessions/{id}/"+verb, d, input,
		func(v *visit, _ In, _ Out) error { return v.go303(sessionHref(v.r.PathValue("id"))+"/terminal", said) },
		func(v *visit, err error) error { return v.terminal(v.r.PathValue("id"), words(err)) })
}

// resumeInput starts a session's program again, in the same conversation.
func resumeInput(v *visit) (terminal.OpenIn, error) {
	seat, err := v.program(v.r.PathValue("id"))
	if err != nil || seat == nil {
		return terminal.OpenIn{}, noTerminal
	}
	return terminal.OpenIn{Name: seat.Name, Resume: true}, nil
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
	if v.p.Gate.Table().Get(string(terminal.SessionType)) == nil {
		return v.failJSON(noTerminal)
	}
	if _, err := v.p.Gate.Admit(v.ctx, string(terminal.SessionType), terminal.TypeIn{ID: v.r.PathValue("id"), Data: data}); err != nil {
		return v.failJSON(err)
	}
	return v.json(http.StatusOK, map[string]bool{"ok": true})
}

// programs are all sessions with a program, by session.
func (v *visit) programs() (map[string]*terminal.Seat, error) {
	if !v.has(string(terminal.SessionLive)) {
		return nil, nil
	}
	list, err := ask(v, terminal.SessionLive, terminal.LiveIn{Recent: 200})
	out := map[string]*terminal.Seat{}
	for i := range list.Sessions {
		out[list.Sessions[i].Session] = &list.Sessions[i]
	}
	return out, err
}

func (v *visit) program(id string) (*terminal.Seat, error) {
	all, err := v.programs()
	return all[id], err
}

// ProgramView is a session's program as people see it.
type ProgramView struct {
	Name, Agent, State, Signal, Detail string
	Since                              time.Time
	Relay, Held                        string
	Attach                             string
	Closed                             bool
}

func programView(s *terminal.Seat) *ProgramView {
	return &ProgramView{Name: s.Name, Agent: s.Agent, State: string(s.State), Signal: s.Signal, Detail: s.Detail, Since: s.Since,
		Relay: s.Relay, Held: s.Held, Attach: s.Attach, Closed: !s.ClosedAt.IsZero()}
}

// programFacts are what the page's margin says of a program.
func programFacts(s *terminal.Seat) []ui.Pair {
	program := s.Agent
	if s.Version != "" {
		program += " " + s.Version
	}
	out := []ui.Pair{{Key: "Program", Value: program}, {Key: "State", Value: string(s.State) + ", by " + s.Signal},
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
	ses, err := ask(v, session.SessionGet, session.IDIn{ID: id})
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
	out := TerminalView{SessionRow: sessionRow(ses, string(seat.State)), Now: v.now(), Program: *programView(seat),
		May: v.has(string(session.SessionPrompt)) && !ses.Archived && seat.Relay == "", Problem: problem}
	if !out.Program.Closed {
		screen, err := ask(v, terminal.SessionScreen, terminal.WatchIn{ID: id})
		if err != nil {
			return err
		}
		out.Text, out.Mine, out.Follow = screen.Text, screen.Mine, "/sessions/"+pathEscape(id)+"/terminal"
	}
	turns, err := ask(v, session.SessionTurns, session.TurnIn{ID: id})
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
	out.Facts = append(programFacts(seat), sessionFacts(ses, ses.Parent, turns.Turns)...)
	s := v.shell("sessions", ses.Title)
	s.Here = sessionHref(id) + "/terminal"
	s.Back = &ui.Crumb{Label: "Sessions", Href: "/panel/sessions"}
	return v.show(terminalPage(s, out))
}

func openInput(v *visit) (terminal.OpenIn, error) {
	form := v.r.PostFormValue
	return terminal.OpenIn{Agent: form("agent"), Name: form("name"), Model: form("agent-model"), Effort: form("effort"), Cwd: form("cwd")}, nil
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
