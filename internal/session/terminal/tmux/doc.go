// Package tmux speaks to a tmux server in control mode: one long-lived client
// per server, so that a command costs microseconds and not a process. It owns
// nothing but that client. Sessions are named exactly (=name) and only those
// whose name begins with the prefix it was given exist for it.
//
// Where no session is there to attach the client to, and for the first session
// of a server, a command runs as a process of its own.
package tmux
