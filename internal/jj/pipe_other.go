//go:build !unix

package jj

func isBrokenPipe(error) bool { return false }
