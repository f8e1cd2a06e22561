package daemon

import "tandem/internal/session"

// watched makes the gate, the sessions and the HTTP door tell what ends.
func (d *Daemon) watched() {
	d.gate.Seen = d.health.Seen
	d.rooms.session.TurnEnded = func(e session.Ended) {
		d.health.Turned(e)
		d.rooms.automation.TurnEnded(e.Turn)
	}
	d.web.Failed = d.health.Answered
}
