package panel

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"tandem/internal/approval"
	"tandem/internal/panel/ui"
	"tandem/internal/session"
	"tandem/internal/session/terminal"
	"tandem/internal/session/wire"
	"tandem/internal/told"
	"tandem/internal/unified"
)

// SessionView is a session whole: what was said and done in it, and what it
// waits for.
type SessionView struct {
	SessionRow
	Now      time.Time
	Mode     string
	Archived bool
	Follow   string // the address of its own stream
	Entries  []ChatEntry
	Program  *ProgramView // its program in a terminal, when it has one
	Open     int          // turns that have not ended
	Asks     []AskRow
	Ask      *AskView // the first of them, to be answered here
	Asked    []QuestionView
	Aside    []*wire.Aside // what was taken out of its folder
	Todos    []TodoRow
	Facts    []ui.Pair
	Reason   string // why the newest turn failed or waits
	May      bool   // the viewer may prompt it
	Problem  string
}

// ChatEntry is one thing in a conversation: a text, a thought or a call.
type ChatEntry struct {
	Who  string // you, agent
	Name string // of who spoke
	Kind string // text, reasoning, image, file, call
	Text string
	File string // the name of a file beside the prompt
	Call *CallCard
	At   time.Time
}

// CallCard is a call of a tool with what came of it.
type CallCard struct {
	Tool   string
	Title  string
	State  string // proposed, asking, running, done, failed
	Args   string
	Diffs  []FileDiff
	Result string
	Bad    bool
	Ask    string
	Below  bool // the ask for it is shown whole further down
}

// FileDiff is what a call changed, or would change, in a file.
type FileDiff struct {
	Path  string
	Lines []unified.Line
}

// QuestionView is something an agent wants to know.
type QuestionView struct {
	ID    string
	Parts []QuestionPart
}

// QuestionPart is one question with the answers that are offered.
type QuestionPart struct {
	Header, Text string
	Options      []OptionView
}

// OptionView is an offered answer.
type OptionView struct{ Label, About string }

// TodoRow is an entry of the agent's own list.
type TodoRow struct{ Text, State string }

// session shows one session, with why the last attempt at something was refused.
func (v *visit) session(id, problem string) error {
	ses, err := ask(v, session.SessionGet, session.IDIn{ID: id})
	if err != nil {
		return err
	}
	said, err := ask(v, session.SessionMessages, session.IDIn{ID: id})
	if err != nil {
		return err
	}
	turns, err := ask(v, session.SessionTurns, session.TurnIn{ID: id})
	if err != nil {
		return err
	}
	out := SessionView{SessionRow: sessionRow(ses, "idle"), Now: v.now(), Mode: string(ses.Mode), Archived: ses.Archived,
		May: v.has(string(session.SessionPrompt)) && !ses.Archived, Problem: problem}
	if v.has(string(session.SessionFollow)) {
		out.Follow = fmt.Sprintf("/sessions/%s/stream?from=%d", pathEscape(id), ses.Events)
	}
	if len(turns.Turns) > 0 {
		newest := turns.Turns[0]
		out.State = string(newest.State)
		if newest.State == session.Failed || newest.State == session.Waiting || newest.State == session.Cancelled {
			out.Reason = newest.Reason
		}
	}
	calls, err := v.sessionCalls(id, turns)
	if err != nil {
		return err
	}
	who := map[string]string{}
	for _, t := range turns.Turns {
		who[t.ID] = told.By(t.Asker)
		if t.EndedAt == nil {
			out.Open++
		}
	}
	out.Entries = entriesOf(said.Messages, calls, who)
	if out.Asks, err = v.asksOf(turns, calls); err != nil {
		return err
	}
	if out.Ask, err = v.firstAsk(out.Asks, sessionHref(id)); err != nil {
		return err
	}
	if out.Ask != nil {
		shownBelow(out.Entries, out.Ask.ID)
	}
	if out.Asked, err = v.questionsOf(id); err != nil {
		return err
	}
	out.Aside = ses.Aside
	for _, t := range ses.Todos {
		out.Todos = append(out.Todos, TodoRow{t.Content, t.Status})
	}
	out.Facts = sessionFacts(ses, cmp.Or(v.title("session:/"+ses.Parent), ses.Parent), turns.Turns)
	if ses.Driver == terminal.DriverName {
		seat, err := v.program(id)
		if err != nil {
			return err
		}
		if seat != nil {
			out.Program, out.Facts = programView(seat), append(programFacts(seat), out.Facts...)
			out.May = out.May && seat.Relay == "" && seat.ClosedAt.IsZero()
		}
	}
	s := v.shell("sessions", ses.Title)
	s.Here = sessionHref(id)
	s.Back, s.Keys = &ui.Crumb{Label: "Sessions", Href: "/panel/sessions"},
		[]ui.KeyHelp{{Keys: "i", Does: "Write to the agent"}, {Keys: "Ctrl Enter", Does: "Send"}}
	return v.show(sessionPage(s, out))
}

