// Package occasion knows of what people are told, and in which words: for each thing that a room tells it makes the notice, with what to do
// next and the page where it is seen. It decides on no way and sends nothing, which is notify's.
//
// What rooms tell within a transaction is put there, so that after a crash both are there or neither is.
package occasion

import (
	"fmt"
	"strings"

	"tandem/internal/approval"
	"tandem/internal/db"
	"tandem/internal/inbox"
	"tandem/internal/notify"
	"tandem/internal/provider"
	"tandem/internal/session"
	"tandem/internal/session/terminal"
)

// Teller turns what rooms tell into notices.
type Teller struct {
	notify  *notify.Notifier
	session *session.Room
	moved   func()
}

// New is a teller; moved says that something is to be shown anew of which the journal has no event.
func New(n *notify.Notifier, s *session.Room, moved func()) *Teller {
	return &Teller{notify: n, session: s, moved: moved}
}

// Asked tells people that a call waits for them, with the name by which they know who asks.
func (tell *Teller) Asked(tx *db.Tx, a *approval.Ask) error {
	name, public := a.Who(), ""
	if called := tell.session.CalledIn(tx, a.Tenant, a.Session); called != "" {
		name, public = called, tell.session.NamedIn(tx, a.Tenant, a.Session)
	}
	return tell.notify.Put(tx, a.Tenant, notify.Notice{Event: notify.Event{TS: tx.Now(), Type: "ask", Status: "waits", ID: name,
		Summary: summary(a.Title), Reason: a.Reason}, Name: public,
		Says: "needs an approval", Push: notify.Answer, Next: "tandem approvals approve " + a.ID, Page: "/panel/approvals/" + a.ID})
}

// Questioned tells people that an agent asks them something.
func (tell *Teller) Questioned(tx *db.Tx, s *session.Session, q *session.Question) error {
	var texts []string
	for _, one := range q.Questions {
		texts = append(texts, one.Question)
	}
	tx.AfterCommit(tell.moved) // no event of the journal tells pages of it
	return tell.notify.Put(tx, s.Tenant, notify.Notice{Event: notify.Event{TS: tx.Now(), Type: "question", Status: "waits", ID: s.Title,
		Cursor: s.Events, Summary: summary(strings.Join(texts, " / "))}, Name: tell.session.NamedIn(tx, s.Tenant, s.ID),
		Says: "asks a question", Push: notify.Answer, Next: inbox.AnswerWith(q), Page: "/panel/sessions/" + s.ID})
}

// Retried tells people at the first refusal for the rate that a turn waits for its provider, and not only when it gave up.
func (tell *Teller) Retried(tx *db.Tx, s *session.Session, t *session.Turn, r session.Retry) error {
	if r.Attempt != 1 || r.Failure != string(provider.RateLimited) {
		return nil
	}
	return tell.notify.Put(tx, s.Tenant, notify.Notice{Event: notify.Event{TS: tx.Now(), Type: "session", Status: "rate-limited",
		ID: s.Title, Cursor: s.Events, Summary: summary(r.Reason), Reason: fmt.Sprintf("it is tried again in %.0f s", r.Seconds)},
		Name: tell.session.NamedIn(tx, s.Tenant, s.ID), Says: says[terminal.RateLimited], Push: notify.Normal,
		Next: fmt.Sprintf("tandem session follow %s", s.ID), Page: "/panel/sessions/" + s.ID})
}

// TurnFailed tells people that a turn of our own loop failed. Those in terminals are told with what they left, and a child's failure is
// an answer to its parent.
func (tell *Teller) TurnFailed(tx *db.Tx, s *session.Session, t *session.Turn) error {
	if s.Driver != session.DriverModel || s.Parent != "" {
		return nil
	}
	return tell.notify.Put(tx, s.Tenant, notify.Notice{Event: notify.Event{TS: tx.Now(), Type: "session", Status: "failed", ID: s.Title,
		Cursor: s.Events, Summary: summary(t.Reason), Reason: t.Reason}, Name: tell.session.NamedIn(tx, s.Tenant, s.ID),
		Says: "failed", Push: notify.Normal, Next: fmt.Sprintf("tandem session show %s", s.ID), Page: "/panel/sessions/" + s.ID})
}

// summary is the first line of what was said.
func summary(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if len(first) > 300 {
		first = strings.ToValidUTF8(first[:300], "") + "…"
	}
	return first
}
