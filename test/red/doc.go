// Package red is the red cell: it tries to do what nobody may.
//
// A way is given a session in each box of each kind, as root and as another user, and tries to get out of it, in chapters: read, write,
// decide, mint, spy, persist, exhaust, nest, reach, git. It is one function in a file called ways. It names a line for the session's
// shell, and the sign by which it is seen to have worked: a word that is not in the line itself, or something that is looked for outside.
// Every way is also tried by the same user in the same folder without a box, where it must work: a way that cannot work shows nothing.
//
// A trial needs no shell: it hands something hostile to the house or to a part of it. It is one function in a file called trials, which
// does it twice: where the guard is opened on purpose, and as the house is.
//
// The tables of what held stand in docs/THREATS.md and are written by `make soak ROOM=./test/red` with TANDEM_UPDATE=1. In make test a
// sample of each runs, whose seed is printed, and must be as the table says: a way that holds no longer, or holds now, fails.
package red
