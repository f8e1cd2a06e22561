//go:build !linux

package main

func highWater(int) int64 { return 0 }

func residentNow(int) int64 { return 0 }

func switches(int) int64 { return 0 }

// memory is not measured where the system does not tell.
func (b *jjBench) memory(what, repo string, args ...string) error { return nil }
