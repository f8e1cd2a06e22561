// Package board is a space's task board: who does what, in which order, and
// until when.
//
// It owns tasks' structure: status, priority, creator, holder, dependencies,
// lease, version. A task is open, blocked (a dependency is not done, or its
// holder says so), claimed, in progress, done or cancelled. Its creator, its
// holder or a person may edit, cancel and reopen it; every member may comment
// on it. What waited for a cancelled task goes on waiting. Otherwise only the holder changes a
// held task; its creator or a person may take it back from a holder that is
// gone; a claim is a lease and returns by itself when nobody renews it.
//
// It refuses claims of blocked, held and missing tasks, dependencies that do
// not exist or would form a circle, and changes based on an old version. It
// never sees a title, a text or a result: those are sealed by members and only
// pass through here.
//
// The rules are pure: a board is what its accepted events made it, and playing
// the events again gives the same board.
package board
