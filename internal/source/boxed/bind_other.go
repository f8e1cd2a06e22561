//go:build !unix

package boxed

import "runtime/debug"

// bind collects early; where there is no box nothing is read at all.
func bind() error {
	debug.SetMemoryLimit(maxMemory * 3 / 4)
	return nil
}
