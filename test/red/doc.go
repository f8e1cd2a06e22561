// Package red is the red cell: it is given a session in each box of each kind, as root and as another user, and tries to get out of it,
// by ways with different causes, in chapters: read, write, decide, mint, spy, persist, exhaust.
//
// A way is one function in ways_linux_test.go. It names a line for the session's shell, and the sign by which it is seen to have worked: a
// word that is not in the line itself, or something that is looked for outside. Every way is also tried by the same
// user in the same folder without a box, where it must work: a way that cannot work shows nothing.
//
// The table of what held stands in docs/THREATS.md and is written by `make soak ROOM=./test/red` with TANDEM_UPDATE=1. In make test a
// sample runs, whose seed is printed, and must be as the table says: a way that holds no longer, or holds now, fails.
package red
