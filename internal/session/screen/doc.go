// Package screen reads the state of an agent program off its terminal: text and title in, state out. It is pure, and
// the last witness that a session asks: hooks, sockets and state files know better, but a screen is always there.
//
// States: Unknown, Ready (with how the last turn ended, and a draft in the input box), Working, Retrying, and the ones
// in which the program waits for a person: Permission, Question, Plan, Dialog, and the notices before the first
// prompt, Trust, Bypass, Key and SignIn.
//
// What the agent printed is not trusted: a menu counts only at the bottom of the screen, and never while the input box
// is visible. When nothing is recognised the answer is Unknown, never Ready. Each program has its own file; testdata
// holds screens of the real programs, one folder per version and state (testdata/capture makes them).
package screen
