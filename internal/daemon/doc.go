// Package daemon is the root of the running program: it reads the
// configuration, owns the data folder, and is the only place that constructs
// rooms and wires them to the gate and the doors.
//
// There is one daemon per user and data folder (a lock file says so). It is
// started by hand (serve, up) or on demand by a command that needs it, on its
// socket alone, and then ends when it has been idle for a while.
package daemon
