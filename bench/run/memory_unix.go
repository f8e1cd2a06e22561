//go:build unix

package main

import (
	"fmt"
	"os/exec"
	"syscall"
)

// memory compares the highest resident size of one run of both programs.
func (b *jjBench) memory(what, repo string, args ...string) error {
	peak := func(bin string) (int64, error) {
		cmd := exec.Command(bin, args...)
		cmd.Dir, cmd.Env = repo, b.env
		if out, err := cmd.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("%s: %w\n%s", bin, err, out)
		}
		return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10, nil
	}
	ours, err := peak(b.ours)
	if err != nil {
		return err
	}
	stock, err := peak(b.stock)
	if err != nil {
		return err
	}
	b.s.figures = append(b.s.figures, figure{what: what, value: fmt.Sprintf("%d MiB", ours), compared: fmt.Sprintf("stock jj %d MiB", stock)})
	return nil
}
