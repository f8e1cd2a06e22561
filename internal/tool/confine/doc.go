// Package confine runs a program under Landlock and seccomp, where nothing is installed that could do better. It owns one way of
// starting: this program starts itself again with a plan, binds itself to the plan, and becomes the wanted program.
//
// Landlock keeps files: what the plan does not name can be neither read nor written nor listed, and signals and abstract sockets
// stay inside. Seccomp keeps what Landlock does not know: sockets, asynchronous rings (which make sockets too), tracing, keyrings,
// namespaces, shared memory, leaving the process group.
//
// It fails closed: when any step fails, the program is not started. It refuses kernels whose Landlock does not know truncation
// (before 6.2), and machines whose system calls it has no table for.
package confine
