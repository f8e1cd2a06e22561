package terminal

import "time"

// firstLook is how long after a start an open dialog has to be heard of: its hook tries every 300 ms, and a program with a server of
// its own tells what is open as soon as it is reached.
const firstLook = 2 * time.Second

// sighted says that the session was looked at since the start, so that nothing can wait in it of which nobody heard.
func (s *seat) sighted() bool {
	age := time.Since(s.born)
	return s.view().State.Gone() || age > grace || age > firstLook && s.prog.caughtUp()
}

// caughtUp says that the dialog that the program's registry shows, if it shows one, was told by its hook.
func (s *claude) caughtUp() bool {
	return !s.hasReg || s.reg.Status != "waiting" || s.reg.WaitingFor != "permission prompt" || len(s.openWaits()) > 0
}

// caughtUp says that the program was reached, and had the time to tell what is open.
func (s *spoken) caughtUp() bool { return s.link != nil && time.Since(s.tried) > firstLook/2 }

// looking counts the sessions that were not looked at since the start.
func (d *Driver) looking() (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.seats {
		if !s.met.Load() {
			n++
		}
	}
	return n
}
