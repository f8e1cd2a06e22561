package setup

import (
	"strings"

	"tandem/internal/server/wire"
)

// checkListen tells of an address that others may wait at, and where this server does not listen.
func checkListen(st *wire.Status) []Check {
	now := st.Listen
	if now == "" {
		now = "its socket only"
	}
	switch {
	case len(st.Closed) > 0:
		return []Check{{"listen", "note", "on " + now + ", and not on " + strings.Join(st.Closed, ", ") + " as before the crash: nobody " +
			"approved that it outlives its start", "open it: tandem up --replace --listen " + st.Closed[0] + "; then keep it: tandem settings keep"}}
	case st.Taken != nil:
		return []Check{{"listen", "note", "on " + now + ", because " + st.Taken.Holder() + " has " + st.Taken.Address,
			"to listen there, end that program, then: tandem up --replace --listen " + st.Taken.Address}}
	case len(st.Left) > 0:
		return []Check{{"listen", "note", "on " + now + ", and not on " + strings.Join(st.Left, ", ") + " as before it was stopped",
			"open it: tandem up --replace --listen " + st.Left[0]}}
	}
	return nil
}
