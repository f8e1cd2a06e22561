//go:build !unix

package workcopy

// noExecBits says that files have no executable bit to respect.
const noExecBits = true
