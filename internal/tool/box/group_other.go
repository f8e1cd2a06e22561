//go:build !unix

package box

import "os/exec"

// group and endGroup do nothing here: there is no shell of ours to start.
func group(*exec.Cmd)    {}
func endGroup(*exec.Cmd) {}
