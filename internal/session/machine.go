package session

import (
	"fmt"
	"time"

	"tandem/internal/provider"
	"tandem/internal/tool"
)

// A turn is a machine: what happens goes in, rows come out. Nothing in the files machine*.go reads or writes anything else; rows.go
// writes the rows and tells of each.

// Awaited is what a turn or a call waits for, while it does. Its field Ask names the one.
type Awaited string

// What can be waited for.
const (
	AwaitsApproval Awaited = "approval" // that people were asked for
	AwaitsAnswer   Awaited = "question" // that the agent asked
	AwaitsTask     Awaited = "task"     // a turn of a child session
)

// stand is where a turn stands: its own row, and of its calls and of what was said as much as the happening looks at.
type stand struct {
	turn  *Turn
	calls []*Call
	said  []*Message
	now   time.Time
	mint  func(kind string) string // makes ids

	uncited string // why the answer does not stand on what was read
	more    bool   // it is asked once more

	rows []any // what the happening leaves, in the order in which it is told: *Turn, *Call, *Message, *Question, Retry, dropped, unasked
	over bool  // the turn came to its end by itself
}

// dropped is the turn of a child session for which nobody waits any more.
type dropped string

// unasked is a question whose call ended before anybody answered.
type unasked string

// happening is something that happens to a turn.
type happening interface{ to(s *stand) }

// apply lets it happen. A turn that has ended is as it is.
func (s *stand) apply(h happening) error {
	if err := s.turn.open(); err != nil {
		return err
	}
	h.to(s)
	return nil
}

func (s *stand) leave(rows ...any) { s.rows = append(s.rows, rows...) }

// begun: its prompt becomes part of the conversation, and it runs.
type begun struct{}

func (begun) to(s *stand) {
	now := s.now
	s.turn.State, s.turn.StartedAt = Running, &now
	s.leave(&Message{ID: s.mint("msg"), Turn: s.turn.ID, Role: RoleUser, Blocks: s.turn.prompt})
}

// started: somebody took it who goes on with it.
type started struct{}

func (started) to(s *stand) {
	if s.turn.StartedAt == nil {
		begun{}.to(s)
	}
	s.turn.State, s.turn.Reason = Running, ""
	s.turn.await("", "")
	s.leave(s.turn)
}

// parked: it is let go until what it awaits is there.
type parked struct {
	awaits Awaited
	ask    string
	reason string
}

func (p parked) to(s *stand) {
	s.turn.State, s.turn.Reason = Waiting, p.reason
	s.turn.await(p.awaits, p.ask)
	s.leave(s.turn)
}

// ended: nothing happens to it any more. Calls that did not run get a result that says so.
type ended struct {
	state  TurnState
	reason string
	cause  Cause
	calls  string // what is said of its open calls
}

func (e ended) to(s *stand) {
	now := s.now
	s.turn.State, s.turn.Reason, s.turn.Cause, s.turn.EndedAt = e.state, e.reason, e.cause, &now
	s.turn.await("", "")
	s.closeCalls(e.calls)
	s.leave(s.turn)
}

// cancelled: what waits ends, and what runs is told to stop.
type cancelled struct{}

func (cancelled) to(s *stand) {
	s.turn.Cancel = true
	if s.turn.State != Running {
		ended{Cancelled, "cancelled", "", "the turn was cancelled"}.to(s)
	}
}

// spent: a model call cost something.
type spent struct {
	usage provider.Usage
	cost  provider.Nano
}

func (e spent) to(s *stand) {
	s.turn.Attempts++
	s.turn.Usage = s.turn.Usage.Add(e.usage)
	s.turn.Cost += e.cost
}

// retried: a model call failed and is tried again.
type retried struct{ Retry }

func (e retried) to(s *stand) { s.leave(e.Retry) }

// replied: the model spoke. The turn is over when it wants nothing more.
type replied struct {
	msg   string
	reply provider.Reply
	model string
	cost  provider.Nano
}

func (e replied) to(s *stand) {
	spent{e.reply.Usage, e.cost}.to(s)
	s.turn.Steps++
	s.leave(&Message{ID: e.msg, Turn: s.turn.ID, Role: RoleAssistant, Blocks: e.reply.Blocks, Model: e.model})
	for _, c := range e.reply.Calls() {
		s.leave(s.propose(c.ID, c.Name, c.Args))
	}
	switch {
	case len(e.reply.Calls()) > 0 || s.turn.Cancel:
	case s.uncited != "" && s.more:
		s.leave(&Message{ID: s.mint("msg"), Turn: s.turn.ID, Role: RoleUser,
			Blocks: []provider.Block{{Kind: provider.Text, Text: fmt.Sprintf(again, s.uncited)}}})
	case s.uncited != "":
		s.finish(Failed, failedUncited+s.uncited, "")
	default:
		s.finish(Done, stopReason(e.reply.Stop), "")
	}
}

// finished: its driver says that it is over, and how.
type finished struct {
	state  TurnState
	reason string
	cause  Cause
}

func (e finished) to(s *stand) {
	if e.state == Done && s.uncited != "" {
		e = finished{Failed, failedUncited + s.uncited, ""}
	}
	s.finish(e.state, e.reason, e.cause)
}

// finish ends the turn by its own doing, which others are told of.
func (s *stand) finish(state TurnState, reason string, cause Cause) {
	s.over = true
	ended{state, reason, cause, "the turn ended before this call ran"}.to(s)
}

// said: an agent program spoke. Only the program itself tells when a turn is over.
type said struct {
	msg, text, model string
	usage            provider.Usage
}

func (e said) to(s *stand) {
	spent{e.usage, 0}.to(s)
	s.turn.Steps++
	s.leave(&Message{ID: e.msg, Turn: s.turn.ID, Role: RoleAssistant, Model: e.model,
		Blocks: []provider.Block{{Kind: provider.Text, Text: e.text}}})
}

// questioned: a call asks people something, and the turn waits for their answer.
type questioned struct {
	call      *Call
	questions []tool.Question
}

func (e questioned) to(s *stand) {
	q := &Question{ID: s.mint("que"), Session: s.turn.Session, Turn: s.turn.ID, Call: e.call.ID, Questions: e.questions,
		State: QuestionPending, CreatedAt: s.now}
	e.call.State = CallAsking
	e.call.await(AwaitsAnswer, q.ID)
	s.leave(q, e.call)
	parked{AwaitsAnswer, q.ID, "the agent asks: " + e.questions[0].Question}.to(s)
}

// delegated: a child session does what a call wants, and the turn waits for it.
type delegated struct {
	call  *Call
	child string // its turn
}

func (e delegated) to(s *stand) {
	e.call.State = CallRunning
	e.call.await(AwaitsTask, e.child)
	s.leave(e.call)
	parked{AwaitsTask, e.child, "a child session does " + e.call.Title}.to(s)
}

// stopReason says why a reply ended before the model was done, if it did.
func stopReason(s provider.Stop) string {
	switch s {
	case provider.StopLength:
		return "the reply reached its limit of tokens"
	case provider.StopRefusal:
		return "the model refused"
	case provider.StopPause:
		return "the provider paused before the reply was whole: prompt again to let it go on"
	}
	return ""
}

func (t *Turn) await(what Awaited, ask string) { t.Awaits, t.Ask = what, ask }
func (c *Call) await(what Awaited, ask string) { c.Awaits, c.Ask = what, ask }
