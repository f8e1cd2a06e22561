package daemon

import sources "tandem/internal/source"

// makeSources gives the room of sources what it does not own.
func (d *Daemon) makeSources() {
	r := sources.New(d.db, d.Log)
	r.Rooms, r.Home, r.Hidden, r.Forgot = &d.inner, d.self.Home, []string{d.data}, d.forgotten
	r.Reads.Machine = d.rooms.session.Sandbox().Machine
	d.rooms.source = r
}
