package panel

import (
	"time"

	"tandem/internal/approval"
	"tandem/internal/fault"
	"tandem/internal/inbox/wire"
	"tandem/internal/panel/ui"
	"tandem/internal/session/terminal"
)

// InboxRow is one thing that needs a person, with its answer or the way there.
type InboxRow struct {
	ID       string
	Kind     string
	Tone     ui.Tone
	Name     string
	What     string
	Since    time.Time
	Does     string // what the link does
	Href     string
	Several  []string      // asks alike with this one, itself first, that are answered at once
	Ask      *AskView      // the ask that is answered here; the others open when they are chosen
	Row      AskRow        // of that ask
	Question *QuestionView // a question is answered here
	Session  string
	Resume   bool // a program that can be started again
}

// waiting is the inbox, read once for a page.
func (v *visit) waiting() (wire.Out, error) {
	if v.inboxRead == nil {
		out, err := ask(v, wire.List, wire.In{})
		if err != nil {
			return out, err
		}
		v.inboxRead = &out
	}
	return *v.inboxRead, nil
}

// asksIn counts the asks among what waits.
func asksIn(w wire.Out) (n int) {
	for _, r := range w.Rows {
		if r.Kind == wire.Ask {
			n++
		}
	}
	return n
}

// inboxDoes is what a person does about a row.
var inboxDoes = map[wire.Kind]string{wire.Ask: "Look and answer", wire.Question: "The conversation", wire.Dialog: "The terminal",
	wire.Crashed: "The terminal", wire.Limited: "The terminal",
	wire.Parked: "Go on", wire.Push: "See why", wire.Connector: "Look and accept", wire.Aside: "Keep or discard",
	wire.Mail: "Read", wire.Recovery: "Stop it", wire.Run: "See it", wire.Job: "See it", wire.Team: "See it",
	wire.Memory: "Look and decide", wire.Knowledge: "Look and decide", wire.Schedule: "See it", wire.Server: "See it",
	wire.Ended: "See it"}

// needs are the rows of the inbox. Of the asks, the one that was chosen, or else the first, is shown whole with its answers.
func (v *visit) needs() ([]InboxRow, error) {
	waits, err := v.waiting()
	if err != nil {
		return nil, err
	}
	alike, chosen := map[string][]string{}, ""
	for _, r := range waits.Rows {
		if r.Kind == wire.Ask && len(alike[r.Alike]) < maxSeveral {
			alike[r.Alike] = append(alike[r.Alike], r.ID)
		}
		if r.Kind == wire.Ask && (chosen == "" || r.ID == v.query("ask")) {
			chosen = r.ID
		}
	}
	var out []InboxRow
	for _, r := range waits.Rows {
		var err error
		row := InboxRow{ID: r.ID, Kind: string(r.Kind), Tone: inboxTone(r.Kind), Name: r.Name, What: r.What, Since: r.Since,
			Does: inboxDoes[r.Kind], Href: r.Page, Session: r.Session}
		switch r.Kind {
		case wire.Ask:
			row.Href = "/panel/?ask=" + pathEscape(r.ID) + "#need-" + pathEscape(r.ID)
			if ids := alike[r.Alike]; len(ids) > 1 && ids[0] == r.ID {
				row.Several = ids
			}
			if r.ID == chosen {
				err = v.answerHere(&row)
			}
		case wire.Question:
			err = v.questionHere(&row)
		case wire.Crashed:
			row.Resume = v.has(string(terminal.SessionOpen))
			row.Href += "/terminal"
		case wire.Dialog, wire.Limited:
			row.Href += "/terminal"
		}
		if fault.Is(err, fault.NotFound) { // it was answered between the list and the look
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, nil
}

// answerHere shows an ask whole, with its answers.
func (v *visit) answerHere(row *InboxRow) error {
	a, err := ask(v, approval.AskGet, approval.IDIn{ID: row.ID})
	if err != nil {
		return err
	}
	whole, err := v.whole(a, 1)
	whole.Back = "/panel/"
	row.Row, row.Ask = askRow(a), &whole
	return err
}

func (v *visit) questionHere(row *InboxRow) error {
	all, err := v.questionsOf(row.Session)
	for i := range all {
		if all[i].ID == row.ID {
			row.Question = &all[i]
		}
	}
	return err
}

func inboxTone(kind wire.Kind) ui.Tone {
	switch kind {
	case wire.Crashed, wire.Push, wire.Recovery, wire.Schedule, wire.Server:
		return ui.Bad
	case wire.Mail, wire.Ended:
		return ui.Quiet
	}
	return ui.Warn
}
