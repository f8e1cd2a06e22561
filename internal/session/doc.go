// Package session owns agents at work: sessions, their turns, messages, tool calls, questions and events, and the folders
// that people granted to them.
//
// A session has a driver that makes it go (session/loop is the governed model loop). The room keeps the rows; a driver only
// moves them. Everything that happens is a row before it is told: a restart at any instant finds each turn where it was.
//
// # States of a turn
//
//	queued ──► running ──► done
//	              │  ▲ └──► failed
//	              ▼  │
//	           waiting        (for an approval or an answer)
//
// and from queued, running and waiting also to cancelled. One turn of a session runs at a time, in the order of asking.
//
// # States of a call
//
//	proposed ──► running ──► done
//	    │                └──► failed (also: denied, or an outcome that a crash hid)
//	    ▼
//	 asking ──► running
//
// A call that ended is never run again: its result is stored before the model sees it, and the gate holds its
// idempotency key.
//
// # Events
//
// Each session numbers its events from 1 without gaps. Text that streams in is not an event: it grows below the event that
// began its part, so a reader's place is "seq.offset". See docs/formats/session-events.md.
package session