// turnsRead is how many turns' calls a page looks at, newest first.
const turnsRead = 40

// sessionCalls are the calls of a session's turns by the model's own name for
// them. The newest turn's came with the list.
func (v *visit) sessionCalls(id string, turns session.TurnsOut) (map[string]*session.Call, error) {
	out := map[string]*session.Call{}
	for _, c := range turns.Calls {
		out[c.Ref] = c
	}
	for i, t := range turns.Turns[:min(len(turns.Turns), turnsRead)] {
		if i == 0 || t.Calls == 0 {
			continue
		}
		one, err := ask(v, session.SessionTurns, session.TurnIn{ID: id, Turn: t.ID})
		if err != nil {
			return nil, err
		}
		for _, c := range one.Calls {
			out[c.Ref] = c
		}
	}
	return out, nil
}

// asksOf are the pending asks that the session's open turns wait for.
func (v *visit) asksOf(turns session.TurnsOut, calls map[string]*session.Call) ([]AskRow, error) {
	seen := map[string]bool{}
	for _, t := range turns.Turns {
		if t.EndedAt == nil && t.Ask != "" {
			seen[t.Ask] = true
		}
	}
	for _, c := range calls {
		if c.State == session.CallAsking && c.Ask != "" {
			seen[c.Ask] = true
		}
	}
	if len(seen) == 0 || !v.has(string(approval.AskList)) {
		return nil, nil
	}
	pending, err := v.asks(string(approval.Pending))
	var out []AskRow
	for _, a := range pending {
		if seen[a.ID] {
			out = append(out, askRow(a))
		}
	}
	return out, err
}

// firstAsk is everything about the ask that is to be answered next, from the page back.
func (v *visit) firstAsk(asks []AskRow, back string) (*AskView, error) {
	if len(asks) == 0 || !v.has(string(approval.AskGet)) {
		return nil, nil
	}
	a, err := ask(v, approval.AskGet, approval.IDIn{ID: asks[0].ID})
	if err != nil {
		return nil, err
	}
	whole, err := v.whole(a, 1)
	whole.Back = back
	return &whole, err
}

func (v *visit) questionsOf(id string) ([]QuestionView, error) {
	if !v.has(string(session.QuestionList)) {
		return nil, nil
	}
	list, err := ask(v, session.QuestionList, session.Nothing{})
	var out []QuestionView
	for _, q := range list.Questions {
		if q.Session != id {
			continue
		}
		one := QuestionView{ID: q.ID}
		for _, p := range q.Questions {
			part := QuestionPart{Header: p.Header, Text: p.Question}
			for _, o := range p.Options {
				part.Options = append(part.Options, OptionView{o.Label, o.Description})
			}
			one.Parts = append(one.Parts, part)
		}
		out = append(out, one)
	}
	return out, err
}

// sessionFacts are what the page's margin says of a session; from is the one that it came from, as people know it.
func sessionFacts(s *session.Session, from string, turns []*session.Turn) []ui.Pair {
	var in, out, cost int64
	for _, t := range turns {
		in, out, cost = in+t.Usage.Input, out+t.Usage.Output, cost+int64(t.Cost)
	}
	facts := []ui.Pair{
		{Key: "Model", Value: s.Model, Mono: true}, {Key: "Driver", Value: driverName(s.Driver, s.Model)}, {Key: "Mode", Value: string(s.Mode)},
		{Key: "Folder", Value: s.Directory, Mono: true},
		{Key: "Opened by", Value: told.By(s.Owner)}, {Key: "Opened", Value: ui.Stamp(s.CreatedAt)},
		{Key: "Turns", Value: strconv.Itoa(len(turns))},
		{Key: "Tokens", Value: fmt.Sprintf("%d in, %d out", in, out)},
	}
	if word := confinedWord(s.Confined); word != "" {
		facts = append(facts, ui.Pair{Key: "Commands", Value: word})
	}
	if s.Boundary != "" {
		facts = append(facts, ui.Pair{Key: "Open to them", Value: s.Boundary})
	}
	if cost > 0 {
		facts = append(facts, ui.Pair{Key: "Cost", Value: fmt.Sprintf("%.4f USD", float64(cost)/1e9)})
	}
	if from != "" {
		facts = append(facts, ui.Pair{Key: "Came from", Value: from})
	}
	return append(facts, ui.Pair{Key: "Session", Value: s.ID, Mono: true, Copy: true})
}

// confinedWord says what confines a session's commands; "" where nothing is known.
func confinedWord(kind string) string {
	switch kind {
	case "bwrap":
		return "run in bubblewrap"
	case "seatbelt":
		return "run under Seatbelt"
	case "landlock":
		return "run under Landlock"
	case "unconfined":
		return "run without a sandbox, as a person allowed"
	case "none":
		return "do not run: there is no sandbox"
	}
	return ""
}
