// Package run is what becomes of an automation that was begun: a pure machine. Events go in, a state comes out, and the state says what is
// to be started, waited for or asked. It starts nothing, stores nothing and reads no clock: whoever does keeps the events as rows, one
// for each thing that happened to a step, and folds them to go on after a crash.
//
// A step is a node, an item of a map and an attempt. It is waiting, ready, running, held (a wait or a gate), done, failed, unknown or
// skipped. What holds of every order of events:
//   - Of a node and item at most one attempt is alive.
//   - A step whose effect outside may or may not have happened is unknown, and stays so until a person says what is to be done.
//   - What cannot come any more is skipped, with the reason, so that a run always ends.
//   - A repair changes what a node is told, and nothing of what it may use: a run that failed goes on from the node that failed.
//   - An event that does not fit is refused and changes nothing; one that repeats what is known already changes nothing either.
package run
