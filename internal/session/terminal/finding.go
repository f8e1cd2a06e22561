package terminal

import (
	"time"

	"tandem/internal/session/agents"
	"tandem/internal/session/screen"
)

// finding is what a program's signs mean together: its state, from what it was read, and what there is to say of it. One without a state
// says nothing, or whom to ask.
type finding struct {
	state          State
	signal, detail string
	ask            witness
}

// witness is who is asked where a program's own signs do not say everything.
type witness int

const (
	_       witness = iota
	working         // it is at work: only the screen tells that its provider fails, and only time that nothing moves
	byEye           // the screen alone
	resting         // it waits for a prompt; how its last turn ended says whether it may have one
)

// meaning is that a person is asked something, or whether something may happen.
func (w *wait) meaning(signal string) finding {
	if w.question {
		return finding{state: Asking, signal: signal, detail: w.detail}
	}
	return finding{state: Permission, signal: signal, detail: w.detail}
}

// claudeSigns are what Claude Code shows at one moment.
type claudeSigns struct {
	dialog  *wait              // that its hook told of; nil without one
	entry   *agents.Registered // its own in the registry; nil without one
	turn    bool               // a turn has its prompt
	ended   bool               // a hook told that the turn ended
	worked  bool               // it was seen at work since the prompt was taken
	started bool               // a hook told that it started
	age     time.Duration      // since it was started
}

// meaning is what they say together. Hooks are believed before the registry, and the registry before the screen.
func (c claudeSigns) meaning() finding {
	status := ""
	if c.entry != nil {
		status = c.entry.Status
	}
	idle := c.entry != nil && c.entry.Idle()
	switch {
	case c.dialog != nil:
		return c.dialog.meaning("hook PermissionRequest")
	case status == "waiting" && c.entry.WaitingFor == "permission prompt":
		return finding{state: Permission, signal: "registry", detail: c.entry.WaitingFor}
	case status == "waiting":
		return finding{state: Dialog, signal: "registry", detail: c.entry.WaitingFor}
	case status == "busy":
		return finding{signal: "registry", ask: working}
	case c.turn && !c.ended && !c.worked:
		return finding{state: Working, signal: "hook UserPromptSubmit"}
	case idle && c.started:
		return finding{signal: "registry", ask: resting}
	case idle && c.age > grace:
		return finding{state: Ready, signal: "registry",
			detail: "warning: this version's hooks are not heard, so its tools cannot be guarded; nothing is sent to it"}
	case !c.started, c.entry == nil && !c.turn:
		return finding{ask: byEye}
	}
	return finding{}
}

// seen is what a screen means for a program that tells nothing yet, or in a version that tells nothing any more.
func (c claudeSigns) seen(r screen.Reading, attach string) finding {
	switch {
	case r.State.Waiting():
		return onScreen(r, attach)
	case c.started && r.State == screen.Ready && c.age > grace:
		return finding{state: Ready, signal: "screen " + r.Signal,
			detail: "warning: this version has no registry; its state is read from the screen"}
	case c.started && r.State == screen.Working:
		return finding{state: Working, signal: "screen " + r.Signal}
	}
	return finding{}
}

// onScreen is what stands on a screen and a person has to answer.
func onScreen(r screen.Reading, attach string) finding {
	return finding{state: Dialog, signal: "screen " + r.Signal, detail: string(r.State) + ": a person has to answer it: " + attach}
}

// spokenSigns are what a program shows that is spoken to through a server of its own.
type spokenSigns struct {
	dialog       *wait
	link, linked bool          // its server answers; it did since the launch
	known        bool          // its conversation has a name
	joined       bool          // the terminal's program is attached to its server
	retry        *agents.Event // the provider failed, and is tried again
	still        time.Duration // nothing moved for so long; zero while something does
	busy         bool
	turn, over   bool   // a turn has its prompt; it was told to be over
	signal       string // what its server is called
}

func (p spokenSigns) meaning() finding {
	switch {
	case p.dialog != nil:
		return p.dialog.meaning(p.signal + " request")
	case !p.link && p.linked:
		return finding{state: Working, signal: "none", detail: "its server does not answer; it is looked for again"}
	case !p.link || (!p.known || !p.joined) && !p.turn:
		return finding{ask: byEye}
	case p.retry != nil && "error: "+p.retry.Failure == LimitedOutcome:
		return finding{state: RateLimited, signal: p.signal, detail: p.retry.Text}
	case p.retry != nil:
		return finding{state: Retrying, signal: p.signal, detail: p.retry.Text}
	case p.still > 0:
		return finding{state: Hung, signal: p.signal, detail: "nothing moved for " + p.still.String()}
	case p.busy || p.turn && !p.over:
		return finding{state: Working, signal: p.signal}
	}
	return finding{signal: p.signal, ask: resting}
}

// finds sets the state that a finding says, if it says one.
func (s *seat) finds(v finding) {
	if v.state != "" {
		s.set(v.state, v.signal, v.detail)
	}
}
