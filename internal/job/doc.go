// Package job is code work from a task to a merged change. A job has a checkout of its own, a session that works in it, a check and
// evidence of what that said. It is a row: events move it from state to state (machine.go, pure), and the row alone says what is next, so
// that a server that was killed goes on with it.
//
//	planned ──► working ──► checking ──► in review ──► merged
//	               ▲           │             │
//	               └─ sent back ◄────────────┘      stopped: from anywhere but merged, and back by resume
//
// A job in review may also be queued: it is merged when its turn comes (queue.go).
//
// What a job does to sessions it does through the gate, as whoever started it. A check runs on a clean checkout of the exact
// commit, in a box with no network, no secret and no socket; what it said is evidence, and nobody's word stands in for it. Merging needs a
// person present, and is bound to the commit that the person saw. While a job waits for a person, nothing is called.
package job
