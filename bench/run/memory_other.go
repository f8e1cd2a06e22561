//go:build !linux

package main

// memory is not measured where the system does not tell.
func (b *jjBench) memory(what, repo string, args ...string) error { return nil }
