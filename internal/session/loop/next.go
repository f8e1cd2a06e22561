package loop

import (
	"fmt"

	"tandem/internal/fault"
	"tandem/internal/provider"
	"tandem/internal/session"
)

// What a turn wants next, read off its rows and nothing else.

// want is the next thing to do for a turn.
type want int

const (
	toRest   want = iota // it has ended
	toStop               // it was cancelled
	toCall               // its first open call is next
	toLook               // no call is open: what was said decides
	toGather             // the model has not seen what its calls brought
	toEnd                // the model wants nothing more
	toAsk                // the model's word is next
)

// Guards against a model that does not come to an end.
const (
	maxSteps  = 100
	maxRepeat = 3
)

// going says that calls of a turn may run.
func going(t *session.Turn) bool { return !t.State.Ended() && !t.Cancel }

// next is what a turn wants whose first open call is this; nil where all have ended.
func next(t *session.Turn, open *session.Call) want {
	switch {
	case t.State.Ended():
		return toRest
	case t.Cancel:
		return toStop
	case open != nil:
		return toCall
	}
	return toLook
}

// after is what a turn wants whose calls have all ended, by what was said last, and what it did lately.
func after(t *session.Turn, last *session.Message, lately []*session.Call) (want, error) {
	switch {
	case last == nil:
		return toRest, fmt.Errorf("turn %s has no prompt", t.ID)
	case last.Role == session.RoleAssistant && wants(last):
		return toGather, nil
	case last.Role == session.RoleAssistant:
		return toEnd, nil
	}
	return toAsk, guard(t, lately)
}

func wants(m *session.Message) bool {
	for _, b := range m.Blocks {
		if b.Kind == provider.CallKind {
			return true
		}
	}
	return false
}

// guard stops a turn that goes round in circles.
func guard(t *session.Turn, calls []*session.Call) error {
	if t.Steps >= maxSteps {
		return fault.New(fault.Exhausted, "session.loop", "the turn made %d model calls without coming to an end", t.Steps).
			WithNext("prompt again to let it go on")
	}
	var made []session.Made
	for _, c := range calls {
		outcome := c.ID // one without a result is like no other
		if c.Result != nil {
			outcome = "\x00" + c.Result.Text
		}
		made = append(made, session.MadeOf(c.Tool, string(c.Args), outcome))
	}
	if c := session.CircleIn(made, maxRepeat); c != nil {
		return session.Circled{Circle: c}
	}
	return nil
}
